// Spools made by hand become the tables one expects.
#include <catch2/catch.hpp>

#include "test/libprofile/capture/merge_support.hpp"

namespace gprofml::test {
namespace {

using profile::kNoRow;
using profile::kUnknown;
using profile::RowIndex;
using profile::Trace;
using Texts = std::vector<std::string>;

TEST_CASE("a short kernel says what a kernel says") {
  RecordedProcess p;
  p.device(0, 0xab);
  p.context(1, 0, 7);
  spool::Place place{};
  place.id = 4;
  place.context = 1;
  place.stream = 13;
  p.spool.add(place);
  spool::ShortKernel kernel{};
  kernel.start_ns = 1'000'000'000'000;
  kernel.duration_ns = 0xffffffffU;
  kernel.graph_node = 77;
  kernel.graph = 3;
  kernel.name = p.spool.string("_Z5saxpyifPKfPf");
  kernel.place = 4;
  kernel.correlation = 5;
  kernel.launch_config = spool::kNoId;
  p.spool.add(kernel);
  p.kernel("_Z5saxpyifPKfPf", 13, 1'000'000'000'000, 1'004'294'967'295, 5, 3, 77);
  kernel.place = 5;  // never written
  p.spool.add(kernel);
  p.end();

  const profile::Recording recording = merged(p);
  const Trace& t = recording.trace;
  CHECK(notes_of(t) == Texts{"unknown_graph_nodes 1", "unplaced_records 1"});
  REQUIRE(t.kernels.size() == 2);
  CHECK(t.kernels.start_ns[0] == t.kernels.start_ns[1]);
  CHECK(t.kernels.end_ns[0] == 1'004'294'967'295);
  CHECK(t.kernels.end_ns[1] == 1'004'294'967'295);
  CHECK(t.kernels.name[0] == t.kernels.name[1]);
  CHECK(t.kernels.stream[0] == t.kernels.stream[1]);
  CHECK(t.kernels.correlation[0] == t.kernels.correlation[1]);
  CHECK(t.kernels.graph_node[0] == 0);
  CHECK(t.kernels.graph_node[1] == 0);
}

TEST_CASE("a process with one of everything") {
  RecordedProcess p;
  p.spool.fact("level", "1");
  p.spool.fact("cuda", "recorded");
  p.spool.fact("nvtx", "recorded");
  p.spool.fact("cupti_version", "26");
  p.device(0, 0xab);
  p.context(1, 0, 7);
  p.stream(1, 13, 2, -5);
  spool::Thread thread{};
  thread.tid = 101;
  thread.name = p.spool.string("main");
  p.spool.add(thread);
  spool::LaunchConfig config{};
  config.id = 3;
  config.grid[0] = 128;
  config.grid[1] = config.grid[2] = 1;
  config.block[0] = 256;
  config.block[1] = config.block[2] = 1;
  config.registers_per_thread = 40;
  config.dynamic_shared_bytes = 1024;
  p.spool.add(config);
  p.push("step", 101, 900);
  p.call("cudaLaunchKernel_v7000", 101, 1000, 1010, 5);
  p.call("cudaMemcpyAsync_ptsz_v7000", 101, 1020, 1030, 6);
  p.call("cuMemsetD8Async_v2", 101, 1040, 1050, 7, 1, 700);
  p.pop(101, 1100);
  spool::Kernel kernel{};
  kernel.start_ns = 1015;
  kernel.end_ns = 1200;
  kernel.name = p.spool.string("_Z5saxpyifPKfPf");
  kernel.context = 1;
  kernel.stream = 13;
  kernel.correlation = 5;
  kernel.launch_config = 3;
  p.spool.add(kernel);
  spool::Copy copy{};
  copy.start_ns = 1200;
  copy.end_ns = 1300;
  copy.bytes = 4096;
  copy.context = 1;
  copy.stream = 13;
  copy.correlation = 6;
  copy.copy_kind = 1;
  copy.source_memory = 1;
  copy.target_memory = 3;
  p.spool.add(copy);
  spool::Fill fill{};
  fill.start_ns = 1300;
  fill.end_ns = 1310;
  fill.bytes = 64;
  fill.context = 1;
  fill.stream = 7;
  fill.correlation = 7;
  fill.memory = 3;
  p.spool.add(fill);
  spool::Overhead overhead{};
  overhead.start_ns = 950;
  overhead.end_ns = 960;
  overhead.kind = 5U << 16;
  overhead.tid = 101;
  p.spool.add(overhead);
  p.end();

  const profile::Recording recording = merged(p);
  const Trace& t = recording.trace;
  CHECK(notes_of(t).empty());

  REQUIRE(t.processes.size() == 1);
  CHECK(t.processes[0].pid == 100);
  CHECK(t.text(t.processes[0].host) == "node1");
  CHECK(t.text(t.processes[0].source) == "a.spool");
  CHECK(t.text(t.processes[0].command) == "./train --steps 'three more'");
  REQUIRE(t.threads.size() == 1);
  CHECK(t.threads[0] == profile::Thread{0, 100, 101, t.threads[0].name});
  CHECK(t.text(t.threads[0].name) == "main");
  REQUIRE(t.devices.size() == 1);
  CHECK(t.devices[0].ordinal == 0);
  CHECK(t.devices[0].process == kNoRow);
  CHECK(t.text(t.devices[0].uuid) == "GPU-abababab-abab-abab-abab-abababababab");
  CHECK(t.text(t.devices[0].name) == "NVIDIA H100");
  CHECK(t.text(t.devices[0].host) == "node1");
  CHECK(t.devices[0].memory_bytes == 80'000'000'000);
  CHECK(t.devices[0].multiprocessors == 132);
  CHECK(t.devices[0].compute_major == 9);
  CHECK(t.contexts == std::vector<profile::Context>{{0, 0, 1}});
  CHECK(t.streams ==
        std::vector<profile::Stream>{{0, 7, profile::StreamKind::null_stream, kUnknown},
                                     {0, 13, profile::StreamKind::non_blocking, -5}});

  REQUIRE(t.api_calls.size() == 3);
  CHECK(t.text(t.api_calls.name[0]) == "cudaLaunchKernel");
  CHECK(t.text(t.api_calls.name[1]) == "cudaMemcpyAsync_ptsz");
  CHECK(t.text(t.api_calls.name[2]) == "cuMemsetD8Async_v2");
  CHECK(t.api_calls.start_ns == std::vector<std::int64_t>{1000, 1020, 1040});
  CHECK(t.api_calls.end_ns == std::vector<std::int64_t>{1010, 1030, 1050});
  CHECK(t.api_calls.kind[2] == profile::ApiKind::driver);
  CHECK(t.api_calls.result == std::vector<std::int64_t>{0, 0, 700});
  CHECK(t.api_calls.correlation == std::vector<std::int64_t>{5, 6, 7});

  REQUIRE(t.kernels.size() == 1);
  CHECK(t.text(t.kernels.name[0]) == "saxpy(int, float, float const*, float*)");
  CHECK(t.kernels.start_ns[0] == 1015);
  CHECK(t.kernels.end_ns[0] == 1200);
  CHECK(t.kernels.stream[0] == 1);
  CHECK(t.kernels.launch[0] == 0);
  CHECK(t.kernels.correlation[0] == 5);
  CHECK(t.kernels.graph_node[0] == kNoRow);
  REQUIRE(t.kernels.launch_config[0] == 0);
  CHECK(t.launch_configs[0].grid == std::array<std::int64_t, 3>{128, 1, 1});
  CHECK(t.launch_configs[0].block == std::array<std::int64_t, 3>{256, 1, 1});
  CHECK(t.launch_configs[0].cluster[0] == kUnknown);
  CHECK(t.launch_configs[0].registers_per_thread == 40);
  CHECK(t.launch_configs[0].dynamic_shared_bytes == 1024);

  REQUIRE(t.copies.size() == 1);
  CHECK(t.text(t.copies.name[0]) == "Memcpy HtoD (Pageable -> Device)");
  CHECK(t.copies.bytes[0] == 4096);
  CHECK(t.copies.kind[0] == profile::CopyKind::host_to_device);
  CHECK(t.copies.source_memory[0] == profile::MemoryKind::pageable);
  CHECK(t.copies.target_memory[0] == profile::MemoryKind::device);
  CHECK(t.copies.launch[0] == 1);
  REQUIRE(t.fills.size() == 1);
  CHECK(t.text(t.fills.name[0]) == "Memset (Device)");
  CHECK(t.fills.bytes[0] == 64);
  CHECK(t.fills.launch[0] == 2);
  CHECK(t.fills.stream[0] == 0);
  CHECK(Texts{std::to_string(t.kernels.sequence[0]), std::to_string(t.copies.sequence[0]),
              std::to_string(t.fills.sequence[0])} == Texts{"0", "1", "2"});

  REQUIRE(t.ranges.size() == 1);
  CHECK(t.text(t.ranges.name[0]) == "step");
  CHECK(t.ranges.kind[0] == profile::RangeKind::push_pop);
  CHECK(t.ranges.start_ns[0] == 900);
  CHECK(t.ranges.end_ns[0] == 1100);
  REQUIRE(t.overheads.size() == 1);
  CHECK(t.text(t.overheads.kind[0]) == "lazy function loading");
  CHECK(t.overheads.process[0] == 0);
  CHECK(t.overheads.thread[0] == 0);

  CHECK(t.meta.at("command") == "./train --steps 'three more'");
  CHECK(t.meta.at("host") == "node1");
  CHECK(t.meta.at("start_ns") == "1000000000");
  CHECK(t.meta.at("level") == "1");
  CHECK(t.meta.at("cuda") == "recorded");
  CHECK(t.meta.at("cupti_version") == "26");
  CHECK(t.meta.at("end") == "orderly");
  CHECK(t.meta.count("simulated") == 0);
  REQUIRE(recording.processes.size() == 1);
  CHECK(recording.processes[0].pid == 100);
  CHECK(recording.processes[0].cuda == "recorded");
  CHECK(recording.processes[0].end == profile::SpoolEnd::orderly);
  CHECK(recording.processes[0].lost_bytes == 0);
}

TEST_CASE("numbers of CUPTI as kinds and names") {
  using profile::CopyKind;
  using profile::MemoryKind;
  // cupti_activity.h of CUDA 13.
  const std::vector<std::pair<CopyKind, std::string>> copies{
      {CopyKind::unknown, "Unknown"},       {CopyKind::host_to_device, "HtoD"},
      {CopyKind::device_to_host, "DtoH"},   {CopyKind::host_to_array, "HtoA"},
      {CopyKind::array_to_host, "AtoH"},    {CopyKind::array_to_array, "AtoA"},
      {CopyKind::array_to_device, "AtoD"},  {CopyKind::device_to_array, "DtoA"},
      {CopyKind::device_to_device, "DtoD"}, {CopyKind::host_to_host, "HtoH"},
      {CopyKind::peer_to_peer, "PtoP"},     {CopyKind::unknown, "Unknown"}};
  const std::vector<std::pair<MemoryKind, std::string>> memory{
      {MemoryKind::unknown, "Unknown"},
      {MemoryKind::pageable, "Pageable"},
      {MemoryKind::pinned, "Pinned"},
      {MemoryKind::device, "Device"},
      {MemoryKind::array, "Array"},
      {MemoryKind::managed, "Managed"},
      {MemoryKind::device_static, "Device Static"},
      {MemoryKind::managed, "Managed Static"},
      {MemoryKind::unknown, "Unknown"}};
  RecordedProcess p;
  for (std::size_t kind = 0; kind < copies.size(); ++kind) {
    spool::Copy copy{};
    copy.start_ns = copy.end_ns = static_cast<std::int64_t>(100 + kind);
    copy.copy_kind = static_cast<std::uint8_t>(kind);
    copy.source_memory = static_cast<std::uint8_t>(kind % memory.size());
    copy.target_memory = static_cast<std::uint8_t>((kind + 1) % memory.size());
    p.spool.add(copy);
  }
  for (std::size_t kind = 0; kind < memory.size(); ++kind) {
    spool::Fill fill{};
    fill.start_ns = fill.end_ns = static_cast<std::int64_t>(100 + kind);
    fill.memory = static_cast<std::uint8_t>(kind);
    p.spool.add(fill);
  }
  const std::vector<std::pair<std::uint32_t, std::string>> overheads{
      {0, "unknown"},
      {1, "driver compiler"},
      {1U << 16, "CUPTI buffer flush"},
      {8U << 16, "UVM activity init"},
      {9U << 16, "kind 589824"},
      {2, "kind 2"}};
  for (std::size_t i = 0; i < overheads.size(); ++i) {
    spool::Overhead overhead{};
    overhead.start_ns = overhead.end_ns = static_cast<std::int64_t>(100 + i);
    overhead.kind = overheads[i].first;
    p.spool.add(overhead);
  }
  const Trace t = merged(p).trace;
  REQUIRE(t.copies.size() == copies.size());
  for (std::size_t kind = 0; kind < copies.size(); ++kind) {
    CHECK(t.copies.kind[kind] == copies[kind].first);
    CHECK(t.copies.source_memory[kind] == memory[kind % memory.size()].first);
    CHECK(t.text(t.copies.name[kind]) == "Memcpy " + copies[kind].second + " (" +
                                             memory[kind % memory.size()].second + " -> " +
                                             memory[(kind + 1) % memory.size()].second + ")");
  }
  for (std::size_t kind = 0; kind < memory.size(); ++kind) {
    CHECK(t.fills.memory[kind] == memory[kind].first);
    CHECK(t.text(t.fills.name[kind]) == "Memset (" + memory[kind].second + ")");
  }
  for (std::size_t i = 0; i < overheads.size(); ++i) {
    CHECK(t.text(t.overheads.kind[i]) == overheads[i].second);
    CHECK(t.overheads.thread[i] == kNoRow);
  }
}

TEST_CASE("kernel names that are no C++ stay, calls lose CUPTI's version only") {
  RecordedProcess p;
  const Texts kernels{"plain_c_kernel", "_Z", "_Zbroken", "", "_ZN3foo3barIfEEvPT_"};
  const Texts calls{"cudaMalloc_v3020",
                    "cudaFree_v3020",
                    "cuMemAlloc_v2",
                    "cudaLaunchKernelExC_v11060",
                    "cudaGraphLaunch_ptsz_v10000",
                    "_v3020",
                    "x_v"};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    p.kernel(kernels[i], 7, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1, 0);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    p.call(calls[i], 1, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i), 0);
  }
  const Trace t = merged(p).trace;
  Texts kernel_names, call_names;
  for (const profile::StringId name : t.kernels.name) kernel_names.emplace_back(t.text(name));
  for (const profile::StringId name : t.api_calls.name) call_names.emplace_back(t.text(name));
  CHECK(kernel_names ==
        Texts{"plain_c_kernel", "_Z", "_Zbroken", "", "void foo::bar<float>(float*)"});
  CHECK(call_names == Texts{"cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cudaLaunchKernelExC",
                            "cudaGraphLaunch_ptsz", "_v3020", "x_v"});
  CHECK(t.kernels.correlation[0] == kUnknown);
  CHECK(t.kernels.launch[0] == kNoRow);
}

TEST_CASE("a runtime call and the driver call inside share an id: the outer one launched") {
  RecordedProcess p;
  p.call("cuLaunchKernel", 1, 110, 120, 9, 1);
  p.call("cudaLaunchKernel_v7000", 1, 100, 130, 9);
  p.kernel("k", 7, 140, 150, 9);
  const Trace t = merged(p).trace;
  CHECK(t.text(t.api_calls.name[t.kernels.launch[0]]) == "cudaLaunchKernel");
}

TEST_CASE("contexts, streams and devices may be described after the work that names them") {
  RecordedProcess p;
  p.kernel("k", 7, 10, 20, 0);
  p.kernel("k", 8, 10, 20, 0);
  p.stream(1, 8, 1, 3);
  p.context(1, 0, 7);
  p.device(0, 1);
  p.stream(9, 1, 1);  // of a context that nothing describes
  const Trace t = merged(p).trace;
  REQUIRE(t.streams.size() == 2);
  CHECK(t.streams[0].flags == profile::StreamKind::null_stream);
  CHECK(t.streams[1].flags == profile::StreamKind::blocking);
  CHECK(t.streams[1].priority == 3);
  CHECK(t.text(t.devices[0].uuid).substr(0, 12) == "GPU-01010101");
  CHECK(notes_of(t) == Texts{"ended_abruptly 1", "unplaced_records 1"});
}

TEST_CASE("a MIG instance is a device of its own") {
  RecordedProcess p;
  p.device(0, 1, 2);
  const Trace t = merged(p).trace;
  REQUIRE(t.devices.size() == 1);
  CHECK(t.text(t.devices[0].uuid) == "MIG-02020202-0202-0202-0202-020202020202");
}

TEST_CASE("work whose end lies before its start has lost its times, other records are left out") {
  RecordedProcess p;
  p.kernel("k", 7, 20, 10, 0);
  p.kernel("lost", 7, 0, 0, 0);
  p.call("c", 1, 20, 10, 1);
  p.sync(4, spool::kNoId, 20, 10, 1);
  p.push("r", 1, 20);
  p.pop(1, 10);
  p.end();
  const Trace t = merged(p).trace;
  CHECK(t.kernels.size() == 2);
  CHECK(t.kernels.start_ns == std::vector<std::int64_t>{0, 0});
  CHECK(t.kernels.end_ns == std::vector<std::int64_t>{0, 0});
  CHECK(t.api_calls.size() == 0);
  CHECK(t.syncs.size() == 0);
  CHECK(t.ranges.size() == 0);
  CHECK(notes_of(t) == Texts{"bad_times 4"});
}

TEST_CASE("ranges: nested, of two domains and threads, crossing, open, never opened") {
  RecordedProcess p;
  spool::Domain domain{};
  domain.id = 4;
  domain.name = p.spool.string("nccl");
  p.spool.add(domain);
  p.pop(1, 5);  // nothing is open
  p.push("outer", 1, 10);
  p.push("inner", 1, 20);
  p.push("all_reduce", 1, 25, 4);
  p.push("other thread", 2, 26);
  p.pop(1, 30);  // inner
  p.range_start("request", 77, 1, 35);
  p.pop(1, 40, 4);
  p.mark("here", 1, 41);
  p.pop(1, 50);
  p.range_end(77, 2, 60);
  p.range_end(77, 2, 61);  // ended before
  p.range_start("never ended", 78, 2, 70);
  p.call("c", 1, 80, 90, 1);
  p.end();
  const profile::Recording recording = merged(p);
  const Trace& t = recording.trace;
  Texts found;
  for (RowIndex r = 0; r < t.ranges.size(); ++r) {
    found.push_back(std::string(t.text(t.ranges.name[r])) + " " +
                    std::to_string(t.ranges.start_ns[r]) + "-" +
                    std::to_string(t.ranges.end_ns[r]) + " tid " +
                    std::to_string(t.threads[t.ranges.thread[r]].tid) + " kind " +
                    std::to_string(static_cast<int>(t.ranges.kind[r])) + " " +
                    std::string(t.text(t.ranges.domain[r])));
  }
  CHECK(found == Texts{"outer 10-50 tid 1 kind 2 ", "inner 20-30 tid 1 kind 2 ",
                       "all_reduce 25-40 tid 1 kind 2 nccl", "other thread 26-90 tid 2 kind 2 ",
                       "request 35-60 tid 1 kind 3 ", "here 41-41 tid 1 kind 3 ",
                       "never ended 70-90 tid 2 kind 3 "});
  CHECK(notes_of(t) == Texts{"open_ranges 2", "unopened_range_ends 2"});
}

TEST_CASE("waits for events find the record, by CUPTI's id or by the order of calls") {
  const bool with_ids = GENERATE(true, false);
  const auto id = [&](std::uint64_t n) { return with_ids ? n : ~std::uint64_t{0}; };
  RecordedProcess p;
  p.context(1, 0, 7);
  p.stream(1, 20, 2);
  p.stream(1, 21, 2);
  // Event 5 is recorded twice, on two streams; each wait means the record before it.
  p.call("cudaEventRecord_v3020", 1, 100, 110, 1);
  p.event(5, 20, 1, id(1000), 105);
  p.call("cudaStreamWaitEvent_v3020", 1, 120, 130, 2);
  p.sync(2, 21, 120, 130, 2, 5, id(1000));
  p.call("cudaEventRecord_v3020", 1, 140, 150, 3);
  p.event(5, 21, 3, id(1001));
  p.call("cudaEventSynchronize_v3020", 1, 160, 200, 4);
  p.sync(1, spool::kNoId, 160, 200, 4, 5, id(1001));
  p.call("cudaStreamSynchronize_v3020", 1, 210, 220, 5);
  p.sync(3, 20, 210, 220, 5);
  p.call("cudaDeviceSynchronize_v3020", 1, 230, 240, 6);
  p.sync(4, spool::kNoId, 230, 240, 6);
  // An event that was never recorded.
  p.call("cudaStreamWaitEvent_v3020", 1, 250, 260, 7);
  p.sync(2, 21, 250, 260, 7, 6, ~std::uint64_t{0});
  p.end();
  const Trace t = merged(p).trace;
  CHECK(notes_of(t).empty());
  using profile::SyncKind;
  CHECK(t.syncs.kind == std::vector<SyncKind>{SyncKind::stream_wait_event, SyncKind::event,
                                              SyncKind::stream, SyncKind::context,
                                              SyncKind::stream_wait_event});
  const auto stream_id = [&](RowIndex row) { return row == kNoRow ? -1 : t.streams[row].id; };
  std::vector<std::int64_t> streams, event_streams, record_starts, call_starts;
  for (RowIndex s = 0; s < t.syncs.size(); ++s) {
    CHECK(t.syncs.device[s] == 0);
    streams.push_back(stream_id(t.syncs.stream[s]));
    event_streams.push_back(stream_id(t.syncs.event_stream[s]));
    const RowIndex record = t.syncs.event_record[s];
    record_starts.push_back(record == kNoRow ? -1 : t.api_calls.start_ns[record]);
    call_starts.push_back(t.api_calls.start_ns[t.syncs.call[s]]);
  }
  CHECK(streams == std::vector<std::int64_t>{21, -1, 20, -1, 21});
  CHECK(event_streams == std::vector<std::int64_t>{20, 21, -1, -1, -1});
  CHECK(record_starts == std::vector<std::int64_t>{100, 140, -1, -1, -1});
  CHECK(call_starts == std::vector<std::int64_t>{120, 160, 210, 230, 250});
  CHECK(t.syncs.event_id == std::vector<std::int64_t>{5, 5, kUnknown, kUnknown, 6});
  CHECK(t.cuda_events.event_id == std::vector<std::int64_t>{5, 5});
  CHECK(t.cuda_events.time_ns == std::vector<std::int64_t>{105, kUnknown});
  CHECK(t.cuda_events.call == std::vector<RowIndex>{0, 2});
  CHECK(stream_id(t.cuda_events.stream[0]) == 20);
}

TEST_CASE("a wait on another device's stream finds it beside the event's context") {
  RecordedProcess p;
  p.context(1, 0, 7);
  p.context(2, 1, 9);
  p.stream(1, 20, 2);
  p.stream(2, 30, 2);
  p.call("cudaEventRecord_v3020", 1, 100, 110, 1);
  p.event(5, 20, 1, 1000);
  p.call("cudaStreamWaitEvent_v3020", 1, 120, 130, 2);
  p.sync(2, 30, 120, 130, 2, 5, 1000, 1);  // context 1 is the event's
  const Trace t = merged(p).trace;
  REQUIRE(t.syncs.size() == 1);
  CHECK(t.streams[t.syncs.stream[0]].id == 30);
  CHECK(t.devices[t.syncs.device[0]].ordinal == 1);
  CHECK(t.streams[t.syncs.event_stream[0]].id == 20);
}

TEST_CASE("a replayed kernel has the range in which its node was captured") {
  RecordedProcess p;
  p.push("capture", 1, 0);
  p.range("layer 0", 1, 10, 20);
  p.range("layer 1", 1, 30, 40);
  p.pop(1, 50);
  p.range("elsewhere", 2, 0, 100);
  p.call("cudaLaunchKernel_v7000", 1, 11, 14, 1);
  p.node(1, 101, 1, 12, 0, 0, 0);
  p.node(1, 102, 1, 35, 0, 0, 2);
  p.node(1, 103, 1, 45);  // between the layers: the outer range
  p.node(1, 104, 1, 60);  // outside
  p.edge(101, 102);
  p.edge(102, 999);  // of a node that nothing tells of
  // Cloned, then instantiated, by another thread and in another range.
  p.call("cudaGraphInstantiate_v12000", 2, 70, 80, 2);
  p.node(2, 202, 2, 66, 1, 102, 2);
  p.node(3, 301, 2, 71, 1, 101);
  p.node(3, 302, 2, 72, 2, 202, 2);
  p.edge(301, 302);
  p.node(4, 400, 2, 75, 4, 400);   // a copy of itself
  p.node(4, 401, 2, 75, 4, 9999);  // a copy of something unknown
  p.kernel("a", 7, 200, 210, 9, 3, 301);
  p.kernel("b", 7, 210, 220, 9, 3, 302);
  p.kernel("c", 7, 220, 230, 9, 5, 555);  // of a graph that nothing tells of
  p.kernel("d", 7, 230, 240, 9, 4, 400);
  p.kernel("e", 7, 240, 250, 9, 4, 401);
  p.end();
  const Trace t = merged(p).trace;
  CHECK(notes_of(t) == std::vector<std::string>{"unknown_graph_nodes 1"});
  const auto of_kernel = [&](std::string_view name) -> const profile::GraphNode& {
    return t.graph_nodes[t.kernels.graph_node[row_named(t, t.kernels, name)]];
  };
  CHECK(of_kernel("a").graph_id == 3);
  CHECK(of_kernel("a").node_id == 301);
  CHECK(range_name(t, of_kernel("a").op) == "layer 0");
  CHECK(range_name(t, of_kernel("b").op) == "layer 1");
  CHECK(range_name(t, of_kernel("c").op) == "none");
  CHECK(range_name(t, of_kernel("d").op) == "none");
  CHECK(range_name(t, of_kernel("e").op) == "none");
  CHECK(t.text(of_kernel("a").type) == "kernel");
  CHECK(t.text(of_kernel("b").type) == "memset");
  CHECK(t.text(of_kernel("c").type).empty());
  const auto node = [&](std::int64_t id) -> const profile::GraphNode& {
    return *std::find_if(t.graph_nodes.begin(), t.graph_nodes.end(),
                         [&](const profile::GraphNode& n) { return n.node_id == id; });
  };
  CHECK(range_name(t, node(103).op) == "capture");
  CHECK(range_name(t, node(104).op) == "none");
  CHECK(t.text(t.api_calls.name[node(101).call]) == "cudaLaunchKernel");
  CHECK(t.text(t.api_calls.name[node(301).call]) == "cudaGraphInstantiate");
  CHECK(node(104).call == kNoRow);
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;
  for (const profile::GraphEdge& edge : t.graph_edges) {
    edges.emplace_back(t.graph_nodes[edge.source].node_id, t.graph_nodes[edge.target].node_id);
  }
  CHECK(edges == std::vector<std::pair<std::int64_t, std::int64_t>>{{101, 102}, {301, 302}});
}

TEST_CASE("copies of nodes have the edges of their originals when no edge of theirs is told") {
  RecordedProcess p;
  p.node(1, 101, 1, 10);
  p.node(1, 102, 1, 11);
  p.node(1, 103, 1, 12);
  p.edge(101, 102);
  p.edge(101, 103);
  p.node(2, 201, 1, 20, 1, 101);  // a clone without the third node
  p.node(2, 202, 1, 21, 1, 102);
  p.node(3, 302, 1, 31, 2, 202);  // the clone, instantiated
  p.node(3, 301, 1, 30, 2, 201);
  p.node(4, 401, 1, 40, 1, 101);  // a copy that is told of whole: one edge has been taken away
  p.node(4, 402, 1, 41, 1, 102);
  p.node(4, 403, 1, 42, 1, 103);
  p.edge(401, 403);
  p.node(5, 500, 1, 50, 5, 500);  // a copy of itself
  const Trace t = merged(p).trace;
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;
  for (const profile::GraphEdge& edge : t.graph_edges) {
    edges.emplace_back(t.graph_nodes[edge.source].node_id, t.graph_nodes[edge.target].node_id);
  }
  CHECK(edges == std::vector<std::pair<std::int64_t, std::int64_t>>{
                     {101, 102}, {101, 103}, {201, 202}, {301, 302}, {401, 403}});
}

TEST_CASE("start/end ranges tell the op where no push/pop does") {
  RecordedProcess p;
  p.range_start("attention", 1, 1, 10);
  p.node(1, 101, 1, 15);
  p.push("mlp", 1, 17);
  p.node(1, 102, 1, 18);
  p.pop(1, 19);
  p.range_end(1, 1, 20);
  p.node(1, 103, 1, 25);
  const Trace t = merged(p).trace;
  REQUIRE(t.graph_nodes.size() == 3);
  CHECK(range_name(t, t.graph_nodes[0].op) == "attention");
  CHECK(range_name(t, t.graph_nodes[1].op) == "mlp");
  CHECK(range_name(t, t.graph_nodes[2].op) == "none");
}

TEST_CASE("the order of records in the spool changes nothing") {
  const auto trace_of = [](bool backwards) {
    RecordedProcess p;
    for (int i = 0; i < 20; ++i) {
      const int k = backwards ? 19 - i : i;
      p.kernel("k" + std::to_string(k % 3), 7 + static_cast<std::uint32_t>(k % 2), 100 + 10 * k,
               105 + 10 * k, static_cast<std::uint32_t>(k + 1));
      p.call("cudaLaunchKernel_v7000", 1, 50 + k, 51 + k, static_cast<std::uint32_t>(k + 1));
      spool::Copy copy{};
      copy.start_ns = 102 + 10 * k;
      copy.end_ns = 109 + 10 * k;
      copy.context = 1;
      copy.stream = 7;
      p.spool.add(copy);
    }
    p.end();
    return merged(p).trace;
  };
  const Trace a = trace_of(false), b = trace_of(true);
  CHECK(a.kernels.start_ns == b.kernels.start_ns);
  CHECK(a.kernels.sequence == b.kernels.sequence);
  CHECK(a.copies.sequence == b.copies.sequence);
  CHECK(a.kernels.launch == b.kernels.launch);
  CHECK(a.kernels.sequence[1] == 2);
  CHECK(a.copies.sequence[0] == 1);
}

}  // namespace
}  // namespace gprofml::test
