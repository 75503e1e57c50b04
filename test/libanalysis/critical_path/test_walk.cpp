// The last-arriver walk on traces small enough to work out on paper. All times in microseconds.
#include <catch2/catch.hpp>

#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using profile::CopyKind;
using profile::MemoryKind;
using profile::SyncKind;
using test::ByClass;
using test::us;

namespace {

// A builder in microseconds; with fewer than 20 launches λ = 5 us and Λ = 20 us.
class Us : public test::TraceBuilder {
 public:
  void kernel(std::string_view name, std::int64_t device, std::int64_t stream, std::int64_t start,
              std::int64_t end, std::int64_t id = profile::kUnknown) {
    TraceBuilder::kernel(name, device, stream, start * us, end * us, id);
  }
  void call(std::string_view name, std::int64_t thread, std::int64_t start, std::int64_t end,
            std::int64_t id = profile::kUnknown) {
    TraceBuilder::call(name, thread, start * us, end * us, id);
  }
  void op(std::string_view name, std::int64_t thread, std::int64_t start, std::int64_t end) {
    TraceBuilder::op(name, thread, start * us, end * us);
  }
  void copy(CopyKind kind, MemoryKind memory, std::int64_t device, std::int64_t stream,
            std::int64_t start, std::int64_t end, std::int64_t id = profile::kUnknown) {
    TraceBuilder::copy(kind, memory, device, stream, start * us, end * us, id);
  }
};

analysis::CriticalPath path_of(const Us& builder) {
  const analysis::CriticalPath path = test::analyze_all(builder.build()).critical_path;
  REQUIRE(path.exists);
  CHECK(path.segments_total_ns == path.window_ns);
  return path;
}

ByClass classes(const Us& builder) {
  return test::in_us(path_of(builder).by_class);
}

}  // namespace

TEST_CASE("launch, kernel, synchronisation") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("gemm", 0, 7, 12, 100, 1);
  t.call("cudaStreamSynchronize", 1, 20, 103, 2);
  CHECK(classes(t) ==
        ByClass{{"launch_call", 10}, {"launch_latency", 2}, {"kernel", 88}, {"sync_return", 3}});
  // which stream the call waited for was not recorded: its return is inferred, the rest is not
  CHECK(path_of(t).inferred_ns == 3 * us);

  t.sync(SyncKind::stream, 0, 7, 2);
  CHECK(path_of(t).inferred_ns == 0);
}

TEST_CASE("a kernel queued behind another waits for it, not for its launch") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 5, 1);
  t.call("cudaLaunchKernel", 1, 5, 10, 2);
  t.kernel("a", 0, 7, 8, 100, 1);
  t.kernel("b", 0, 7, 102, 150, 2);
  CHECK(classes(t) ==
        ByClass{{"launch_call", 5}, {"launch_latency", 3}, {"kernel", 140}, {"device_gap", 2}});
}

TEST_CASE("a kernel that waited for its launch puts the host on the path") {
  Us t;
  t.op("aten::mm", 1, 0, 12);
  t.call("cudaLaunchKernel", 1, 5, 10, 1);
  t.kernel("a", 0, 7, 13, 20, 1);
  t.op("aten::mm", 1, 40, 60);
  t.call("cudaLaunchKernel", 1, 50, 55, 2);
  t.kernel("b", 0, 7, 58, 70, 2);
  // from b: latency 3, call 5, then the host: op 40..50, python 12..40, op 10..12, call 5..10, op
  // 0..5
  CHECK(classes(t) ==
        ByClass{{"kernel", 12}, {"launch_latency", 3}, {"launch_call", 10}, {"host_code", 45}});
}

TEST_CASE("a thread that waited for another thread hands the path to it") {
  Us t;
  t.op("forward", 1, 0, 100);
  t.op("backward", 2, 150, 200);
  t.call("cudaLaunchKernel", 2, 180, 190, 1);
  t.kernel("grad", 0, 7, 195, 300, 1);
  const analysis::CriticalPath path = path_of(t);
  CHECK(test::in_us(path.by_class) ==
        ByClass{{"kernel", 105}, {"launch_latency", 5}, {"launch_call", 10}, {"host_code", 180}});
  CHECK(path.inferred_ns ==
        50 * us);  // 100 to 150: between the end of forward and backward's start
  CHECK(path.partial_because.empty());
}

