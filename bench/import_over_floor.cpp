// How much of an import is work that any reader of the file has to do: the time of import_file over
// that of a walk which reads, scans and parses the same windows and touches every key, but keeps
// nothing. Walk and import run in turn, and the fastest of each counts.
//
// kineto_import_over_floor compares the work: both on one thread. On two threads the walk hides its
// reading behind its parsing, so that ratio, which is reported beside, also counts what of an
// import cannot overlap (sorting, resolving launches).
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/bench_output.hpp"
#include "libprofile/import/import.hpp"
#include "libprofile/import/window_stream.hpp"

namespace {

namespace fs = std::filesystem;
namespace od = simdjson::ondemand;
using gprofml::profile::ImportOptions;

constexpr int kRounds = 5;

/// A trace file that lives as long as this.
class BenchTrace {
 public:
  BenchTrace()
      : path_(fs::temp_directory_path() / fmt::format("gprofml_bench_{}.json", ::getpid())) {
    const fs::path shared = GPROFML_SHARED_DIR;
    const fs::path source = shared / "traces/hta/df_index_resolver__df_index_resolver.json.gz";
    if (!fs::exists(source) || !repeat(shared / "tools/repeat_trace.py", source)) generate();
    fmt::print(stderr, "{} MB of trace\n", bytes() / 1'000'000);
  }
  ~BenchTrace() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  BenchTrace(const BenchTrace&) = delete;
  BenchTrace& operator=(const BenchTrace&) = delete;

  std::string path() const { return path_.string(); }
  std::uintmax_t bytes() const { return fs::file_size(path_); }

 private:
  /// The 47 MB V100 training trace ten times over, as the targets mean it.
  bool repeat(const fs::path& tool, const fs::path& source) const {
    const std::string command = fmt::format("python3 '{}' '{}' '{}' 10 >/dev/null", tool.string(),
                                            source.string(), path_.string());
    return std::system(command.c_str()) == 0;
  }

  /// A stand-in of the same make-up: op, call, kernel, and the flow from one to the other.
  void generate() const {
    std::ofstream out(path_);
    out << "{\"schemaVersion\": 1, \"traceEvents\": [\n";
    for (int i = 0; i < 200'000; ++i) {
      const int ts = 1000 + 10 * i;
      const auto event = [&](int start, const std::string& members) {
        out << fmt::format("{{\"ts\": {}, {}}}", start, members);
      };
      event(ts,
            fmt::format(R"("ph": "X", "cat": "cpu_op", "name": "aten::op_{}", "pid": 7, "tid": 7, )"
                        R"("dur": 9, "args": {{"External id": {}, "Ev Idx": {}}})",
                        i % 97, i, i));
      out << ",\n";
      event(ts + 1, fmt::format(R"("ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )"
                                R"("pid": 7, "tid": 7, "dur": 4, "args": {{"correlation": {}}})",
                                i));
      out << ",\n";
      event(ts + 5,
            fmt::format(R"("ph": "X", "cat": "kernel", "name": "gemm_{}<float, 128, 128>", )"
                        R"("pid": 0, "tid": 7, "dur": 6, "args": {{"device": 0, )"
                        R"("context": 1, "stream": 7, "correlation": {}, )"
                        R"("grid": [{}, 1, 1], "block": [128, 1, 1]}})",
                        i % 89, i, i % 64 + 1));
      out << (i == 199'999 ? "]}" : ",\n");
    }
    if (!out.flush()) throw std::runtime_error("cannot write " + path());
  }

  fs::path path_;
};

struct Cost {
  double wall_s = 1e9;
  double cpu_s = 1e9;  ///< of all threads, for a look behind a busy machine

  void keep_lower(const Cost& other) {
    wall_s = std::min(wall_s, other.wall_s);
    cpu_s = std::min(cpu_s, other.cpu_s);
  }
};

Cost cost_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC};
}

std::uint64_t walk_object(od::object object) {
  std::uint64_t touched = 0;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) throw std::runtime_error("the bench trace is broken");
    touched += static_cast<unsigned char>(*field.key().raw());
    const std::string_view token = field.value().raw_json_token();
    touched += token.size();
    if (token.front() == '{') touched += walk_object(field.value().get_object().value());
  }
  return touched;
}

/// The floor: every key of every event is looked at and forgotten.
std::uint64_t walk(const std::string& path, const ImportOptions& options) {
  gprofml::profile::WindowStream windows(path, options.window_bytes, options.threads);
  od::parser parser;
  std::uint64_t touched = 0;
  while (const gprofml::profile::Window* window = windows.next()) {
    od::document document =
        parser.iterate(window->bytes.data(), window->size, window->bytes.size()).value();
    for (auto event : document.get_array()) touched += walk_object(event.get_object().value());
  }
  return touched;
}

struct Comparison {
  Cost floor, import;
  double ratio() const { return import.wall_s / floor.wall_s; }
};

Comparison compare(const std::string& path, int threads) {
  ImportOptions options;
  options.threads = threads;
  Comparison result;
  std::uint64_t touched = 0;
  for (int round = 0; round < kRounds; ++round) {
    result.floor.keep_lower(cost_of([&] { touched += walk(path, options); }));
    result.import.keep_lower(
        cost_of([&] { touched += gprofml::profile::import_file(path, options).kernels.size(); }));
  }
  fmt::print(stderr, "{} thread(s): walk {:.3f} s (CPU {:.3f}), import {:.3f} s (CPU {:.3f}); {}\n",
             threads, result.floor.wall_s, result.floor.cpu_s, result.import.wall_s,
             result.import.cpu_s, touched % 10);
  return result;
}

void measure() {
  const BenchTrace trace;
  const Comparison one = compare(trace.path(), 1), two = compare(trace.path(), 2);
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const double megabytes = static_cast<double>(trace.bytes()) / 1e6;
  gprofml::bench::report_at_most("kineto_import_over_floor", one.ratio(), "ratio", 2.5);
  gprofml::bench::report("kineto_import_over_floor_two_threads", two.ratio(), "ratio", "", true);
  gprofml::bench::report("kineto_import_mb_per_s", megabytes / two.import.wall_s, "MB/s", "", true);
  gprofml::bench::report("kineto_import_peak_rss_mib", static_cast<double>(usage.ru_maxrss) / 1024,
                         "MiB", "", true);
}

}  // namespace

int main(int argc, char** argv) {
  return gprofml::bench::bench_main(
      argc, argv,
      {{{"kineto_import_over_floor", "kineto_import_over_floor_two_threads",
         "kineto_import_mb_per_s", "kineto_import_peak_rss_mib"},
        measure}});
}
