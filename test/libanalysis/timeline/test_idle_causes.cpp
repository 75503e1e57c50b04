// Idle causes on gaps small enough to work out on paper. All times in microseconds.
#include <catch2/catch.hpp>

#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using profile::RangeKind;
using profile::SyncKind;
using test::ByClass;
using test::TraceBuilder;
using test::us;

namespace {

void kernel(TraceBuilder& t, std::int64_t device, std::int64_t stream, std::int64_t start,
            std::int64_t end, std::int64_t id = profile::kUnknown, const char* name = "k") {
  t.kernel(name, device, stream, start * us, end * us, id);
}
void call(TraceBuilder& t, const char* name, std::int64_t start, std::int64_t end,
          std::int64_t id) {
  t.call(name, 1, start * us, end * us, id);
}

ByClass idle(const TraceBuilder& t, std::size_t device = 0) {
  const analysis::Report report = test::analyze_all(t.build());
  const analysis::DeviceTimeline& d = report.devices.at(device).timeline;
  std::int64_t sum = 0;
  for (const std::int64_t ns : d.idle_by_cause) sum += ns;
  CHECK(sum == d.idle_ns);
  CHECK(d.idle_ns == d.span_ns - d.busy_ns);
  return test::in_us(d.idle_by_cause);
}

}  // namespace

TEST_CASE("host code, launch call and launch latency share a gap") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  kernel(t, 0, 7, 8, 20, 1);
  call(t, "cudaLaunchKernel", 60, 70, 2);
  kernel(t, 0, 7, 74, 90, 2);
  CHECK(idle(t) == ByClass{{"host_code", 40}, {"launch_call", 10}, {"launch_latency", 4}});
}

TEST_CASE("work launched long before the gap was queued: the gap is the device's") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  call(t, "cudaLaunchKernel", 5, 10, 2);
  kernel(t, 0, 7, 8, 100, 1);
  kernel(t, 0, 7, 103, 120, 2);
  CHECK(idle(t) == ByClass{{"device_gap", 3}});
}

TEST_CASE("beyond the largest latency there is no recorded reason") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  call(t, "cudaLaunchKernel", 5, 10, 2);
  kernel(t, 0, 7, 8, 100, 1);
  kernel(t, 0, 7, 150, 170, 2);
  CHECK(idle(t) == ByClass{{"device_gap", 20}, {"issued_no_recorded_reason", 30}});
}

TEST_CASE("an unlinked resumer owns its whole gap, and no other figure changes") {
  TraceBuilder t;
  kernel(t, 0, 7, 0, 10);
  kernel(t, 0, 7, 40, 50);
  CHECK(idle(t) == ByClass{{"no_launch_record", 30}});
}

TEST_CASE("later nodes of a graph launch have gaps of the graph") {
  TraceBuilder t;
  call(t, "cudaGraphLaunch", 0, 10, 1);
  kernel(t, 0, 7, 12, 20, 1);
  kernel(t, 0, 7, 22, 30, 1);
  kernel(t, 0, 7, 60, 70, 1);
  CHECK(idle(t) == ByClass{{"graph_gap", 22}, {"issued_no_recorded_reason", 10}});
}

