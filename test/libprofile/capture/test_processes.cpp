// Recordings of several processes, and of processes that did not end well.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "libanalysis/analyze.hpp"
#include "libprofile/store/store.hpp"
#include "test/libprofile/capture/merge_support.hpp"
#include "test/libprofile/trace/difference.hpp"

namespace gprofml::test {
namespace {

using profile::Recording;
using profile::SpoolEnd;
using profile::Trace;
using Texts = std::vector<std::string>;

/// A process with one kernel of 100 ns from `start` on a device of that UUID, launched by call 1.
RecordedProcess one_kernel(std::uint32_t pid, std::uint8_t uuid, std::int64_t start,
                           std::string_view name) {
  RecordedProcess p(pid, 1'000'000'000 + pid);
  p.device(0, uuid);
  p.context(1, 0, 7);
  p.push("op " + std::string(name), pid, start - 50);
  p.call("cudaLaunchKernel_v7000", pid, start - 40, start - 30, 1);
  p.pop(pid, start - 20);
  p.kernel(name, 7, start, start + 100, 1);
  p.end();
  return p;
}

TEST_CASE("two processes on one device are one device with the union busy") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 1, 1060, "kb");
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  const Trace t = folder.merge().trace;
  CHECK(t.processes.size() == 2);
  CHECK(t.contexts.size() == 2);
  REQUIRE(t.devices.size() == 1);
  // Both used correlation 1, each launched its own.
  for (const std::string name : {"ka", "kb"}) {
    const auto kernel = row_named(t, t.kernels, name);
    const auto call = t.kernels.launch[kernel];
    CHECK(t.processes[t.threads[t.api_calls.thread[call]].process].pid == (name == "ka" ? 10 : 20));
  }
  const analysis::Report report = analysis::analyze(t, {});
  REQUIRE(report.devices.size() == 1);
  CHECK(report.devices[0].timeline.busy_ns == 160);  // 1000-1160, not 200
  CHECK(report.devices[0].processes == std::vector<std::int64_t>{10, 20});
}

TEST_CASE("two ranks that both say device 0 are two devices") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 2, 1060, "kb");
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  const Trace t = folder.merge().trace;
  REQUIRE(t.devices.size() == 2);
  const analysis::Report report = analysis::analyze(t, {});
  REQUIRE(report.devices.size() == 2);
  CHECK(report.devices[0].timeline.busy_ns == 100);
  CHECK(report.devices[1].timeline.busy_ns == 100);
}

TEST_CASE("a recording survives run.db") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 1, 1060, "kb");
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  const Trace t = folder.merge().trace;
  const std::string path = folder.folder / "run.db";
  profile::write_run_db(t, path);
  CHECK(first_difference(t, profile::read_run_db(path)) == "");
}

TEST_CASE("the names of the spools change nothing but their order and source") {
  const auto kernels = [](const char* first, const char* second) {
    SpoolFolder folder;
    RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 1, 1060, "kb");
    folder.add(a, first);
    folder.add(b, second);
    const Recording recording = folder.merge();
    REQUIRE(recording.processes.size() == 2);
    CHECK(recording.processes[0].pid == 10);
    CHECK(recording.processes[1].pid == 20);
    CHECK(recording.processes[0].spool == first);
    CHECK(recording.trace.meta.at("start_ns") == "1000000010");
    return recording.trace.kernels.start_ns;
  };
  CHECK(kernels("a.spool", "b.spool") == kernels("b.spool", "a.spool"));
}

TEST_CASE("a process that did nothing is listed only where there is no other") {
  RecordedProcess a = one_kernel(10, 1, 1000, "ka");
  RecordedProcess helper(11);
  helper.spool.fact("nvtx", "recorded");
  helper.end();
  RecordedProcess nothing(12);
  nothing.spool = SpoolWriter(12);  // a header only
  RecordedProcess refused(13);
  refused.spool.fact("cuda", "no driver");
  refused.end();
  SpoolFolder folder;
  folder.add(helper, "b.spool");
  folder.add(nothing, "c.spool");
  const Recording idle = folder.merge();
  REQUIRE(idle.processes.size() == 2);
  for (const profile::RecordedProcess& p : idle.processes) {
    CHECK(p.end == (p.pid == 12 ? SpoolEnd::abrupt : SpoolEnd::orderly));
    CHECK(p.cuda.empty());
  }
  CHECK(notes_of(idle.trace) == Texts{"ended_abruptly 1"});
  CHECK(detail_of(idle.trace, "ended_abruptly") == "pid 12 ended before anything was written");
  CHECK(idle.trace.meta.count("idle_processes") == 0);
  folder.add(a, "a.spool");
  folder.add(refused, "d.spool");
  const Recording recording = folder.merge();
  REQUIRE(recording.processes.size() == 2);
  CHECK(recording.processes[0].pid == 10);
  CHECK(recording.processes[1].pid == 13);  // it says why
  CHECK(recording.trace.processes.size() == 2);
  CHECK(notes_of(recording.trace) == Texts{"cuda_not_recorded 1"});
  CHECK(recording.trace.meta.at("idle_processes") == "2");
}