TEST_CASE("a gap of up to 20 us on a thread is its own") {
  Us t;
  t.op("other", 1, 0, 95);
  t.op("first", 2, 0, 80);
  t.op("second", 2, 100, 120);
  t.call("cudaLaunchKernel", 2, 110, 115, 1);
  t.kernel("k", 0, 7, 118, 200, 1);
  CHECK(path_of(t).inferred_ns == 0);
}

TEST_CASE("a stall beyond the largest launch latency has no recorded reason") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("late", 0, 7, 100, 150, 1);
  CHECK(classes(t) == ByClass{{"launch_call", 10},
                              {"launch_latency", 20},
                              {"issued_no_recorded_reason", 70},
                              {"kernel", 50}});
}

TEST_CASE("a stall that ends with work on another stream is inferred to wait for it") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.call("cudaLaunchKernel", 1, 10, 20, 2);
  t.kernel("producer", 0, 7, 12, 100, 1);
  t.kernel("consumer", 0, 8, 105, 150, 2);
  const analysis::CriticalPath path = path_of(t);
  CHECK(test::in_us(path.by_class) ==
        ByClass{{"launch_call", 10}, {"launch_latency", 2}, {"kernel", 133}, {"device_gap", 5}});
  // above consumer's own arrival (launch at 10, λ = 5): 15 to 105
  CHECK(path.inferred_ns == 90 * us);
}

TEST_CASE("a recorded event wait is an edge, and nothing is inferred") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.call("cudaEventRecord", 1, 10, 11, 2);
  t.call("cudaStreamWaitEvent", 1, 11, 12, 3);
  t.call("cudaLaunchKernel", 1, 12, 20, 4);
  t.call("cudaLaunchKernel", 1, 20, 25, 5);
  t.kernel("producer", 0, 7, 12, 100, 1);
  t.kernel("after the record", 0, 7, 100, 104, 5);
  t.kernel("consumer", 0, 8, 105, 150, 4);
  t.sync(SyncKind::stream_wait_event, 0, 8, 3, 7, 2);
  const analysis::CriticalPath path = path_of(t);
  CHECK(test::in_us(path.by_class) ==
        ByClass{{"launch_call", 10}, {"launch_latency", 2}, {"kernel", 133}, {"device_gap", 5}});
  CHECK(path.inferred_ns == 0);
}

TEST_CASE("nodes of one graph launch follow each other") {
  Us t;
  t.call("cudaGraphLaunch", 1, 0, 30, 1);
  t.kernel("node 0", 0, 7, 35, 100, 1);
  t.kernel("node 1", 0, 8, 102, 150, 1);  // another stream: still the same launch
  CHECK(classes(t) ==
        ByClass{{"launch_call", 30}, {"launch_latency", 5}, {"kernel", 113}, {"graph_gap", 2}});
}

TEST_CASE(
    "programmatic dependent launch: the overlapped predecessor is on the path up to the overlap") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 5, 1);
  t.call("cudaLaunchKernel", 1, 5, 10, 2);
  t.kernel("a", 0, 7, 8, 100, 1);
  t.kernel("b", 0, 7, 90, 150, 2);
  CHECK(classes(t) == ByClass{{"launch_call", 5}, {"launch_latency", 3}, {"kernel", 142}});
}

TEST_CASE("an impossible overrun is corrected before anything follows from it") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 5, 1);
  t.call("cudaLaunchKernel", 1, 20, 25, 2);
  t.kernel("overrun", 0, 7, 8, 1000, 1);  // on the stream of b, which ran and ended in between
  t.kernel("b", 0, 7, 30, 50, 2);
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.quality.overruns == 1);
  CHECK(report.devices[0].timeline.busy_ns == 992 * us);  // as recorded
  CHECK(report.devices[0].timeline.busy_corrected_ns == 42 * us);
  CHECK(report.critical_path.window_ns == 1000 * us);
  CHECK(test::in_us(report.critical_path.by_class)["after_last_gpu_work"] == 950);
}

