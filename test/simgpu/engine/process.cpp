#include "test/simgpu/engine/process.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include "test/simgpu/engine/api_scope.hpp"
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/memory_events.hpp"

namespace gprofml::simgpu {
namespace {

enum class State : std::uint8_t { fresh, initialising, initialised };

struct Initialisation {
  std::mutex mutex;
  std::condition_variable changed;
  State state = State::fresh;
  CUresult result = CUDA_SUCCESS;
  std::uint32_t thread = 0;
  std::int64_t end_ns = 0;
};

Initialisation& initialisation() {
  static auto* state = new Initialisation;
  return *state;
}

std::atomic<bool> g_initialised{false};
std::atomic<bool> g_forked{false};

void log_device(const Device& device) {
  std::string uuid;
  for (const std::uint8_t byte : device.model.uuid) {
    uuid += fmt::format("{:02x}", byte);
  }
  log_line(fmt::format(
      R"({{"type":"device","device":{},"name":{},"uuid":"{}","memory_bytes":{},"multiprocessors":{}}})",
      device.ordinal, json_string(device.model.name.c_str()), uuid, device.model.memory_bytes,
      device.model.multiprocessors));
}

void make_devices() {
  const EngineLock lock;
  std::uint32_t ordinal = 0;
  for (DeviceModel& found : visible_devices(model(), std::getenv("CUDA_VISIBLE_DEVICES"))) {
    Device& device = process_devices().emplace_back();
    device.ordinal = ordinal++;
    device.model = std::move(found);
    device.default_pool.device = device.ordinal;
    name_pools_of(device);
    device.pool = &device.default_pool;
    device.graph_pool.device = device.ordinal;
    device.graph_pool.release_threshold = ~std::uint64_t{0};  // kept until it is trimmed
    register_handle(HandleKind::pool, &device.default_pool);
    log_device(device);
  }
}

/// What the driver does with CUDA_INJECTION64_PATH. The program runs on whatever happens.
void load_injection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') {
    return;
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "simgpu: cannot load the injection library: %s\n", dlerror());
    return;
  }
  using Entry = int (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"));
  if (entry == nullptr) {
    std::fprintf(stderr, "simgpu: %s has no InitializeInjection\n", path);
  } else if (entry() != 1) {
    std::fprintf(stderr, "simgpu: InitializeInjection of %s failed\n", path);
  }
}

void in_forked_child() {
  log_forget();
  if (g_initialised) {
    g_forked = true;
  }
}

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, in_forked_child);
}

void log_stream(const Stream& stream, const char* what) {
  static constexpr const char* kFlags[] = {"null", "blocking", "non_blocking", "per_thread"};
  const ApiScope* scope = current_scope();
  log_line(fmt::format(
      R"({{"type":"stream","what":"{}","stream":{},"context":{},"flag":"{}","priority":{},"thread":{},"correlation":{}}})",
      what, stream.id, stream.context->id, kFlags[static_cast<int>(stream.flag)], stream.priority,
      this_thread().ordinal, scope != nullptr ? scope->call().correlation : 0));
}

}  // namespace

CUresult initialise() {
  Initialisation& init = initialisation();
  {
    std::unique_lock lock(init.mutex);
    if (init.state == State::initialising && init.thread == this_thread().tid) {
      return CUDA_SUCCESS;  // a call of the injection library
    }
    init.changed.wait(lock, [&init] { return init.state != State::initialising; });
    if (init.state == State::initialised) {
      return init.result;
    }
    init.state = State::initialising;
    init.thread = this_thread().tid;
  }
  make_devices();
  advance(model().initialise_ns);
  g_initialised = true;
  load_injection();
  const std::lock_guard lock(init.mutex);
  init.state = State::initialised;
  init.result = process_devices().empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
  init.changed.notify_all();
  return init.result;
}

bool is_initialised() {
  return g_initialised;
}

bool process_is_forked() {
  return g_forked;
}

std::deque<Device>& process_devices() {
  static auto* devices = new std::deque<Device>;
  return *devices;
}

std::vector<Context*>& live_contexts() {
  static auto* contexts = new std::vector<Context*>;
  return *contexts;
}

Context* current_context() {
  const ThreadState& thread = this_thread();
  return thread.contexts.empty() ? nullptr : thread.contexts.back();
}

const char* interned(const std::string& text) {
  static auto* texts = new std::unordered_set<std::string>;
  return texts->insert(text).first->c_str();
}

