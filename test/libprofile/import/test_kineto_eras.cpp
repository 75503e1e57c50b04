// One small trace in the manner of each Kineto era. All of them hold the same story: the op
// aten::mm launches one kernel through cudaLaunchKernel on stream 7 of device 0.
#include <catch2/catch.hpp>
#include <string>

#include "test/libprofile/import/trace_files.hpp"

using namespace gprofml::profile;
using gprofml::test::import_text;
using gprofml::test::quality;

namespace {

struct Era {
  const char* name;
  const char* json;
  Nanoseconds op_start, op_end, call_start, kernel_start, kernel_end;
  bool op_known;  ///< the kernel names its op
};

// December 2020: a bare array, whole microseconds, capitalised categories, op ids of the kernel
// spelled "external id", streams as words.
const Era kArray2020{"2020",
                     R"json([
  {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 300, "tid": "301",
   "ts": 1606910596350714, "dur": 90, "args": {"Device": 300, "External id": 44, "Trace name": "x", "Input dims": [[2, 3], []]}},
  {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 300, "tid": "301",
   "ts": 1606910596350720, "dur": 8, "args": {"cbid": 211, "correlation": 77, "external id": 44, "external ts": 1606910596350714}},
  {"ph": "s", "id": 77, "pid": 300, "tid": 301, "ts": 1606910596350720, "cat": "async", "name": "launch"},
  {"ph": "X", "cat": "Kernel", "name": "volta_sgemm", "pid": 0, "tid": "stream 7",
   "ts": 1606910596350740, "dur": 25, "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 77, "external id": 44, "registers per thread": 40, "shared memory": 512, "grid": [4, 2, 1], "block": [128, 1, 1]}},
  {"ph": "f", "id": 77, "pid": 0, "tid": "stream 7", "ts": 1606910596350740, "cat": "async", "name": "launch", "bp": "e"}])json",
                     1606910596350714000,
                     1606910596350804000,
                     1606910596350720000,
                     1606910596350740000,
                     1606910596350765000,
                     true};

// 2021: an object with schemaVersion, CPU threads as strings on X events.
const Era kObject2021{"2021",
                      R"json({"schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "Tesla V100", "totalGlobalMem": 34089730048, "computeMajor": 7, "computeMinor": 0, "numSms": 80}],
  "traceEvents": [
  {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 300, "tid": "301", "ts": 1623143089861000, "dur": 90, "args": {"External id": 44, "Call stack": "a.py(3): f;b.py(4): g"}},
  {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 300, "tid": "301", "ts": 1623143089861006, "dur": 8, "args": {"cbid": 211, "correlation": 77, "external id": 44}},
  {"ph": "X", "cat": "Kernel", "name": "volta_sgemm", "pid": 0, "tid": "stream 7", "ts": 1623143089861026, "dur": 25, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 77, "external id": 44, "registers per thread": 40, "shared memory": 512, "grid": [4, 2, 1], "block": [128, 1, 1], "est. achieved occupancy %": 40}}]})json",
                      1623143089861000000,
                      1623143089861090000,
                      1623143089861006000,
                      1623143089861026000,
                      1623143089861051000,
                      true};

// 2022 to early 2024: "External id" of GPU work repeats the correlation id and names no op, even
// where an op happens to have that number.
const Era kRepeated2022{
    "2022",
    R"json({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 300, "tid": 301, "ts": 1669783687464181, "dur": 90, "args": {"External id": 77, "Ev Idx": 0}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 300, "tid": 301, "ts": 1669783687464190, "dur": 8, "args": {"External id": 77, "cbid": 211, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "volta_sgemm", "pid": 0, "tid": 7, "ts": 1669783687464210, "dur": 25, "args": {"External id": 77, "device": 0, "context": 1, "stream": 7, "correlation": 77, "registers per thread": 40, "shared memory": 512, "grid": [4, 2, 1], "block": [128, 1, 1]}}],
  "traceName": "/tmp/trace.json"})json",
    1669783687464181000,
    1669783687464271000,
    1669783687464190000,
    1669783687464210000,
    1669783687464235000,
    false};

// April 2024: nanoseconds as three decimals of absolute microseconds, beyond what a double holds.
const Era kAbsolute2024{
    "April 2024",        R"json({"schemaVersion": 1, "displayTimeUnit": "ns", "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 300, "tid": 301, "ts": 1712195495505582.988, "dur": 90.001, "args": {"External id": 44}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 300, "tid": 301, "ts": 1712195495505590.001, "dur": 8.25, "args": {"External id": 44, "cbid": 211, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "volta_sgemm", "pid": 0, "tid": 7, "ts": 1712195495505610.017, "dur": 25.003, "args": {"External id": 44, "device": 0, "context": 1, "stream": 7, "correlation": 77, "registers per thread": 40, "shared memory": 512, "grid": [4, 2, 1], "block": [128, 1, 1]}}]})json",
    1712195495505582988, 1712195495505672989,
    1712195495505590001, 1712195495505610017,
    1712195495505635020, true};

