#include <catch2/catch.hpp>
#include <string>

#include "test/libprofile/import/trace_files.hpp"

using namespace gprofml::profile;
using gprofml::test::import_text;
using gprofml::test::quality;
using gprofml::test::quality_detail;

namespace {

std::string text(const Trace& trace, StringId id) {
  return std::string(trace.text(id));
}

}  // namespace

TEST_CASE("copies and fills: bytes, kinds, streams from the tid") {
  const Trace trace = import_text(R"json([
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1,"dur":2,
     "args":{"device":0,"context":1,"stream":7,"correlation":5,"bytes":4096}},
    {"ph":"X","cat":"Memset","name":"Memset (Device)","pid":"3","tid":"stream 12","ts":4,"dur":1,"args":{}}])json");
  REQUIRE(trace.copies.size() == 1);
  CHECK(trace.copies.bytes[0] == 4096);
  CHECK(trace.copies.kind[0] == CopyKind::host_to_device);
  CHECK(trace.copies.source_memory[0] == MemoryKind::pageable);
  CHECK(trace.copies.target_memory[0] == MemoryKind::device);
  CHECK(trace.copies.launch[0] == kNoRow);
  REQUIRE(trace.fills.size() == 1);
  CHECK(trace.fills.bytes[0] == kUnknown);
  CHECK(trace.fills.memory[0] == MemoryKind::device);
  CHECK(trace.fills.correlation[0] == kUnknown);
  CHECK(trace.streams[trace.fills.stream[0]].id == 12);
  CHECK(trace.devices[trace.device_of_stream(trace.fills.stream[0])].ordinal == 3);
  CHECK(trace.contexts[trace.streams[trace.fills.stream[0]].context].id == kUnknown);
  CHECK(trace.copies.sequence[0] == 0);
  CHECK(trace.fills.sequence[0] == 1);
}

TEST_CASE("values of an unexpected type or size are unknown, the event stays") {
  const Trace trace = import_text(R"json([
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,
     "args":{"device":0,"stream":10159970886766084423,"context":1.5,"correlation":"x","External id":true,
             "grid":[1,"a"],"block":{"x":1},"registers per thread":null,"graph node id":[4]}},
    {"ph":"X","cat":"cuda_runtime","name":"c","pid":18446744073709551615,"tid":null,"ts":1,"dur":1,"args":[1,2]},
    {"ph":"X","cat":"cpu_op","name":"o","ts":1,"dur":1,"args":null}])json");
  REQUIRE(first_inconsistency(trace) == std::nullopt);
  REQUIRE(trace.kernels.size() == 1);
  CHECK(trace.streams[trace.kernels.stream[0]].id == kUnknown);
  CHECK(trace.kernels.correlation[0] == kUnknown);
  CHECK(trace.kernels.graph_node[0] == kNoRow);
  CHECK(trace.launch_configs[trace.kernels.launch_config[0]].grid ==
        std::array<std::int64_t, 3>{1, kUnknown, kUnknown});
  CHECK(trace.api_calls.size() == 1);
  CHECK(trace.threads[trace.api_calls.thread[0]].pid == kUnknown);
  CHECK(trace.ranges.size() == 1);
  CHECK(quality(trace, "bad_event") == 0);
}

TEST_CASE("synchronisations: kinds, streams, the awaited record, the call") {
  const Trace trace = import_text(R"json([
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"context":1,"stream":7}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":9,"tid":9,"ts":2,"dur":1,"args":{"correlation":30}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaEventSynchronize","pid":9,"tid":9,"ts":5,"dur":9,"args":{"correlation":31}},
    {"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":-1,"ts":6,"dur":7,
     "args":{"cuda_sync_kind":"Event Sync","stream":-1,"correlation":31,"device":0,"context":1,
             "wait_on_stream":7,"wait_on_cuda_event_record_corr_id":30,"wait_on_cuda_event_id":8}},
    {"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":20,"dur":1,
     "args":{"stream":7,"correlation":99,"device":0,"wait_on_cuda_event_record_corr_id":-1}},
    {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":20,"ts":30,"dur":1,
     "args":{"stream":20,"device":0,"context":1}},
    {"ph":"X","cat":"synchronization","name":"Context Sync","pid":0,"tid":-1,"ts":40,"dur":1,"args":{"stream":-1}}])json");
  REQUIRE(first_inconsistency(trace) == std::nullopt);
  const SyncColumns& syncs = trace.syncs;
  REQUIRE(syncs.size() == 4);
  CHECK(syncs.kind == std::vector<SyncKind>{SyncKind::event, SyncKind::stream,
                                            SyncKind::stream_wait_event, SyncKind::context});
  const RowIndex seven = trace.kernels.stream[0];
  CHECK(syncs.stream[0] == kNoRow);
  CHECK(syncs.event_stream[0] == seven);
  CHECK(text(trace, trace.api_calls.name[syncs.event_record[0]]) == "cudaEventRecord");
  CHECK(text(trace, trace.api_calls.name[syncs.call[0]]) == "cudaEventSynchronize");
  CHECK(syncs.event_id[0] == 8);
  CHECK(syncs.stream[1] == seven);  // no context: the stream of that number
  CHECK(syncs.event_record[1] == kNoRow);
  CHECK(syncs.call[1] == kNoRow);
  CHECK(trace.streams[syncs.stream[2]].id == 20);
  CHECK(syncs.device == std::vector<RowIndex>{0, 0, 0, 0});
  CHECK(trace.devices.size() == 1);
}

