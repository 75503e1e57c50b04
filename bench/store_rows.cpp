// Rows a second into and out of a real run.db, mostly `kernel`, on one core.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "bench/bench_output.hpp"
#include "libprofile/store/file_check.hpp"
#include "libprofile/store/open_untrusted.hpp"
#include "libprofile/store/store.hpp"
#include "libprofile/store/table_reader.hpp"

namespace {

namespace bench = gprofml::bench;
using namespace gprofml::profile;

constexpr std::size_t kKernels = 5'000'000;
constexpr std::size_t kCalls = 100'000;
constexpr std::size_t kNames = 500;
constexpr std::size_t kConfigs = 200;
constexpr std::size_t kStreams = 8;

/// Removes the folder and what is in it at the end.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gprofml-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::filesystem::path path;
};

void add_dimensions(Trace& trace) {
  trace.processes.emplace_back();
  trace.threads.push_back({0, 4711, 4711, 0});
  trace.devices.emplace_back();
  trace.contexts.push_back({0, 0, 1});
  for (std::size_t i = 0; i < kStreams; ++i)
    trace.streams.push_back({0, static_cast<std::int64_t>(7 + i)});
  for (std::size_t i = 0; i < kNames; ++i)
    trace.intern(fmt::format("void at::native::kernel_{}<float>()", i));
  for (std::size_t i = 0; i < kConfigs; ++i) {
    LaunchConfig config;
    config.grid = {static_cast<std::int64_t>(1 + i), 1, 1};
    config.block = {256, 1, 1};
    trace.launch_configs.push_back(config);
  }
}

void add_calls(Trace& trace, Nanoseconds begin) {
  ApiCallColumns& calls = trace.api_calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    calls.start_ns.push_back(begin + static_cast<Nanoseconds>(i) * 5000);
    calls.end_ns.push_back(calls.start_ns.back() + 2100);
    calls.name.push_back(1);
    calls.thread.push_back(0);
    calls.correlation.push_back(static_cast<std::int64_t>(i));
    calls.kind.push_back(ApiKind::runtime);
    calls.result.push_back(kUnknown);
  }
}

/// Kernels as a training run has them: times of today, few names, most with a call and an op.
Trace make_trace() {
  constexpr Nanoseconds kBegin = 1'760'000'000'000'000'000;
  Trace trace;
  add_dimensions(trace);
  add_calls(trace, kBegin);
  KernelColumns& kernels = trace.kernels;
  for (std::size_t i = 0; i < kKernels; ++i) {
    const std::size_t mixed = i * 2654435761U;
    kernels.start_ns.push_back(kBegin + static_cast<Nanoseconds>(i) * 7919);
    kernels.end_ns.push_back(kernels.start_ns.back() +
                             static_cast<Nanoseconds>(1000 + mixed % 200000));
    kernels.name.push_back(static_cast<StringId>(1 + mixed % kNames));
    kernels.stream.push_back(static_cast<RowIndex>(mixed % kStreams));
    kernels.launch.push_back(i % 50 == 0 ? kNoRow : static_cast<RowIndex>(mixed % kCalls));
    kernels.correlation.push_back(static_cast<std::int64_t>(i));
    kernels.graph_node.push_back(kNoRow);
    kernels.op.push_back(kNoRow);
    kernels.sequence.push_back(static_cast<std::uint32_t>(i));
    kernels.launch_config.push_back(static_cast<RowIndex>(mixed % kConfigs));
  }
  return trace;
}

struct Seconds {
  double core;  ///< that the process computed: what passes on a machine that does nothing else
  double wall;  ///< that passed, waiting for the disk and for others included
};

/// The shortest of three, since others may use the machine too.
template <class Work>
Seconds shortest(const Work& work) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Seconds seconds{kInfinity, kInfinity};
  for (int round = 0; round < 3; ++round) {
    const std::clock_t core = std::clock();
    const auto wall = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - wall;
    seconds.core =
        std::min(seconds.core, static_cast<double>(std::clock() - core) / CLOCKS_PER_SEC);
    seconds.wall = std::min(seconds.wall, passed.count());
  }
  return seconds;
}

/// Reads table `kernel` with `id` and its first `columns - 1` other columns.
void read_kernel_columns(const std::string& path, std::size_t columns) {
  const std::uint64_t file_bytes = detail::check_sqlite_file(path);
  const detail::Database database = detail::open_read_only(path);
  const detail::Source source{database.get(), path, file_bytes};
  detail::harden(source.database, file_bytes);
  detail::TableSizes sizes;
  sizes.fill(kNoRow);  // references are checked all the same
  Trace trace;
  for (detail::TableBinding& table : detail::bind_tables(trace)) {
    if (table.id != detail::TableId::kernel) continue;
    table.columns.resize(columns - 1);
    table.storage.resize(columns - 1);
    if (detail::read_table(source, table, sizes) != kKernels)
      throw std::runtime_error("rows are missing");
  }
}

void measure() {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "run.db").string();
  const Trace trace = make_trace();
  constexpr auto kRows = static_cast<double>(kKernels + kCalls);
  const Seconds write = shortest([&] {
    std::filesystem::remove(path);
    write_run_db(trace, path);
  });
  const Seconds read = shortest([&] { read_kernel_columns(path, 7); });
  const Seconds read_all = shortest([&] { read_run_db(path); });
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(path));
  bench::report_at_least("store_write_rows_per_s", kRows / write.core, "rows/s", 1e6);
  bench::report_at_least("store_read_rows_per_s", kKernels / read.core, "rows/s", 3.5e6);
  bench::report_at_least("store_read_all_rows_per_s", kRows / read_all.core, "rows/s", 2e6);
  bench::report("store_write_wall_rows_per_s", kRows / write.wall, "rows/s", "", true);
  bench::report("store_read_all_wall_rows_per_s", kRows / read_all.wall, "rows/s", "", true);
  bench::report("store_bytes_per_row", file_bytes / kRows, "bytes", "", true);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(
      argc, argv,
      {{{"store_write_rows_per_s", "store_read_rows_per_s", "store_read_all_rows_per_s",
         "store_write_wall_rows_per_s", "store_read_all_wall_rows_per_s", "store_bytes_per_row"},
        measure}});
}
