#include "test/synth/to_trace.hpp"

#include <map>

namespace gprofml::synth {
namespace {

using profile::kNoRow;
using profile::kUnknown;
using profile::RowIndex;

template <typename Rows>
RowIndex last_row(const Rows& rows) {
  return static_cast<RowIndex>(rows.size() - 1);
}

class Recorder {
 public:
  Recorder(const Execution& execution, const RecordOptions& options)
      : execution_(execution), options_(options) {}

  profile::Trace record() {
    add_process();
    for (const RangeRun& range : execution_.ranges) add_range(range);
    for (const Call& call : execution_.calls) add_call(call);
    for (const Activity& activity : execution_.activities) add_activity(activity);
    if (options_.sync_records) {
      for (const SyncRun& sync : execution_.syncs) add_sync(sync);
    }
    resolve_correlations(trace_, record_correlation_);
    canonicalise(trace_);
    return std::move(trace_);
  }

 private:
  void add_process() {
    profile::Process process;
    process.pid = execution_.program.pid;
    process.rank = options_.rank;
    process.host = trace_.intern(options_.host);
    trace_.processes.push_back(process);
    for (const HostThread& host_thread : execution_.program.threads) {
      profile::Thread thread;
      thread.process = 0;
      thread.pid = process.pid;
      thread.tid = host_thread.tid;
      thread.name = trace_.intern(host_thread.name);
      trace_.threads.push_back(thread);
    }
    trace_.meta["simulated"] = "true";
  }

  RowIndex device_row(int ordinal) {
    const auto found = devices_.find(ordinal);
    if (found != devices_.end()) return found->second;
    const DeviceModel& model = execution_.program.device_model;
    profile::Device device;
    device.ordinal = ordinal;
    device.host = trace_.intern(options_.host);
    device.process = 0;
    device.name = trace_.intern(model.name);
    device.memory_bytes = model.memory_bytes;
    device.multiprocessors = model.multiprocessors;
    device.compute_major = model.compute_major;
    device.compute_minor = model.compute_minor;
    trace_.devices.push_back(device);
    profile::Context context;
    context.process = 0;
    context.device = last_row(trace_.devices);
    context.id = 1;
    trace_.contexts.push_back(context);
    return devices_[ordinal] = context.device;
  }

  RowIndex stream_row(StreamRef on) {
    const auto found = streams_.find(on);
    if (found != streams_.end()) return found->second;
    profile::Stream stream;
    stream.context = device_row(on.device);  // one context a device, added together
    stream.id = on.stream;
    trace_.streams.push_back(stream);
    return streams_[on] = last_row(trace_.streams);
  }

  void add_range(const RangeRun& range) {
    profile::RangeColumns& rows = trace_.ranges;
    rows.start_ns.push_back(range.start_ns);
    rows.end_ns.push_back(range.end_ns);
    rows.name.push_back(trace_.intern(range.name));
    rows.thread.push_back(static_cast<RowIndex>(range.thread));
    rows.kind.push_back(range.kind);
    rows.domain.push_back(0);
    rows.external_id.push_back(range.external_id);
    rows.category.push_back(0);
    rows.color.push_back(profile::kUnknown);
  }

  void add_call(const Call& call) {
    profile::ApiCallColumns& rows = trace_.api_calls;
    rows.start_ns.push_back(call.start_ns);
    rows.end_ns.push_back(call.end_ns);
    rows.name.push_back(trace_.intern(call.name));
    rows.thread.push_back(static_cast<RowIndex>(call.thread));
    rows.correlation.push_back(call.correlation);
    rows.kind.push_back(api_kind(call.name));
    rows.result.push_back(kUnknown);
  }

