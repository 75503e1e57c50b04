// The recorder against LTTng-UST, CPU and bytes for one kernel record, in one run.
//
// What is compared: each side gets the same kernels, one CUpti_ActivityKernel10 each.
//   ours   the record is copied into the buffer that the recorder gave CUPTI (in the program's
//          thread, with the recorder's buffer callbacks); the writer thread walks the buffer and
//          writes the spool.  CPU = copy and callbacks + writer.
//   LTTng  a tracepoint with the record's fields in the program's thread; the consumer daemon
//   writes
//          the trace.  CPU = tracepoint + consumer daemon and session daemon.
// Making up the record costs both the same and is subtracted. lttng_ratio_*: the tracepoint has
// name and launch configuration as numbers, as if LTTng kept dictionaries for free.
// lttng_full_ratio_*: it has them spelled out, so that the trace restores what the spool restores.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "bench/bench_output.hpp"
#include "bench/lttng_fields.h"
#include "bench/recorder_driver.hpp"

namespace {

namespace bench = gprofml::bench;
namespace fs = std::filesystem;

constexpr std::uint64_t kKernels = 1'000'000;
constexpr std::uint64_t kBatch = 25'000;  ///< between two pauses, so that no consumer loses any
constexpr auto kPause = std::chrono::milliseconds(15);

struct Cost {
  double producer_ns, consumer_ns, bytes;  ///< a kernel
  double cpu_ns() const { return producer_ns + consumer_ns; }
};

/// CPU a kernel of making up the record, the least of three.
double making_up_ns(const bench::LaunchMix& mix) {
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    CUpti_ActivityKernel10 record;
    const std::int64_t begin_ns = bench::thread_cpu_ns();
    for (std::uint64_t i = 1; i <= kKernels; ++i) {
      mix.kernel(i, true, record);
      asm volatile("" ::"r"(&record) : "memory");
    }
    least = std::min(least, static_cast<double>(bench::thread_cpu_ns() - begin_ns));
  }
  return least / static_cast<double>(kKernels);
}

template <class Consume>
double producer_ns(const bench::LaunchMix& mix, const Consume& consume) {
  CUpti_ActivityKernel10 record;
  std::int64_t passed_ns = 0;
  for (std::uint64_t first = 1; first <= kKernels; first += kBatch) {
    const std::int64_t begin_ns = bench::thread_cpu_ns();
    for (std::uint64_t i = first; i < first + kBatch; ++i) {
      mix.kernel(i, true, record);
      consume(record);
    }
    passed_ns += bench::thread_cpu_ns() - begin_ns;
    std::this_thread::sleep_for(kPause);
  }
  return static_cast<double>(passed_ns) / static_cast<double>(kKernels) - making_up_ns(mix);
}

Cost our_cost() {
  const bench::ScratchFolder folder;
  const std::vector<double> told = bench::in_child([&] {
    bench::RecorderDriver recorder(folder.path());
    const bench::LaunchMix mix;
    const double producer = producer_ns(
        mix, [&](const CUpti_ActivityKernel10& record) { recorder.put(&record, sizeof record); });
    recorder.drain();
    return std::vector<double>{producer, static_cast<double>(recorder.writer_cpu_ns())};
  });
  constexpr auto kAll = static_cast<double>(kKernels);
  return {told[0], told[1] / kAll, static_cast<double>(bench::spool_bytes(folder.path())) / kAll};
}

// --- LTTng -------------------------------------------------------------------------------------

/// Output of a command; throws what it said when it failed.
std::string run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) output += part;
  if (pclose(pipe) != 0) throw std::runtime_error(command + ": " + output);
  return output;
}

std::string word_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Calls `use(pid)` for each process of LTTng's.
template <class Use>
void for_each_daemon(const Use& use) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    // The kernel keeps 15 characters.
    const std::string name = word_in(entry.path() / "comm");
    if (name == "lttng-consumerd" || name == "lttng-sessiond") use(entry.path());
  }
}

double daemons_cpu_ns() {
  double sum = 0;
  for_each_daemon([&](const fs::path& process) {
    std::error_code ignored;
    for (const auto& thread : fs::directory_iterator(process / "task", ignored)) {
      const std::string word = word_in(thread.path() / "schedstat");
      if (!word.empty()) sum += std::stod(word);
    }
  });
  return sum;
}