TEST_CASE(
    "without an End record the process was killed, is still running, or its file is damaged") {
  RecordedProcess p(10);
  p.kernel("k", 7, 100, 200, 0);
  p.spool.written_ns = 1'772'368'205'250'000'000;
  p.spool.end_chunk();
  p.kernel("k", 7, 300, 400, 0);
  const std::string bytes = p.spool.bytes();
  const std::size_t first = p.spool.chunk_ends()[0];
  const auto merge = [](const std::string& content, bool held) {
    const SpoolFolder folder;
    std::ofstream(folder.folder / "a.spool", std::ios::binary) << content;
    const int writer = ::open((folder.folder / "a.spool").c_str(), O_WRONLY | O_CLOEXEC);
    if (held) ::flock(writer, LOCK_EX);
    Recording recording = folder.merge();
    ::close(writer);
    return recording;
  };
  const Recording killed = merge(bytes.substr(0, bytes.size() - 3), false);
  CHECK(killed.trace.kernels.size() == 1);
  CHECK(killed.processes[0].end == SpoolEnd::abrupt);
  CHECK(killed.processes[0].last_written_ns == 1'772'368'205'250'000'000);
  CHECK(killed.processes[0].bytes == bytes.size() - 3);
  CHECK(killed.processes[0].lost_bytes == bytes.size() - 3 - first);
  CHECK(notes_of(killed.trace) == Texts{"ended_abruptly 1"});
  CHECK(detail_of(killed.trace, "ended_abruptly") ==
        "pid 10 was killed, replaced itself, ended by _exit or took the recorder's file away; "
        "written up to 2026-03-01 12:30:05.250 UTC");
  CHECK(killed.trace.meta.at("end") == "abrupt");

  const Recording running = merge(bytes, true);
  CHECK(running.trace.kernels.size() == 2);
  CHECK(running.processes[0].end == SpoolEnd::still_running);
  CHECK(notes_of(running.trace) == Texts{"still_running 1"});

  std::string flipped = bytes;
  flipped[first + 40] = static_cast<char>(flipped[first + 40] ^ 4);
  const Recording damaged = merge(flipped, false);
  CHECK(damaged.trace.kernels.size() == 1);
  CHECK(damaged.processes[0].end == SpoolEnd::damaged);
  CHECK(notes_of(damaged.trace) == Texts{"damaged_spool " + std::to_string(bytes.size() - first)});
  const std::string detail = detail_of(damaged.trace, "damaged_spool");
  CHECK(detail.find("pid 10: read up to byte " + std::to_string(first) + ", where ") == 0);
  CHECK(detail.find("; the " + std::to_string(bytes.size() - first) +
                    " bytes behind it are lost") != std::string::npos);
}

TEST_CASE("a merge of the same spools gives the same tables, whatever happened to the launcher") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 1, 1060, "kb");
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  CHECK(first_difference(folder.merge().trace, folder.merge().trace) == "");
}

TEST_CASE("files that are no spool, or of a newer version, do not stop the others") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka");
  folder.add(a, "a.spool");
  std::ofstream(folder.folder / "b.spool") << "text";
  std::ofstream(folder.folder / "c.spool") << std::string(100, 'x');
  std::ofstream(folder.folder / "notes.txt") << "not looked at";
  const Recording recording = folder.merge();
  CHECK(recording.processes.size() == 1);
  CHECK(recording.trace.kernels.size() == 1);
  CHECK(notes_of(recording.trace) == Texts{"empty_spool 1", "unreadable_spool 1"});
  CHECK(detail_of(recording.trace, "empty_spool").find("b.spool: ends before its header") !=
        std::string::npos);
}

TEST_CASE("folders without a spool that can be read") {
  const auto refusal = [](const std::string& folder) {
    try {
      profile::merge_spools(folder);
    } catch (const profile::CaptureError& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
      return std::string(error.what());
    }
    return std::string("none");
  };
  const TemporaryFolder folder;
  CHECK(refusal(folder.path().string()).find("holds no spool file") != std::string::npos);
  CHECK_FALSE(profile::is_spool_folder(folder.path().string()));
  std::ofstream(folder / "x.spool") << "text";
  CHECK(refusal(folder.path().string()).find("x.spool: ends before its header") !=
        std::string::npos);
  CHECK(refusal(folder.path().string()).find("nothing that can be recovered and can be deleted") !=
        std::string::npos);
  {  // a writer that has only just begun
    const int writer = ::open((folder / "x.spool").c_str(), O_WRONLY | O_CLOEXEC);
    ::flock(writer, LOCK_EX);
    CHECK(refusal(folder.path().string()).find("can be deleted") == std::string::npos);
    ::close(writer);
  }
  CHECK(profile::is_spool_folder(folder.path().string()));
  CHECK(refusal(folder / "missing").find("cannot be listed: ") != std::string::npos);
  CHECK_FALSE(profile::is_spool_folder(folder / "x.spool"));
  CHECK_FALSE(profile::is_spool_folder(folder / "missing"));
  const TemporaryFolder with_manifest;
  std::ofstream(with_manifest / "manifest") << "text";
  CHECK(profile::is_spool_folder(with_manifest.path().string()));
}