  void add_activity(const Activity& activity) {
    const Work& work = activity.work;
    switch (work.kind) {
      case WorkKind::kernel:
      case WorkKind::communication:
        add_common(activity, trace_.kernels);
        trace_.kernels.launch_config.push_back(config_row(work.config));
        break;
      case WorkKind::copy:
        add_common(activity, trace_.copies);
        trace_.copies.bytes.push_back(work.bytes);
        trace_.copies.kind.push_back(work.copy_kind);
        trace_.copies.source_memory.push_back(work.source_memory);
        trace_.copies.target_memory.push_back(work.target_memory);
        break;
      case WorkKind::fill:
        add_common(activity, trace_.fills);
        trace_.fills.bytes.push_back(work.bytes);
        trace_.fills.memory.push_back(work.target_memory);
        break;
    }
  }

  void add_common(const Activity& activity, profile::ActivityColumns& rows) {
    rows.start_ns.push_back(activity.start_ns);
    rows.end_ns.push_back(activity.end_ns);
    rows.name.push_back(trace_.intern(activity.work.name));
    rows.stream.push_back(stream_row(activity.on));
    rows.launch.push_back(kNoRow);
    rows.correlation.push_back(execution_.calls[activity.call].correlation);
    rows.graph_node.push_back(graph_node_row(activity));
    rows.op.push_back(op_row(activity));
    rows.sequence.push_back(sequence_++);
  }

  RowIndex graph_node_row(const Activity& activity) {
    if (activity.graph_id == kUnknown) return kNoRow;
    const auto key = std::make_pair(activity.graph_id, activity.node_id);
    const auto found = graph_nodes_.find(key);
    if (found != graph_nodes_.end()) return found->second;
    profile::GraphNode node;
    node.process = 0;
    node.graph_id = activity.graph_id;
    node.node_id = activity.node_id;
    trace_.graph_nodes.push_back(node);
    return graph_nodes_[key] = last_row(trace_.graph_nodes);
  }

  RowIndex config_row(const profile::LaunchConfig& config) {
    if (config == profile::LaunchConfig{}) return kNoRow;
    const auto found = configs_.find(config);
    if (found != configs_.end()) return found->second;
    trace_.launch_configs.push_back(config);
    return configs_[config] = last_row(trace_.launch_configs);
  }

  RowIndex op_row(const Activity& activity) const {
    const std::size_t range = execution_.calls[activity.call].op;
    return range == kNone ? kNoRow : static_cast<RowIndex>(range);
  }

  void add_sync(const SyncRun& sync) {
    const bool known = options_.event_records && sync.record_call != kNone;
    profile::SyncColumns& rows = trace_.syncs;
    rows.start_ns.push_back(sync.start_ns);
    rows.end_ns.push_back(sync.end_ns);
    rows.kind.push_back(sync.kind);
    rows.device.push_back(device_row(sync.device));
    rows.stream.push_back(sync.stream < 0 ? kNoRow : stream_row({sync.device, sync.stream}));
    rows.event_stream.push_back(known ? stream_row(sync.record_on) : kNoRow);
    rows.event_record.push_back(kNoRow);
    rows.call.push_back(kNoRow);
    rows.correlation.push_back(execution_.calls[sync.call].correlation);
    rows.event_id.push_back(sync.event < 0 ? kUnknown : sync.event);
    record_correlation_.push_back(known ? execution_.calls[sync.record_call].correlation
                                        : kUnknown);
  }

  const Execution& execution_;
  const RecordOptions& options_;
  profile::Trace trace_;
  std::vector<std::int64_t> record_correlation_;
  std::map<int, RowIndex> devices_;
  std::map<StreamRef, RowIndex> streams_;
  std::map<std::pair<std::int64_t, std::int64_t>, RowIndex> graph_nodes_;
  std::map<profile::LaunchConfig, RowIndex> configs_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

profile::ApiKind api_kind(const std::string& call_name) {
  const bool driver = call_name.rfind("cu", 0) == 0 && call_name.rfind("cuda", 0) != 0;
  return driver ? profile::ApiKind::driver : profile::ApiKind::runtime;
}

profile::Trace to_trace(const Execution& execution, const RecordOptions& options) {
  return Recorder(execution, options).record();
}

}  // namespace gprofml::synth