ContextInfo info_of(const Context& context) {
  return {context.id, reinterpret_cast<CUcontext>(const_cast<Context*>(&context)),
          context.device->ordinal, context.null_stream != nullptr ? context.null_stream->id : 0};
}

StreamInfo info_of(const Stream& stream) {
  StreamInfo info;
  info.context_id = stream.context->id;
  info.id = stream.id;
  info.handle = reinterpret_cast<CUstream>(const_cast<Stream*>(&stream));
  if (stream.flag == StreamInfo::Flag::null_stream) {
    info.handle = nullptr;
  }
  info.flag = stream.flag;
  info.priority = stream.priority;
  return info;
}

void tell_resource(ResourceEvent event, const Context* context, const Stream* stream) {
  const ApiScope* scope = current_scope();
  event.call = scope != nullptr ? &scope->call() : nullptr;
  const ContextInfo context_info = context != nullptr ? info_of(*context) : ContextInfo{};
  StreamInfo stream_info = stream != nullptr ? info_of(*stream) : StreamInfo{};
  stream_info.correlation = event.call != nullptr ? event.call->correlation : 0;
  tell([event, context_info, stream_info](Observer& observer) {
    ResourceEvent told = event;
    told.context = context_info.id != 0 ? &context_info : nullptr;
    told.stream = stream_info.id != 0 ? &stream_info : nullptr;
    observer.resource(told);
  });
}

Stream* make_stream(Context* context, StreamInfo::Flag flag, int priority) {
  auto* stream = new Stream;
  stream->id = flag == StreamInfo::Flag::null_stream ? context->id + 6 : next_id(IdKind::stream);
  stream->context = context;
  stream->flag = flag;
  stream->priority = priority;
  context->streams.push_back(stream);
  register_handle(HandleKind::stream, stream);
  log_stream(*stream, "created");
  return stream;
}

void destroy_stream(Stream* stream) {
  std::vector<Stream*>& streams = stream->context->streams;
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
  forget_handle(HandleKind::stream, stream);
  log_stream(*stream, "destroyed");
}

Context* make_context(Device& device, bool primary, unsigned flags) {
  static std::uint32_t own_contexts = 0;
  auto* context = new Context;
  context->id = primary ? device.ordinal + 1 : 1000 + ++own_contexts;
  context->device = &device;
  context->is_primary = primary;
  context->flags = flags;
  log_line(
      fmt::format(R"({{"type":"context","what":"created","context":{},"device":{},"primary":{}}})",
                  context->id, device.ordinal, primary));
  context->null_stream = make_stream(context, StreamInfo::Flag::null_stream, 0);
  live_contexts().push_back(context);
  register_handle(HandleKind::context, context);
  tell_resource({ResourceEvent::What::context_created}, context);
  tell_resource({ResourceEvent::What::stream_created}, context, context->null_stream);
  return context;
}

void destroy_context(Context* context) {
  tell_resource({ResourceEvent::What::context_destroy_starting}, context);
  for (Stream* stream : std::vector<Stream*>(context->streams)) {
    destroy_stream(stream);
  }
  std::vector<Context*>& contexts = live_contexts();
  contexts.erase(std::remove(contexts.begin(), contexts.end(), context), contexts.end());
  forget_handle(HandleKind::context, context);
  log_line(fmt::format(R"({{"type":"context","what":"destroyed","context":{}}})", context->id));
}

Stream* find_stream(Context* context, CUstream handle, bool per_thread_default) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    if (context == nullptr) {
      return nullptr;
    }
    if (handle == CU_STREAM_LEGACY || (handle == nullptr && !per_thread_default)) {
      return context->null_stream;
    }
    Stream*& stream = this_thread().default_streams[context];
    if (stream == nullptr || !is_live(HandleKind::stream, stream)) {
      stream = make_stream(context, StreamInfo::Flag::per_thread, 0);
      tell_resource({ResourceEvent::What::stream_created}, context, stream);
    }
    return stream;
  }
  return live<Stream>(handle);
}

Module* make_module(bool is_library) {
  static std::uint32_t count = 0;
  auto* made = new Module;
  made->id = ++count;
  made->is_library = is_library;
  register_handle(HandleKind::module, made);
  return made;
}

Function* make_function(Module* module, const char* name) {
  Function*& function = module->functions[name];
  if (function == nullptr) {
    function = new Function;
    function->name = interned(name);
    function->rule = &model().rule_of(name);
    function->module = module;
    register_handle(HandleKind::function, function);
  }
  return function;
}

}  // namespace gprofml::simgpu
