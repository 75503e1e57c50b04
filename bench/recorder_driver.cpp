#include "bench/recorder_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace gprofml::bench {
namespace {

constexpr std::size_t kKernels = 320;
constexpr std::size_t kConfigsPerKernel = 6;

void* open_library(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  return handle;
}

template <class Function>
Function symbol(void* handle, const char* name) {
  auto* found = reinterpret_cast<Function>(dlsym(handle, name));
  if (found == nullptr) throw std::runtime_error(dlerror());
  return found;
}

/// The toolkit's own walk over records, which a recording pays for; nullptr where it is absent.
decltype(&::cuptiActivityGetNextRecord) toolkit_next_record() {
  void* handle = dlopen(GPROFML_BENCH_TOOLKIT_CUPTI, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<decltype(&::cuptiActivityGetNextRecord)>(
      dlsym(handle, "cuptiActivityGetNextRecord"));
}

std::string kernel_name(std::size_t i) {
  std::string name = fmt::format("_ZN2at6native29vectorized_elementwise_kernel{}ILi4E", i);
  const std::size_t length = 30 + (i * 37) % 220;
  while (name.size() < length) name += fmt::format("NS0_13BinaryFunctorIfff{}EE", name.size());
  name.resize(std::max(length, std::size_t{34}));
  return name + "vT_";
}

}  // namespace

std::int64_t thread_cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "gprofml-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<double> in_child(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<double> numbers;
    try {
      numbers = work();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
    const std::size_t bytes = numbers.size() * sizeof(double);
    const bool told = write(ends[1], numbers.data(), bytes) == static_cast<ssize_t>(bytes);
    std::exit(told ? 0 : 1);  // with exit handlers: the recorder's are measured code too
  }
  close(ends[1]);
  std::vector<double> numbers(64);
  const ssize_t got = read(ends[0], numbers.data(), numbers.size() * sizeof(double));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got <= 0 || status != 0) throw std::runtime_error("the measured process failed");
  numbers.resize(static_cast<std::size_t>(got) / sizeof(double));
  return numbers;
}

// --- records -----------------------------------------------------------------------------------

LaunchMix::LaunchMix() {
  for (std::size_t i = 0; i < kKernels; ++i) names_.push_back(kernel_name(i));
  for (std::size_t i = 0; i < kKernels * kConfigsPerKernel; ++i) {
    CUpti_ActivityKernel10 kind{};
    kind.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kind.name = names_[i % kKernels].c_str();
    kind.gridX = static_cast<std::int32_t>(1 + i * 7 % 4096);
    kind.gridY = static_cast<std::int32_t>(1 + i % 3);
    kind.gridZ = 1;
    kind.blockX = 32 * static_cast<std::int32_t>(1 + i % 8);
    kind.blockY = kind.blockZ = 1;
    kind.registersPerThread = static_cast<std::uint16_t>(16 + i % 200);
    kind.staticSharedMemory = static_cast<std::int32_t>(i % 5 * 1024);
    kind.dynamicSharedMemory = static_cast<std::int32_t>(i % 3 * 16384);
    kind.contextId = 1;
    kind.streamId = 7;
    kinds_.push_back(kind);
  }
}

void LaunchMix::kernel(std::uint64_t i, bool graph, CUpti_ActivityKernel10& record) const {
  // The product of two such numbers is small more often than large.
  const std::uint64_t mixed = i * 0x9e3779b97f4a7c15u;
  const std::uint64_t kind = (mixed >> 52) * ((mixed >> 40) & 0xfff) * kinds_.size() >> 24;
  record = kinds_[kind];
  record.start = 1'764'547'200'000'000'000u + i * 5000;
  record.end = record.start + 1500 + (mixed >> 50);
  record.correlationId = static_cast<std::uint32_t>(graph ? 1 + i / 500 : i);
  record.streamId = 7 + static_cast<std::uint32_t>(mixed >> 62);
  if (graph) {
    record.graphNodeId = (std::uint64_t{5} << 32) + i % 500;
    record.graphId = 3;
  }
}

void LaunchMix::call(std::uint64_t i, CUpti_ActivityAPI& record) {
  record = {};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  record.start = 1'764'547'200'000'000'000u + i * 5000 - 4000;
  record.end = record.start + 2300;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = record.processId;
  record.correlationId = static_cast<std::uint32_t>(i);
}

// --- the recorder ------------------------------------------------------------------------------

RecorderDriver::RecorderDriver(const std::filesystem::path& folder) {
  setenv("GPROFML_SPOOL_DIR", folder.c_str(), 1);
  setenv("GPROFML_VERBOSE", "1", 1);
  void* stand_in = open_library(GPROFML_BENCH_STAND_IN_CUPTI);
  cupti_ = symbol<StandInCupti* (*)()>(stand_in, "gprofml_stand_in_cupti")();
  void* recorder = open_library(GPROFML_BENCH_INJECTION);
  symbol<int (*)()>(recorder, "InitializeInjection")();
  if (cupti_->request == nullptr || cupti_->complete == nullptr) {
    throw std::runtime_error("the recorder did not start");
  }
  cupti_->next_record = toolkit_next_record();
}

void RecorderDriver::next_buffer() {
  complete();
  std::uint8_t* buffer = nullptr;
  std::size_t room = 0, most_records = 0;
  cupti_->request(&buffer, &room, &most_records);
  fill_.start(buffer, room);
}

void RecorderDriver::complete() {
  if (fill_.buffer() == nullptr) return;
  ++completed_;
  cupti_->complete(nullptr, 0, fill_.buffer(), 0, fill_.used());
  fill_.start(nullptr, 0);
}

void RecorderDriver::launch_callbacks(std::uint32_t correlation) {
  if (!cupti_->calls_back_on_launch) return;
  std::uint64_t correlation_data = 0;
  CUpti_CallbackData data{};
  data.functionName = "cudaLaunchKernel";
  data.correlationId = correlation;
  data.correlationData = &correlation_data;
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    data.callbackSite = site;
    cupti_->subscriber(cupti_->subscriber_data, CUPTI_CB_DOMAIN_RUNTIME_API,
                       CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, &data);
  }
}

void RecorderDriver::drain() {
  complete();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (cupti_->buffers_read.load(std::memory_order_acquire) < completed_) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("the writer does not come along (or buffers were discarded)");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Between the last record and the end of the pass lie one give_back() and one write().
  std::int64_t before = -1;
  for (std::int64_t now = writer_cpu_ns(); now != before; now = writer_cpu_ns()) {
    before = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
}

std::int64_t RecorderDriver::writer_cpu_ns() const {
  std::ifstream file(fmt::format("/proc/self/task/{}/schedstat", cupti_->reader_tid.load()));
  std::int64_t on_cpu_ns = 0;
  file >> on_cpu_ns;
  return on_cpu_ns;
}

void warm_page_cache(std::uintmax_t bytes) {
  const ScratchFolder folder;
  std::ofstream file(folder.path() / "warm", std::ios::binary);
  const std::vector<char> block(1 << 20, 1);
  for (std::uintmax_t done = 0; done < bytes; done += block.size()) {
    file.write(block.data(), static_cast<std::streamsize>(block.size()));
  }
}

std::uintmax_t spool_bytes(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".spool") bytes += entry.file_size();
  }
  return bytes;
}

}  // namespace gprofml::bench