// May 2024 onward: relative to a base that is written after the events.
const Era kRelative2024{"May 2024",          R"json({"schemaVersion": 1, "displayTimeUnit": "ms",
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}], "nccl_version": "2.20.5"},
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 300, "tid": 301, "ts": 4458676984451.267, "dur": 90.5, "args": {"External id": 44, "Concrete Inputs": ["", "[1, 2]"]}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 300, "tid": 301, "ts": 4458676984460.267, "dur": 8, "args": {"External id": 44, "cbid": 307, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "volta_sgemm", "pid": 0, "tid": 7, "ts": 4458676984480.004, "dur": 25.001, "args": {"External id": 44, "device": 0, "context": 1, "stream": 7, "correlation": 77, "registers per thread": 40, "shared memory": 512, "grid": [4, 2, 1], "block": [128, 1, 1], "occupancy": {"blocks": [1, {"x": 2}]}, "graph id": 0, "graph node id": 0}}],
  "traceName": "/tmp/x.json", "baseTimeNanoseconds": 1711964646000000000})json",
                        1716423322984451267, 1716423322984541767,
                        1716423322984460267, 1716423322984480004,
                        1716423322984505005, true};

}  // namespace

TEST_CASE("every era tells the same story") {
  const Era era = GENERATE(kArray2020, kObject2021, kRepeated2022, kAbsolute2024, kRelative2024);
  INFO(era.name);
  const Trace trace = import_text(era.json);
  REQUIRE(first_inconsistency(trace) == std::nullopt);
  REQUIRE(trace.kernels.size() == 1);
  REQUIRE(trace.api_calls.size() == 1);
  REQUIRE(trace.ranges.size() == 1);

  CHECK(trace.ranges.start_ns[0] == era.op_start);
  CHECK(trace.ranges.end_ns[0] == era.op_end);
  CHECK(trace.api_calls.start_ns[0] == era.call_start);
  CHECK(trace.kernels.start_ns[0] == era.kernel_start);
  CHECK(trace.kernels.end_ns[0] == era.kernel_end);

  CHECK(trace.text(trace.kernels.name[0]) == "volta_sgemm");
  CHECK(trace.kernels.launch[0] == 0);
  CHECK(trace.kernels.correlation[0] == 77);
  CHECK(trace.kernels.op[0] == (era.op_known ? 0 : kNoRow));
  CHECK(trace.kernels.graph_node[0] == kNoRow);
  CHECK(trace.ranges.kind[0] == RangeKind::op);

  const Thread& thread = trace.threads[trace.api_calls.thread[0]];
  CHECK(trace.threads.size() == 1);
  CHECK(thread.pid == 300);
  CHECK(thread.tid == 301);
  CHECK(trace.processes[0].pid == 300);

  const Stream& stream = trace.streams[trace.kernels.stream[0]];
  CHECK(stream.id == 7);
  CHECK(trace.contexts[stream.context].id == 1);
  CHECK(trace.devices[trace.contexts[stream.context].device].ordinal == 0);

  const LaunchConfig& config = trace.launch_configs[trace.kernels.launch_config[0]];
  CHECK(config.grid == std::array<std::int64_t, 3>{4, 2, 1});
  CHECK(config.block == std::array<std::int64_t, 3>{128, 1, 1});
  CHECK(config.registers_per_thread == 40);
  CHECK(config.static_shared_bytes == 512);
  CHECK(config.dynamic_shared_bytes == kUnknown);
  CHECK(quality(trace, "bad_event") == 0);
}

TEST_CASE("headers of the eras") {
  const Trace v100 = import_text(kObject2021.json);
  CHECK(v100.text(v100.devices[0].name) == "Tesla V100");
  CHECK(v100.devices[0].memory_bytes == 34089730048);
  CHECK(v100.devices[0].multiprocessors == 80);
  CHECK(v100.devices[0].compute_major == 7);
  CHECK(v100.devices[0].compute_minor == 0);
  CHECK(v100.processes[0].rank == kUnknown);

  const Trace relative = import_text(kRelative2024.json);
  CHECK(relative.processes[0].rank == 3);
  CHECK(relative.meta.at("distributed.world_size") == "8");
  CHECK(relative.meta.at("distributed.nccl_version") == "2.20.5");
  CHECK(relative.meta.at("displayTimeUnit") == "ms");
  CHECK(relative.meta.at("tool") == "kineto");
  CHECK(relative.api_calls.kind[0] == ApiKind::driver);
}

TEST_CASE("the base of time may stand before or after the events") {
  const std::string event =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5.5,"dur":1})";
  const std::string base = R"("baseTimeNanoseconds": 1711964646000000000)";
  const Trace before = import_text("{" + base + R"(, "traceEvents": [)" + event + "]}");
  const Trace after = import_text(R"({"traceEvents": [)" + event + "], " + base + "}");
  CHECK(before.kernels.start_ns[0] == 1711964646000005500);
  CHECK(after.kernels.start_ns[0] == 1711964646000005500);
  CHECK(after.kernels.end_ns[0] == 1711964646000006500);
}

TEST_CASE("flows and what is not kept are counted by category") {
  const Trace trace = import_text(kArray2020.json);
  CHECK(quality(trace, "ignored_category", "async") == 2);
  CHECK(quality(trace, "ignored_category") == 2);
}
