// From spool to run.db: rows a second and the largest memory, for a recording of 2,100,000 kernels,
// as many launch calls and 42,000 ranges (4.24 million rows). What `gprof-ml recover` calls, in a
// process of its own whose peak the kernel tells.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/bench_output.hpp"
#include "libprofile/capture/recording.hpp"
#include "libprofile/spool/crc32c.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/store/store.hpp"

namespace {

namespace bench = gprofml::bench;
namespace fs = std::filesystem;
namespace spool = gprofml::spool;
using spool::RecordKind;

constexpr std::uint32_t kKernels = 2'100'000;
constexpr std::uint32_t kLaunchesOfRange = 50;
constexpr std::uint32_t kRanges = kKernels / kLaunchesOfRange;
constexpr std::uint32_t kNames = 320;
constexpr std::uint32_t kConfigs = 1920;
constexpr std::uint32_t kTid = 4711;
constexpr double kRows = 2.0 * kKernels + kRanges;

/// Writes the spool that the recorder would have written.
class Writer {
 public:
  explicit Writer(const fs::path& path) : file_(path, std::ios::binary) {
    spool::FileHeader header{};
    std::memcpy(header.magic, spool::kMagic, sizeof header.magic);
    header.version = spool::kFormatVersion;
    header.byte_order = spool::kByteOrder;
    header.pid = kTid;
    header.crc = gprofml::profile::crc32c(&header, offsetof(spool::FileHeader, crc));
    put_raw(header);
  }

  template <class Record>
  void add(RecordKind kind, Record record, std::string_view text = {}) {
    const std::size_t padded = (text.size() + 7) / 8 * 8;
    record.header = {kind, 0, static_cast<std::uint32_t>(sizeof record + padded)};
    payload_.append(reinterpret_cast<const char*>(&record), sizeof record);
    payload_.append(text);
    payload_.append(padded - text.size(), '\0');
    if (payload_.size() > 250'000) flush();
  }

  void string(std::uint32_t id, std::string_view text) {
    spool::String record{};
    record.id = id;
    record.text_bytes = static_cast<std::uint32_t>(text.size());
    add(RecordKind::string, record, text);
  }

  void flush() {
    spool::ChunkHeader header{};
    header.magic = spool::kChunkMagic;
    header.payload_bytes = static_cast<std::uint32_t>(payload_.size());
    header.sequence = sequence_++;
    header.payload_crc = gprofml::profile::crc32c(payload_.data(), payload_.size());
    header.header_crc = gprofml::profile::crc32c(&header, offsetof(spool::ChunkHeader, header_crc));
    put_raw(header);
    file_.write(payload_.data(), static_cast<std::streamsize>(payload_.size()));
    payload_.clear();
  }

 private:
  template <class Struct>
  void put_raw(const Struct& value) {
    file_.write(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::ofstream file_;
  std::string payload_;
  std::uint64_t sequence_ = 0;
};

void write_dictionaries(Writer& writer) {
  for (std::uint32_t i = 0; i < kNames; ++i) {
    writer.string(1 + i,
                  fmt::format("_ZN2at6native29vectorized_elementwise_kernel{}ILi4EEEvPf", i));
  }
  writer.string(1001, "cudaLaunchKernel_v7000");
  writer.string(1002, "decode_step");
  for (std::uint32_t i = 0; i < kConfigs; ++i) {
    spool::LaunchConfig config{};
    config.id = 1 + i;
    config.grid[0] = static_cast<std::int32_t>(1 + i);
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    config.block[0] = 256;
    writer.add(RecordKind::launch_config, config);
  }
  spool::Device device{};
  device.name = 1002;
  device.uuid[0] = 7;
  writer.add(RecordKind::device, device);
  spool::Context context{};
  context.id = 1;
  context.null_stream = 7;
  writer.add(RecordKind::context, context);
  for (std::uint32_t i = 0; i < 4; ++i) {
    spool::Place place{};
    place.id = 1 + i;
    place.context = 1;
    place.stream = 7 + i;
    writer.add(RecordKind::place, place);
  }
}

/// Kernels on four streams of which each is in order and the whole is not; calls and their kernels
/// come in buffers of their own order, as CUPTI hands them over.
void write_spool(const fs::path& path) {
  constexpr std::int64_t kBegin = 1'764'547'200'000'000'000;
  Writer writer(path);
  write_dictionaries(writer);
  for (std::uint32_t i = 0; i < kKernels; ++i) {
    const std::int64_t at = kBegin + std::int64_t{i} * 5000;
    if (i % kLaunchesOfRange == 0) {
      spool::RangePush push{};
      push.time_ns = at - 100;
      push.tid = kTid;
      push.name = 1002;
      writer.add(RecordKind::range_push, push);
    }
    spool::ApiCall call{};
    call.start_ns = at;
    call.end_ns = at + 2300;
    call.correlation = i + 1;
    call.name = 1001;
    call.tid = kTid;
    call.callback_id = 211;
    writer.add(RecordKind::api_call, call);
    const std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
    spool::ShortKernel kernel{};
    kernel.start_ns = at + 4000 + static_cast<std::int64_t>(mixed >> 50);
    kernel.duration_ns = 1500 + static_cast<std::uint32_t>(mixed >> 52);
    kernel.name = 1 + static_cast<std::uint32_t>(mixed >> 40) % kNames;
    kernel.place = 1 + i % 4;
    kernel.correlation = i + 1;
    kernel.launch_config = 1 + static_cast<std::uint32_t>(mixed >> 44) % kConfigs;
    writer.add(RecordKind::short_kernel, kernel);
    if (i % kLaunchesOfRange == kLaunchesOfRange - 1) {
      spool::RangePop pop{};
      pop.time_ns = at + 4900;
      pop.tid = kTid;
      writer.add(RecordKind::range_pop, pop);
    }
  }
  spool::End end{};
  end.reason = spool::EndReason::exit_handler;
  writer.add(RecordKind::end, end);
  writer.flush();
}

struct Cost {
  double cpu_s, wall_s, peak_mib;
};

Cost recover(const fs::path& folder, const fs::path& output) {
  fs::remove(output);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    try {
      const auto recording = gprofml::profile::read_spool_folder(folder.string());
      gprofml::profile::write_run_db(recording.trace, output.string());
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) {
    throw std::runtime_error("the merge failed");
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), wall.count(),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

void measure() {
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("gprofml-bench-merge-{}", ::getpid());
  fs::create_directories(folder / "spools");
  try {
    write_spool(folder / "spools" / "host-1-1-1.spool");
    Cost best{1e9, 1e9, 0};
    for (int round = 0; round < 3; ++round) {
      const Cost cost = recover(folder / "spools", folder / "run.db");
      best.cpu_s = std::min(best.cpu_s, cost.cpu_s);
      best.wall_s = std::min(best.wall_s, cost.wall_s);
      best.peak_mib = std::max(best.peak_mib, cost.peak_mib);
    }
    bench::report_at_least("merge_rows_per_s", kRows / best.cpu_s, "rows/s", 1e6);
    bench::report_at_most("merge_peak_mib", best.peak_mib, "MiB", 256);
    bench::report("merge_wall_rows_per_s", kRows / best.wall_s, "rows/s", "", true);
  } catch (...) {
    fs::remove_all(folder);
    throw;
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(
      argc, argv, {{{"merge_rows_per_s", "merge_peak_mib", "merge_wall_rows_per_s"}, measure}});
}