TEST_CASE("a recorded wait for a producer on another device") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  kernel(t, 1, 7, 8, 100, 1, "producer");
  call(t, "cudaEventRecord", 5, 6, 2);
  call(t, "cudaLaunchKernel", 6, 10, 3);
  kernel(t, 0, 7, 12, 20, 3, "before");
  call(t, "cudaStreamWaitEvent", 11, 12, 4);
  call(t, "cudaLaunchKernel", 12, 15, 5);
  kernel(t, 0, 7, 102, 110, 5, "consumer");
  // stream 7 of device 1 is where the event was recorded; the builder takes one device a sync, so
  // the wait is written by hand
  profile::Trace trace = t.build();
  CHECK(idle(t) == ByClass{{"device_gap", 20}, {"issued_no_recorded_reason", 62}});
  const auto stream_of = [&](const char* name) {
    for (profile::RowIndex k = 0; k < trace.kernels.size(); ++k) {
      if (trace.text(trace.kernels.name[k]) == name) return trace.kernels.stream[k];
    }
    return profile::kNoRow;
  };
  const auto call_with = [&](std::int64_t id) {
    for (profile::RowIndex c = 0; c < trace.api_calls.size(); ++c) {
      if (trace.api_calls.correlation[c] == id) return c;
    }
    return profile::kNoRow;
  };
  profile::SyncColumns& s = trace.syncs;
  s.start_ns = {11 * us};
  s.end_ns = {12 * us};
  s.kind = {SyncKind::stream_wait_event};
  s.device = {trace.device_of_stream(stream_of("consumer"))};
  s.stream = {stream_of("consumer")};
  s.event_stream = {stream_of("producer")};
  s.event_record = {call_with(2)};
  s.call = {call_with(4)};
  s.correlation = {4};
  s.event_id = {1};
  const analysis::Report report = test::analyze_all(trace);
  for (const analysis::DeviceReport& d : report.devices) {
    if (d.id == 0) {
      CHECK(test::in_us(d.timeline.idle_by_cause) ==
            ByClass{{"wait_other_device", 80}, {"device_gap", 2}});
    }
  }
}

TEST_CASE("launching on the other device and waiting for it") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  kernel(t, 0, 7, 8, 10, 1);
  call(t, "cudaLaunchKernel", 12, 32, 2);  // device 1
  kernel(t, 1, 7, 35, 60, 2);
  call(t, "cudaDeviceSynchronize", 32, 64, 3);
  call(t, "cudaLaunchKernel", 64, 70, 4);
  kernel(t, 0, 7, 73, 80, 4);
  CHECK(idle(t) == ByClass{{"host_code", 2},
                           {"launching_elsewhere", 20},
                           {"wait_other_device", 28},
                           {"sync_return", 4},
                           {"launch_call", 6},
                           {"launch_latency", 3}});
}

TEST_CASE("a zero-length activity ends a gap") {
  TraceBuilder t;
  call(t, "cudaLaunchKernel", 0, 5, 1);
  kernel(t, 0, 7, 8, 10, 1);
  kernel(t, 0, 7, 30, 30);  // unlinked, no length
  call(t, "cudaLaunchKernel", 32, 36, 2);
  kernel(t, 0, 7, 38, 40, 2);
  CHECK(idle(t) ==
        ByClass{
            {"no_launch_record", 20}, {"host_code", 2}, {"launch_call", 4}, {"launch_latency", 2}});
}

TEST_CASE("every instant of a device is compute, communication, copy or idle") {
  TraceBuilder t;
  kernel(t, 0, 7, 0, 100, profile::kUnknown, "gemm");
  kernel(t, 0, 8, 50, 150, profile::kUnknown, "ncclDevKernel_AllReduce");
  t.copy(profile::CopyKind::host_to_device, profile::MemoryKind::pinned, 0, 9, 140 * us, 180 * us);
  t.fill(0, 9, 170 * us, 190 * us);
  kernel(t, 0, 7, 200, 210, profile::kUnknown, "gemm");
  const analysis::DeviceTimeline d = test::analyze_all(t.build()).devices.at(0).timeline;
  CHECK(d.compute_ns == 110 * us);
  CHECK(d.communication_union_ns == 100 * us);
  CHECK(d.communication_exposed_ns == 50 * us);
  CHECK(d.copy_exposed_ns == 40 * us);
  CHECK(d.idle_ns == 10 * us);
  CHECK(d.compute_ns + d.communication_exposed_ns + d.copy_exposed_ns + d.idle_ns == d.span_ns);
  CHECK(d.kernels == 3);
  CHECK(d.copies == 1);
  CHECK(d.fills == 1);
}
