#include "test/simgpu/engine/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "test/simgpu/engine/api_scope.hpp"
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/contention.hpp"
#include "test/simgpu/engine/effects.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/launch_queue.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/migration.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {

std::string placement_json(const Placement& at) {
  return fmt::format(
      R"("start":{},"end":{},"device":{},"context":{},"stream":{},"correlation":{},"graph":{},"node":{},"thread":{}}})",
      at.start_ns, at.end_ns, at.device, at.context_id, at.stream_id, at.correlation, at.graph_id,
      at.graph_node_id, this_thread().ordinal);
}

namespace {

const char* name_of(Memory memory) {
  static constexpr const char* kNames[] = {"unknown", "pageable", "pinned",       "device",
                                           "array",   "managed",  "device_static"};
  return kNames[static_cast<int>(memory)];
}

const char* name_of(CopyKind kind) {
  static constexpr const char* kNames[] = {
      "host_to_device", "device_to_host", "device_to_device", "host_to_host",    "peer_to_peer",
      "host_to_array",  "array_to_host",  "array_to_array",   "array_to_device", "device_to_array"};
  return kNames[static_cast<int>(kind)];
}

void log_kernel(const Kernel& kernel) {
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"kernel","name":{},"grid":[{},{},{}],"block":[{},{},{}],"cluster":[{},{},{}],)"
        R"("registers":{},"static_shared":{},"dynamic_shared":{},"local":{},"submitted":{},{})",
        json_string(kernel.name), kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
        kernel.block[1], kernel.block[2], kernel.cluster[0], kernel.cluster[1], kernel.cluster[2],
        kernel.registers_per_thread, kernel.static_shared_bytes, kernel.dynamic_shared_bytes,
        kernel.local_bytes_per_thread, kernel.submitted_ns, placement_json(kernel.at)));
  }
}

void log_copy(const Copy& copy) {
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"copy","kind":"{}","source":"{}","target":"{}","async":{},"bytes":{},)"
        R"("source_device":{},"target_device":{},{})",
        name_of(copy.kind), name_of(copy.source), name_of(copy.target), copy.asynchronous,
        copy.bytes, copy.source_device, copy.target_device, placement_json(copy.at)));
  }
}

void log_fill(const Fill& fill) {
  if (log_wanted()) {
    log_line(fmt::format(R"({{"type":"fill","memory":"{}","async":{},"bytes":{},"value":{},{})",
                         name_of(fill.memory), fill.asynchronous, fill.bytes, fill.value,
                         placement_json(fill.at)));
  }
}

std::int64_t duration_of(const Operation& operation, Stream& stream) {
  switch (operation.kind) {
    case Operation::Kind::kernel: {
      const Kernel& kernel = operation.kernel;
      std::uint64_t blocks = 1;
      std::uint64_t threads = 1;
      for (int i = 0; i < 3; ++i) {
        blocks *= static_cast<std::uint64_t>(kernel.grid[i]);
        threads *= static_cast<std::uint64_t>(kernel.block[i]);
      }
      return kernel_duration_ns(model(), *operation.function->rule, kernel.name, blocks,
                                blocks * threads, stream.instances[kernel.name]++);
    }
    case Operation::Kind::host_function:
      return model().host_function_ns;
    default:
      return operation.duration_ns;
  }
}

void report(Operation& operation, const Placement& at, std::int64_t submitted_ns) {
  if (operation.kind == Operation::Kind::kernel) {
    Kernel told = operation.kernel;
    told.at = at;
    if (operation.function->module != nullptr) {
      told.module_id = operation.function->module->id;
    }
    told.submitted_ns = submitted_ns;
    log_kernel(told);
    tell([told](Observer& observer) { observer.submitted(told); });
  } else if (operation.kind == Operation::Kind::copy) {
    Copy told = operation.copy;
    told.at = at;
    log_copy(told);
    tell([told](Observer& observer) { observer.submitted(told); });
  } else if (operation.kind == Operation::Kind::fill) {
    Fill told = operation.fill;
    told.at = at;
    log_fill(told);
    tell([told](Observer& observer) { observer.submitted(told); });
  } else if (operation.kind == Operation::Kind::host_function && log_wanted()) {
    log_line(R"({"type":"host_function",)" + placement_json(at));
  }
}

}  // namespace

std::uint32_t correlation_now() {
  const ApiScope* scope = current_scope();
  return scope != nullptr ? scope->call().correlation : 0;
}

Ready ready(const Stream& stream) {
  const Context& context = *stream.context;
  Ready result{stream.end_ns, stream.pending};
  if (stream.flag == StreamInfo::Flag::null_stream) {
    result.time_ns = std::max(result.time_ns, context.blocking_end_ns);
    for (const Stream* other : context.streams) {
      if (other->flag != StreamInfo::Flag::non_blocking) {
        result.after = joined(result.after, other->pending);
      }
    }
  } else if (stream.flag != StreamInfo::Flag::non_blocking) {
    result.time_ns = std::max(result.time_ns, context.null_stream->end_ns);
    result.after = joined(result.after, context.null_stream->pending);
  }
  return result;
}