TEST_CASE("memory events and their devices") {
  const Trace trace = import_text(R"json([
    {"ph":"X","cat":"kernel","name":"k","pid":2,"tid":7,"ts":1,"dur":2,"args":{"device":2,"stream":7}},
    {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":5.5,
     "args":{"Total Reserved":100,"Total Allocated":50,"Bytes":-25,"Addr":18446744073709551615,"Device Id":0,"Device Type":1}},
    {"ph":"i","name":"[memory]","pid":9,"tid":9,"ts":7,"args":{"Bytes":16,"Device Id":-1,"Device Type":0}},
    {"ph":"i","name":"[memory]","pid":9,"tid":9,"ts":8,"args":{"Device Type":0}}])json");
  const MemoryEventColumns& memory = trace.memory_events;
  REQUIRE(memory.size() == 2);
  CHECK(memory.time_ns == std::vector<Nanoseconds>{5500, 7000});
  CHECK(memory.bytes == std::vector<std::int64_t>{-25, 16});
  CHECK(memory.address[0] == 18446744073709551615u);
  CHECK(memory.total_allocated == std::vector<std::int64_t>{50, kUnknown});
  CHECK(memory.total_reserved == std::vector<std::int64_t>{100, kUnknown});
  // ROCm: node 2 of the GPU work is device 0 of the memory events.
  CHECK(memory.device == std::vector<RowIndex>{0, kNoRow});
  CHECK(trace.devices.size() == 1);
  CHECK(quality(trace, "bad_event") == 1);
}

TEST_CASE("collectives and graph nodes") {
  const Trace trace = import_text(R"json([
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":1,"dur":2,
     "args":{"device":0,"stream":7,"Collective name":"allreduce","In msg nelems":40,"Out msg nelems":41,
             "Group size":2,"dtype":"BFloat16","Process Group Name":"3","Process Group Ranks":"[0, 1]"}},
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":3,"dur":1,"args":{"graph id":6,"graph node id":11}},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":5,"dur":1,"args":{"graph id":6,"graph node id":10}},
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":7,"dur":1,"args":{"graph id":6,"graph node id":11}}])json");
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.collectives.kernel[0] == 0);
  CHECK(text(trace, trace.collectives.operation[0]) == "allreduce");
  CHECK(text(trace, trace.collectives.communicator[0]) == "3");
  CHECK(text(trace, trace.collectives.dtype[0]) == "BFloat16");
  CHECK(text(trace, trace.collectives.ranks[0]) == "[0, 1]");
  CHECK(trace.collectives.elements_in[0] == 40);
  CHECK(trace.collectives.elements_out[0] == 41);
  CHECK(trace.collectives.group_size[0] == 2);
  REQUIRE(trace.graph_nodes.size() == 2);
  CHECK(trace.kernels.graph_node == std::vector<RowIndex>{kNoRow, 1, 0, 1});
  CHECK(trace.graph_nodes[1] == GraphNode{0, 6, 11});
}