/// A session daemon, ours unless one runs already.
class SessionDaemon {
 public:
  explicit SessionDaemon(const fs::path& folder) : pid_file_(folder / "sessiond.pid") {
    bool runs = false;
    for_each_daemon([&](const fs::path&) { runs = true; });
    if (runs) return;
    run(fmt::format("lttng-sessiond --daemonize --no-kernel --pidfile={}", pid_file_.string()));
    is_ours_ = true;
  }
  ~SessionDaemon() {
    if (!is_ours_) return;
    const std::string pid = word_in(pid_file_);
    if (pid.empty()) return;
    kill(std::stoi(pid), SIGTERM);
    // The next one must not take it for one that runs; five seconds are ample.
    for (int i = 0; i < 250 && kill(std::stoi(pid), 0) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  SessionDaemon(const SessionDaemon&) = delete;
  SessionDaemon& operator=(const SessionDaemon&) = delete;

 private:
  fs::path pid_file_;
  bool is_ours_ = false;
};

BenchKernel fields_of(const CUpti_ActivityKernel10& record) {
  BenchKernel kernel{};
  kernel.start_ns = static_cast<std::int64_t>(record.start);
  kernel.end_ns = static_cast<std::int64_t>(record.end);
  kernel.graph_node = record.graphNodeId;
  kernel.graph = record.graphId;
  kernel.name = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(record.name));
  kernel.device = record.deviceId;
  kernel.context = record.contextId;
  kernel.stream = record.streamId;
  kernel.correlation = record.correlationId;
  kernel.launch_config = static_cast<std::uint32_t>(record.gridX);
  kernel.name_text = record.name;
  std::memcpy(kernel.grid, &record.gridX, sizeof kernel.grid);
  std::memcpy(kernel.block, &record.blockX, sizeof kernel.block);
  std::memcpy(kernel.cluster, &record.clusterX, sizeof kernel.cluster);
  kernel.registers_per_thread = record.registersPerThread;
  kernel.static_shared_bytes = record.staticSharedMemory;
  kernel.dynamic_shared_bytes = record.dynamicSharedMemory;
  kernel.local_bytes_per_thread = record.localMemoryPerThread;
  return kernel;
}

/// The process that is traced: prints what a tracepoint costs it.
int produce(std::string_view event) {
  const bench::LaunchMix mix;
  const auto trace = event == "kernel" ? trace_kernel : trace_kernel_in_full;
  const double cost = producer_ns(mix, [&](const CUpti_ActivityKernel10& record) {
    const BenchKernel kernel = fields_of(record);
    trace(&kernel);
  });
  fmt::print("{}\n", cost);
  return 0;
}

std::uintmax_t bytes_below(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

Cost lttng_cost(const char* event) {
  const bench::ScratchFolder folder;
  const SessionDaemon daemon(folder.path());
  const std::string session = fmt::format("gprofml-bench-{}", getpid());
  const fs::path output = folder.path() / "trace";
  run(fmt::format("lttng create {} --output={}", session, output.string()));
  run(fmt::format("lttng enable-channel -s {} -u c --subbuf-size=1M --num-subbuf=16", session));
  run(fmt::format("lttng enable-event -s {} -u -c c gprofml_bench:{}", session, event));
  run("lttng start " + session);
  const double before_ns = daemons_cpu_ns();
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string told =
      run(fmt::format("LTTNG_UST_REGISTER_TIMEOUT=-1 '{}' --produce {}", self, event));
  const std::string stopped = run("lttng stop " + session);
  const double consumer_ns = daemons_cpu_ns() - before_ns;
  const std::string destroyed = run("lttng destroy " + session);
  if ((stopped + destroyed).find("discarded") != std::string::npos) {
    throw std::runtime_error("LTTng discarded events: " + stopped + destroyed);
  }
  constexpr auto kAll = static_cast<double>(kKernels);
  return {std::stod(told), consumer_ns / kAll, static_cast<double>(bytes_below(output)) / kAll};
}

void say(const char* side, const Cost& cost) {
  fmt::print(stderr, "{:<34} {:6.1f} ns in the program + {:5.1f} ns behind it, {:6.1f} bytes\n",
             side, cost.producer_ns, cost.consumer_ns, cost.bytes);
}

void measure() {
  bench::warm_page_cache(300 << 20);
  const Cost ours = our_cost();
  const Cost lttng = lttng_cost("kernel");
  const Cost in_full = lttng_cost("kernel_in_full");
  say("gprof-ml", ours);
  say("LTTng-UST, names as numbers", lttng);
  say("LTTng-UST, names spelled out", in_full);
  bench::report_at_most("lttng_ratio_cpu", ours.cpu_ns() / lttng.cpu_ns(), "ratio", 1);
  bench::report_at_most("lttng_ratio_bytes", ours.bytes / lttng.bytes, "ratio", 1);
  bench::report("lttng_full_ratio_cpu", ours.cpu_ns() / in_full.cpu_ns(), "ratio", "", true);
  bench::report("lttng_full_ratio_bytes", ours.bytes / in_full.bytes, "ratio", "", true);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--produce") return produce(argv[2]);
  return bench::bench_main(
      argc, argv,
      {{{"lttng_ratio_cpu", "lttng_ratio_bytes", "lttng_full_ratio_cpu", "lttng_full_ratio_bytes"},
        measure}});
}