TEST_CASE("losses, reasons and notes of the recorder become quality notes") {
  RecordedProcess p;
  p.spool.fact("cuda", "not recorded: another tool holds CUPTI");
  p.spool.fact("nvtx", "NVTX_INJECTION64_PATH was set by another tool");
  spool::Status status{};
  status.realtime_ns = 1000;
  status.monotonic_ns = 500;
  status.cupti_dropped = 1;
  p.spool.add(status);
  status.realtime_ns += 300'000'000 + 900'000;  // drift within what is usual
  status.monotonic_ns += 300'000'000;
  p.spool.add(status);
  status.realtime_ns += 300'000'000 - 5'000'000'000;  // set back by 5 s
  status.monotonic_ns += 300'000'000;
  status.cupti_ns = 77;
  status.cupti_dropped = 11;
  status.discarded = 12;
  status.ranges_lost = 13;
  status.unknown_records = 14;
  status.incomplete_records = 15;
  status.writer_cpu_ns = 16;
  p.spool.add(status);
  p.note("odd_thing", "it happened", 3);
  p.note("odd_thing", "it happened", 4);
  p.spool.add(spool::RangePop{}, static_cast<spool::RecordKind>(9999));
  p.spool.raw(bytes_of(spool::RecordHeader{spool::RecordKind::kernel, 0, 8}));  // too short
  p.spool.end_chunk();
  spool::RangePush push{};
  push.tid = 1;
  push.name = 12345;    // never written
  push.domain = 54321;  // never written
  p.spool.add(push);
  p.pop(1, 10, 54321);
  p.end(spool::EndReason::write_failed);
  const Recording recording = merged(p);
  CHECK(notes_of(recording.trace) ==
        Texts{"clock_step 1", "cuda_not_recorded 1", "discarded_records 12", "dropped_records 11",
              "incomplete_records 15", "malformed_records 1", "missing_names 3",
              "nvtx_not_recorded 1", "odd_thing 7", "ranges_lost 13", "unknown_records 14",
              "unknown_spool_records 1", "write_failed 1"});
  CHECK(detail_of(recording.trace, "cuda_not_recorded") ==
        "pid 100: not recorded: another tool holds CUPTI");
  CHECK(recording.processes[0].end == SpoolEnd::write_failed);
  CHECK(recording.trace.meta.at("end") == "write_failed");
  CHECK(detail_of(recording.trace, "write_failed") ==
        "pid 100 could not write any more of what it recorded");
  CHECK(recording.processes[0].cuda == "not recorded: another tool holds CUPTI");
  CHECK(recording.processes[0].nvtx == "NVTX_INJECTION64_PATH was set by another tool");
  CHECK(recording.trace.meta.at("writer_cpu_ns") == "16");
}

TEST_CASE("a simulated process marks the recording, and its clocks are not judged") {
  SpoolFolder folder;
  RecordedProcess a(10), b(20);
  a.spool.fact("simulated", "1");
  spool::Status status{};
  status.realtime_ns = 1;
  a.spool.add(status);
  status.realtime_ns = 1'000'000'000;
  a.spool.add(status);
  a.spool.fact("level", "1");
  b.spool.fact("level", "2");
  b.spool.fact("driver_version", "13.0");
  a.end();
  b.end();
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  const Trace t = folder.merge().trace;
  CHECK(notes_of(t).empty());
  CHECK(t.meta.at("simulated") == "true");
  CHECK(t.meta.count("level") == 0);
  CHECK(t.meta.at("process.0.level") == "1");
  CHECK(t.meta.at("process.1.level") == "2");
  CHECK(t.meta.at("driver_version") == "13.0");
}

TEST_CASE("progress goes from nothing to all bytes") {
  SpoolFolder folder;
  RecordedProcess a = one_kernel(10, 1, 1000, "ka"), b = one_kernel(20, 1, 1060, "kb");
  folder.add(a, "a.spool");
  folder.add(b, "b.spool");
  std::vector<std::uint64_t> done;
  std::uint64_t all = 0;
  profile::MergeOptions options;
  options.progress = [&](std::uint64_t bytes, std::uint64_t total) {
    done.push_back(bytes);
    all = total;
  };
  profile::merge_spools(folder.folder.path().string(), options);
  REQUIRE_FALSE(done.empty());
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(done.back() == all);
  CHECK(all == a.spool.bytes().size() + b.spool.bytes().size());
}

}  // namespace
}  // namespace gprofml::test