TEST_CASE("process and threads: names, words as ids, the most common pid") {
  const Trace trace = import_text(R"json({"host_name":"node1","traceEvents":[
    {"ph":"X","cat":"cpu_op","name":"o","pid":20,"tid":"zeta","ts":1,"dur":1},
    {"ph":"X","cat":"cpu_op","name":"o","pid":10,"tid":"alpha","ts":2,"dur":1},
    {"ph":"X","cat":"cpu_op","name":"o","pid":10,"tid":11,"ts":3,"dur":1},
    {"ph":"X","cat":"user_annotation","name":"o","pid":20,"tid":"zeta","ts":4,"dur":1},
    {"ph":"X","cat":"python_function","name":"f","pid":20,"tid":"zeta","ts":5,"dur":1},
    {"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"main \"thread\""}},
    {"ph":"M","name":"process_name","pid":10,"args":{"name":"python"}},
    {"ph":"M","name":"process_labels","pid":10,"args":{"labels":"CPU"}}]})json");
  CHECK(trace.processes[0].pid == 10);
  CHECK(text(trace, trace.processes[0].command) == "python");
  CHECK(text(trace, trace.processes[0].host) == "node1");
  REQUIRE(trace.threads.size() == 3);
  CHECK(trace.threads[0].tid < 0);  // alpha
  CHECK(text(trace, trace.threads[0].name) == "alpha");
  CHECK(text(trace, trace.threads[1].name) == "main \"thread\"");
  CHECK(text(trace, trace.threads[2].name) == "zeta");
  CHECK(trace.threads[2].tid == trace.threads[0].tid - 1);
  CHECK(trace.ranges.kind == std::vector<RangeKind>{RangeKind::op, RangeKind::op, RangeKind::op,
                                                    RangeKind::annotation,
                                                    RangeKind::python_function});
  CHECK(quality(trace, "ignored_category", "M") == 1);
}

TEST_CASE("a lost time stamp does not reach back to the epoch") {
  const std::string good =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1712195495505582,"dur":2},)";
  const Trace both_lost = import_text(
      "[" + good + R"({"ph":"X","cat":"kernel","name":"lost","pid":0,"tid":7,"ts":0,"dur":0}])");
  CHECK(both_lost.kernels.start_ns[0] == 0);
  CHECK(both_lost.kernels.end_ns[0] == 0);
  const Trace start_lost = import_text(
      "[" + good + R"({"ph":"X","cat":"kernel","name":"lost","pid":0,"tid":7,"ts":0,"dur":9}])");
  CHECK(start_lost.kernels.end_ns[0] == 0);
  CHECK(quality(start_lost, "lost_start") == 1);
  const Trace with_base =
      import_text(R"({"baseTimeNanoseconds":1711964646000000000,"traceEvents":[)"
                  R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0}]})");
  CHECK(with_base.kernels.start_ns[0] == 0);
  // A trace that starts at its own zero has lost nothing.
  const Trace from_zero =
      import_text(R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":9},)"
                  R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":9}])");
  CHECK(from_zero.kernels.end_ns[0] == 9000);
  CHECK(quality(from_zero, "lost_start") == 0);
}

TEST_CASE("ROCm devices take properties only when all listed GPUs are alike") {
  const auto device_name = [](const std::string& second, const std::string& call) {
    const Trace trace = import_text(
        R"({"deviceProperties":[{"id":0,"name":"MI300X","numSms":304},{"id":1,"name":")" + second +
        R"(","numSms":304}],"traceEvents":[{"ph":"X","cat":"cuda_runtime","name":")" + call +
        R"(","pid":1,"tid":1,"ts":1,"dur":1},{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":0,"ts":2,"dur":1,"args":{"device":1}}]})");
    return std::string(trace.text(trace.devices[0].name));
  };
  CHECK(device_name("MI300X", "hipLaunchKernel") == "MI300X");
  CHECK(device_name("MI250X", "hipLaunchKernel") == "");
  CHECK(device_name("T4", "cudaLaunchKernel") == "T4");
}

TEST_CASE("strings are unescaped and wrong UTF-8 costs a letter, not the event") {
  const Trace trace = import_text(
      "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\\"b\\u00e9\\\\\",\"pid\":0,\"tid\":7,\"ts\":"
      "1,\"dur\":2},"
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"x\xFFy\tz\",\"pid\":0,\"tid\":7,\"ts\":3,"
      "\"dur\":2}]");
  REQUIRE(trace.kernels.size() == 2);
  CHECK(text(trace, trace.kernels.name[0]) == "a\"b\u00e9\\");
  CHECK(text(trace, trace.kernels.name[1]) == "x?y z");
  CHECK(quality(trace, "repaired_text") == 1);
  CHECK(quality(trace, "bad_event") == 0);
}
