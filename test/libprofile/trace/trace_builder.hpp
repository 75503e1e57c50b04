// Makes small traces by hand, one call an event.
#pragma once

#include <string_view>

#include "libprofile/trace/trace.hpp"

namespace gprofml::test {

/// A trace of one process (pid 1), one device with one context, and as many threads and streams as
/// are asked for. Times in nanoseconds.
class TraceBuilder {
 public:
  profile::Trace trace;

  TraceBuilder() {
    trace.processes.push_back({});
    trace.processes[0].pid = 1;
    profile::Device device;
    device.ordinal = 0;
    device.process = 0;
    trace.devices.push_back(device);
    trace.contexts.push_back({0, 0, 1});
  }

  profile::RowIndex thread(std::int64_t tid, profile::RowIndex process = 0) {
    trace.threads.push_back({process, trace.processes[process].pid, tid, 0});
    return static_cast<profile::RowIndex>(trace.threads.size() - 1);
  }

  profile::RowIndex stream(std::int64_t id, profile::RowIndex context = 0) {
    trace.streams.push_back({context, id});
    return static_cast<profile::RowIndex>(trace.streams.size() - 1);
  }

  profile::RowIndex call(std::string_view name, profile::RowIndex thread,
                         profile::Nanoseconds start, profile::Nanoseconds end,
                         std::int64_t correlation) {
    profile::ApiCallColumns& calls = trace.api_calls;
    calls.start_ns.push_back(start);
    calls.end_ns.push_back(end);
    calls.name.push_back(trace.intern(name));
    calls.thread.push_back(thread);
    calls.correlation.push_back(correlation);
    calls.kind.push_back(profile::ApiKind::runtime);
    calls.result.push_back(profile::kUnknown);
    return static_cast<profile::RowIndex>(calls.size() - 1);
  }

  profile::RowIndex range(std::string_view name, profile::RowIndex thread,
                          profile::Nanoseconds start, profile::Nanoseconds end) {
    profile::RangeColumns& ranges = trace.ranges;
    ranges.start_ns.push_back(start);
    ranges.end_ns.push_back(end);
    ranges.name.push_back(trace.intern(name));
    ranges.thread.push_back(thread);
    ranges.kind.push_back(profile::RangeKind::op);
    ranges.domain.push_back(0);
    ranges.external_id.push_back(profile::kUnknown);
    ranges.category.push_back(0);
    ranges.color.push_back(profile::kUnknown);
    return static_cast<profile::RowIndex>(ranges.size() - 1);
  }

  profile::RowIndex kernel(std::string_view name, profile::RowIndex stream,
                           profile::Nanoseconds start, profile::Nanoseconds end,
                           std::int64_t correlation = profile::kUnknown) {
    profile::KernelColumns& kernels = trace.kernels;
    kernels.start_ns.push_back(start);
    kernels.end_ns.push_back(end);
    kernels.name.push_back(trace.intern(name));
    kernels.stream.push_back(stream);
    kernels.launch.push_back(profile::kNoRow);
    kernels.correlation.push_back(correlation);
    kernels.graph_node.push_back(profile::kNoRow);
    kernels.op.push_back(profile::kNoRow);
    kernels.sequence.push_back(static_cast<std::uint32_t>(kernels.size() - 1));
    kernels.launch_config.push_back(profile::kNoRow);
    return static_cast<profile::RowIndex>(kernels.size() - 1);
  }

  profile::RowIndex sync(profile::RowIndex stream, profile::Nanoseconds start,
                         profile::Nanoseconds end, std::int64_t correlation) {
    profile::SyncColumns& syncs = trace.syncs;
    syncs.start_ns.push_back(start);
    syncs.end_ns.push_back(end);
    syncs.kind.push_back(profile::SyncKind::event);
    syncs.device.push_back(0);
    syncs.stream.push_back(stream);
    syncs.event_stream.push_back(profile::kNoRow);
    syncs.event_record.push_back(profile::kNoRow);
    syncs.call.push_back(profile::kNoRow);
    syncs.correlation.push_back(correlation);
    syncs.event_id.push_back(profile::kUnknown);
    return static_cast<profile::RowIndex>(syncs.size() - 1);
  }
};

}  // namespace gprofml::test