void occupy(Stream& stream, std::int64_t end_ns, const Pending& pending) {
  Context& context = *stream.context;
  stream.end_ns = std::max(stream.end_ns, end_ns);
  stream.pending = pending;
  if (stream.flag == StreamInfo::Flag::blocking || stream.flag == StreamInfo::Flag::per_thread) {
    context.blocking_end_ns = std::max(context.blocking_end_ns, end_ns);
  }
  context.busy_end_ns = std::max(context.busy_end_ns, end_ns);
  ThreadState& thread = this_thread();
  thread.submitted_end_ns = std::max(thread.submitted_end_ns, end_ns);
}

std::int64_t execute(Operation& operation, Stream& stream, Placement at, Pending& after,
                     bool queue_effects) {
  if (operation.kind == Operation::Kind::event_wait) {
    at.start_ns = std::max(at.start_ns, operation.event->recorded ? operation.event->time_ns : 0);
    after = joined(after, operation.event->pending);
  }
  at.end_ns = at.start_ns + duration_of(operation, stream);
  if (operation.kind == Operation::Kind::kernel) {
    at.end_ns = end_among_others(*stream.context->device, at.start_ns, at.end_ns);
  }
  at.device = stream.context->device->ordinal;
  at.context_id = stream.context->id;
  if (operation.kind == Operation::Kind::event_record) {
    record_event(*operation.event, stream, at.start_ns, after, at.correlation);
  }
  if (operation.kind == Operation::Kind::kernel) {
    migrate_for_kernel(at);
  }
  const bool on_worker = operation.kind == Operation::Kind::host_function;
  after = submit_effect(operation.effect, after, on_worker || queue_effects, at.start_ns);
  report(operation, at, now_ns());
  return at.end_ns;
}

CUresult submit(Stream& stream, Operation operation, Submitted* submitted) {
  if (stream.capture != nullptr) {
    if (submitted != nullptr) {
      submitted->captured = true;
    }
    return capture(stream, std::move(operation));
  }
  if (capture_forbids(stream)) {
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (operation.kind == Operation::Kind::kernel) {
    load_function(*stream.context, *operation.function);
  }
  wait_for_room(stream);
  Ready next = ready(stream);
  Placement at;
  at.start_ns = std::max(next.time_ns, now_ns() + model().launch_latency_ns);
  at.stream_id = stream.id;
  at.correlation = correlation_now();
  const std::int64_t end_ns = execute(operation, stream, at, next.after, false);
  occupy(stream, end_ns, next.after);
  enqueue(stream, end_ns);
  if (submitted != nullptr) {
    submitted->end_ns = end_ns;
    submitted->pending = next.after;
  }
  return CUDA_SUCCESS;
}

void record_event(Event& event, Stream& stream, std::int64_t time_ns, const Pending& pending,
                  std::uint32_t correlation) {
  event.recorded = true;
  event.time_ns = time_ns;
  event.pending = pending;
  event.record_id = next_event_record_id();
  event.stream_id = stream.id;
  event.capture.reset();
  EventRecord told;
  told.correlation = correlation;
  told.device = stream.context->device->ordinal;
  told.context_id = stream.context->id;
  told.stream_id = stream.id;
  told.event_id = event.id;
  told.event_sync_id = event.record_id;
  told.time_ns = time_ns;
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"event_record","event":{},"record":{},"time":{},"device":{},"context":{},)"
        R"("stream":{},"correlation":{},"thread":{}}})",
        event.id, event.record_id, time_ns, told.device, told.context_id, told.stream_id,
        correlation, this_thread().ordinal));
  }
  tell([told](Observer& observer) { observer.recorded(told); });
}

void synchronise(EngineLock& lock, Sync sync, std::int64_t until_ns, const Pending& pending) {
  sync.start_ns = now_ns();
  sync.correlation = correlation_now();
  lock.release();
  if (sync.type != Sync::Type::stream_wait_event) {
    wait_for(pending);
    wait_until(until_ns);
  }
  sync.end_ns = now_ns();
  static constexpr const char* kTypes[] = {"event", "stream_wait_event", "stream", "context"};
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"sync","kind":"{}","start":{},"end":{},"context":{},"stream":{},"event":{},)"
        R"("record":{},"correlation":{},"thread":{}}})",
        kTypes[static_cast<int>(sync.type)], sync.start_ns, sync.end_ns, sync.context_id,
        sync.stream_id, sync.event_id, sync.event_sync_id, sync.correlation,
        this_thread().ordinal));
  }
  if (Observer* observer = current_observer(); observer != nullptr) {
    observer->synchronised(sync);
  }
  if (sync.type != Sync::Type::stream_wait_event) {
    migrate_to_host();
  }
}

void stream_wait_event(Stream& stream, const Event& event) {
  const Ready next = ready(stream);
  occupy(stream, std::max(next.time_ns, event.time_ns), joined(next.after, event.pending));
}

void load_function(Context& context, Function& function) {
  Module* module = function.module;
  if (module != nullptr && module->announced_in.insert(&context).second) {
    ResourceEvent event;
    event.what = ResourceEvent::What::module_loaded;
    event.module_handle = module;
    event.module_id = module->id;
    tell_resource(event, &context);
    log_line(fmt::format(R"({{"type":"module","what":"loaded","module":{},"context":{}}})",
                         module->id, context.id));
  }
  if (this_thread().loaded.emplace(&context, &function).second) {
    advance(model().first_launch_ns);
  }
}

}  // namespace gprofml::simgpu