TEST_CASE("a blocking copy holds the host until it is done") {
  Us t;
  t.call("cudaMemcpyAsync", 1, 0, 100, 1);
  t.copy(CopyKind::device_to_host, MemoryKind::pageable, 0, 7, 20, 95, 1);
  t.op("after", 1, 100, 130);
  t.call("cudaLaunchKernel", 1, 130, 140, 2);
  t.kernel("k", 0, 7, 143, 150, 2);
  CHECK(classes(t) == ByClass{{"launch_call", 30},
                              {"copy", 75},
                              {"sync_return", 5},
                              {"host_code", 30},
                              {"launch_latency", 3},
                              {"kernel", 7}});
}

TEST_CASE("an asynchronous copy of pinned memory does not block") {
  Us t;
  t.call("cudaMemcpyAsync", 1, 0, 100, 1);  // slow call, but not for the copy
  t.copy(CopyKind::device_to_host, MemoryKind::pinned, 0, 7, 20, 95, 1);
  t.call("cudaLaunchKernel", 1, 130, 140, 2);
  t.kernel("k", 0, 7, 143, 150, 2);
  CHECK(classes(t) ==
        ByClass{{"launch_call", 110}, {"host_code", 30}, {"launch_latency", 3}, {"kernel", 7}});
}

TEST_CASE("a pageable upload may end after its call: the walk goes on in the copy") {
  Us t;
  t.call("cudaMemcpy", 1, 0, 100, 1);
  t.copy(CopyKind::host_to_device, MemoryKind::pageable, 0, 7, 20, 150, 1);
  t.call("cudaLaunchKernel", 1, 100, 110, 2);
  t.kernel("k", 0, 8, 113, 200, 2);
  CHECK(classes(t) ==
        ByClass{{"launch_call", 30}, {"copy", 80}, {"launch_latency", 3}, {"kernel", 87}});
}

TEST_CASE("synchronising with nothing recorded is unknown beyond the return itself") {
  Us t;
  t.call("cudaDeviceSynchronize", 1, 0, 500, 1);
  t.call("cudaLaunchKernel", 1, 500, 510, 2);
  t.kernel("k", 0, 7, 515, 600, 2);
  const analysis::CriticalPath path = path_of(t);
  CHECK(test::in_us(path.by_class) == ByClass{{"sync_no_recorded_work", 480},
                                              {"sync_return", 20},
                                              {"launch_call", 10},
                                              {"launch_latency", 5},
                                              {"kernel", 85}});
  CHECK(path.unknown_ns == 480 * us);
  CHECK(path.partial);
}

TEST_CASE("a free that waited for the device is a runtime call down to what it waited for") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("k", 0, 7, 12, 100, 1);
  t.call("cudaFree", 1, 20, 140, 2);
  CHECK(classes(t) ==
        ByClass{{"launch_call", 10}, {"launch_latency", 2}, {"kernel", 88}, {"runtime_call", 40}});
}

TEST_CASE("a slow launch call is told apart") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 3000, 1);
  t.kernel("k", 0, 7, 3005, 3100, 1);
  CHECK(classes(t) == ByClass{{"slow_launch_call", 3000}, {"launch_latency", 5}, {"kernel", 95}});
}

TEST_CASE("work without a launch record is kept and what is before it is honestly unknown") {
  Us t;
  t.kernel("a", 0, 7, 0, 100);
  t.kernel("b", 0, 7, 150, 200);
  CHECK(classes(t) == ByClass{{"kernel", 150}, {"device_gap", 20}, {"no_launch_record", 30}});
}

TEST_CASE("an op or a Python frame that ends last changes nothing on the path but its end") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("gemm", 0, 7, 12, 100, 1);
  const ByClass before = classes(t);
  t.range(profile::RangeKind::python_function, "main.py(1): main", 1, 0, 900 * us);
  CHECK(classes(t) == before);
  t.op("aten::later", 1, 20, 130);
  ByClass after = before;
  after["after_last_gpu_work"] = 30;
  CHECK(classes(t) == after);
}

TEST_CASE("reused correlation ids: the launch is the last call that began before the work") {
  Us t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("first", 0, 7, 13, 50, 1);
  t.call("cudaLaunchKernel", 1, 100, 110, 1);
  t.kernel("second", 0, 7, 114, 150, 1);
  const ByClass got = classes(t);
  CHECK(got ==
        ByClass{{"launch_call", 20}, {"host_code", 90}, {"launch_latency", 4}, {"kernel", 36}});
}
