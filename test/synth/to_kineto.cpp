#include "test/synth/to_kineto.hpp"

#include <array>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "test/synth/random.hpp"

namespace gprofml::synth {
namespace {

using profile::kUnknown;

struct Spelling {
  const char* kernel;
  const char* copy;
  const char* fill;
  const char* runtime;
  const char* driver;
  const char* op;
  const char* external_id;
  const char* flow_category;
  const char* flow_name;
  bool header;
  bool decimals;
  bool relative;         // to baseTimeNanoseconds
  bool stream_tid_text;  // "tid": "stream 7"
  bool host_tid_text;    // "tid": "4100"
  bool external_is_correlation;
};

constexpr std::array<Spelling, 5> kSpellings{{
    {"Kernel", "Memcpy", "Memset", "Runtime", "Runtime", "Operator", "external id", "async",
     "launch", false, false, false, true, false, false},
    {"Kernel", "Memcpy", "Memset", "Runtime", "Runtime", "Operator", "external id", "async",
     "launch", true, false, false, true, true, false},
    {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", "External id",
     "async_cpu_to_gpu", "async_gpu", true, false, false, false, false, true},
    {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", "External id",
     "ac2g", "ac2g", true, true, false, false, false, false},
    {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", "External id",
     "ac2g", "ac2g", true, true, true, false, false, false},
}};

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

// The members of a JSON object, written one after the other.
class Members {
 public:
  Members& raw(const char* key, const std::string& json) {
    text_ += fmt::format("{}\"{}\": {}", text_.empty() ? "" : ", ", key, json);
    return *this;
  }
  Members& number(const char* key, std::int64_t value) { return raw(key, fmt::to_string(value)); }
  Members& string(const char* key, const std::string& value) { return raw(key, quoted(value)); }
  std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string triple(const std::array<std::int64_t, 3>& values) {
  return fmt::format("[{}, {}, {}]", values[0], values[1], values[2]);
}

class Writer {
 public:
  Writer(const Execution& execution, const KinetoOptions& options)
      : execution_(execution),
        options_(options),
        spelling_(kSpellings[static_cast<std::size_t>(options.era)]) {
    // Kineto's bases step by a quarter of a year.
    constexpr Nanoseconds kBaseStep = Nanoseconds{7889238} * 1000000000;
    if (spelling_.relative) base_ns_ = execution.program.begin_ns / kBaseStep * kBaseStep;
  }

  std::string write() {
    add_thread_names();
    for (const RangeRun& range : execution_.ranges) add_range(range);
    for (const Call& call : execution_.calls) add_call(call);
    for (const Activity& activity : execution_.activities) add_activity(activity);
    if (options_.sync_records) {
      for (const SyncRun& sync : execution_.syncs) add_sync(sync);
    }
    if (options_.flows) add_flows();
    if (options_.shuffle_seed) Random(*options_.shuffle_seed).shuffle(events_);
    return document();
  }

 private:
  // --- the file --------------------------------------------------------------------------------

  std::string document() const {
    const std::string events = fmt::format("[\n{}\n]", fmt::join(events_, ",\n"));
    if (!spelling_.header) return events + "\n";
    std::string header;
    for (const auto& [key, json] : header_members()) {
      header += fmt::format("{}\"{}\": {}", header.empty() ? "" : ",\n", key, json);
    }
    if (options_.header_first)
      return fmt::format("{{\n{},\n\"traceEvents\": {}\n}}\n", header, events);
    return fmt::format("{{\n\"traceEvents\": {},\n{}\n}}\n", events, header);
  }

  std::vector<std::pair<std::string, std::string>> header_members() const {
    std::vector<std::pair<std::string, std::string>> members{{"schemaVersion", "1"}};
    members.emplace_back("deviceProperties", device_properties());
    if (options_.rank != kUnknown) {
      members.emplace_back(
          "distributedInfo",
          Members().string("backend", "nccl").number("rank", options_.rank).object());
    }
    if (!options_.host.empty()) members.emplace_back("host_name", quoted(options_.host));
    if (spelling_.decimals) members.emplace_back("displayTimeUnit", "\"ms\"");
    if (spelling_.relative) members.emplace_back("baseTimeNanoseconds", fmt::to_string(base_ns_));
    if (!options_.trace_name.empty())
      members.emplace_back("traceName", quoted(options_.trace_name));
    members.insert(members.end(), options_.header.begin(), options_.header.end());
    return members;
  }

  std::string device_properties() const {
    std::set<int> ordinals;
    for (const Activity& activity : execution_.activities) ordinals.insert(activity.on.device);
    const DeviceModel& model = execution_.program.device_model;
    std::vector<std::string> devices;
    for (const int ordinal : ordinals) {
      devices.push_back(Members()
                            .number("id", ordinal)
                            .string("name", model.name)
                            .number("totalGlobalMem", model.memory_bytes)
                            .number("computeMajor", model.compute_major)
                            .number("computeMinor", model.compute_minor)
                            .number("numSms", model.multiprocessors)
                            .object());
    }
    return fmt::format("[{}]", fmt::join(devices, ", "));
  }

  // --- times and places ------------------------------------------------------------------------

  std::string microseconds(Nanoseconds time_ns) const {
    if (spelling_.decimals) return fmt::format("{}.{:03}", time_ns / 1000, time_ns % 1000);
    if (time_ns % 1000 != 0) {
      throw std::invalid_argument(
          fmt::format("{} ns is no whole microsecond, as this era of Kineto writes", time_ns));
    }
    return fmt::to_string(time_ns / 1000);
  }

  std::string host_tid(std::size_t thread) const {
    const std::int64_t tid = execution_.program.threads[thread].tid;
    return spelling_.host_tid_text ? fmt::format("\"{}\"", tid) : fmt::to_string(tid);
  }

  std::string stream_tid(int stream) const {
    return spelling_.stream_tid_text ? fmt::format("\"stream {}\"", stream)
                                     : fmt::to_string(stream);
  }

  void add_event(const char* category, const std::string& name, std::int64_t pid,
                 const std::string& tid, Nanoseconds start_ns, Nanoseconds end_ns,
                 const Members& arguments) {
    events_.push_back(Members()
                          .string("ph", "X")
                          .string("cat", category)
                          .string("name", name)
                          .number("pid", pid)
                          .raw("tid", tid)
                          .raw("ts", microseconds(start_ns - base_ns_))
                          .raw("dur", microseconds(end_ns - start_ns))
                          .raw("args", arguments.object())
                          .object());
  }

  // --- the host --------------------------------------------------------------------------------

  void add_thread_names() {
    for (std::size_t thread = 0; thread < execution_.program.threads.size(); ++thread) {
      const HostThread& host_thread = execution_.program.threads[thread];
      if (host_thread.name.empty()) continue;
      events_.push_back(Members()
                            .string("name", "thread_name")
                            .string("ph", "M")
                            .raw("ts", microseconds(execution_.program.begin_ns - base_ns_))
                            .number("pid", execution_.program.pid)
                            .raw("tid", host_tid(thread))
                            .raw("args", Members().string("name", host_thread.name).object())
                            .object());
    }
  }

  void add_range(const RangeRun& range) {
    Members arguments;
    const char* category = spelling_.op;
    if (range.kind == profile::RangeKind::python_function) {
      category = "python_function";
      arguments.number("Python id",
                       static_cast<std::int64_t>(&range - execution_.ranges.data()) + 1);
      arguments.raw("Python parent id", python_parent(range));
    } else {
      if (range.kind != profile::RangeKind::op) category = "user_annotation";
      arguments.number(spelling_.external_id, range.external_id);
    }
    add_event(category, range.name, execution_.program.pid, host_tid(range.thread), range.start_ns,
              range.end_ns, arguments);
  }

  std::string python_parent(const RangeRun& range) const {
    for (std::size_t parent = range.parent; parent != kNone;
         parent = execution_.ranges[parent].parent) {
      if (execution_.ranges[parent].kind == profile::RangeKind::python_function) {
        return fmt::to_string(parent + 1);
      }
    }
    return "null";
  }

  void add_external_id(Members& arguments, const Call& call) const {
    if (spelling_.external_is_correlation) {
      arguments.number(spelling_.external_id, call.correlation);
    } else if (call.op != kNone) {
      arguments.number(spelling_.external_id, execution_.ranges[call.op].external_id);
    }
  }

  void add_call(const Call& call) {
    Members arguments;
    add_external_id(arguments, call);
    arguments.number("cbid", cbid(call.name)).number("correlation", call.correlation);
    const bool driver = api_kind(call.name) == profile::ApiKind::driver;
    add_event(driver ? spelling_.driver : spelling_.runtime, call.name, execution_.program.pid,
              host_tid(call.thread), call.start_ns, call.end_ns, arguments);
  }

  // CUPTI's callback ids, where real files show them; nothing reads them.
  static std::int64_t cbid(const std::string& name) {
    if (name == "cudaEventRecord") return 135;
    if (name == "cudaStreamWaitEvent") return 147;
    if (name == "cudaDeviceSynchronize") return 165;
    return name == "cudaLaunchKernel" ? 211 : 0;
  }

  // --- the devices -----------------------------------------------------------------------------

  const char* category(WorkKind kind) const {
    if (kind == WorkKind::copy) return spelling_.copy;
    return kind == WorkKind::fill ? spelling_.fill : spelling_.kernel;
  }

  void add_activity(const Activity& activity) {
    const Work& work = activity.work;
    Members arguments;
    add_external_id(arguments, execution_.calls[activity.call]);
    arguments.number("device", activity.on.device).number("context", 1);
    arguments.number("stream", activity.on.stream);
    arguments.number("correlation", execution_.calls[activity.call].correlation);
    if (work.kind == WorkKind::copy || work.kind == WorkKind::fill) {
      add_bytes(arguments, work);
    } else {
      add_config(arguments, work.config);
    }
    if (activity.graph_id != kUnknown) {
      arguments.number("graph id", activity.graph_id).number("graph node id", activity.node_id);
    }
    add_event(category(work.kind), work.name, activity.on.device, stream_tid(activity.on.stream),
              activity.start_ns, activity.end_ns, arguments);
  }

  static void add_bytes(Members& arguments, const Work& work) {
    if (work.bytes == kUnknown) return;
    arguments.number("bytes", work.bytes);
    if (work.duration_ns == 0) return;
    const double bandwidth =
        static_cast<double>(work.bytes) / static_cast<double>(work.duration_ns);
    arguments.raw("memory bandwidth (GB/s)", fmt::format("{:.4f}", bandwidth));
  }

  static void add_config(Members& arguments, const profile::LaunchConfig& config) {
    if (config.registers_per_thread != kUnknown) {
      arguments.number("registers per thread", config.registers_per_thread);
    }
    if (config.static_shared_bytes != kUnknown || config.dynamic_shared_bytes != kUnknown) {
      const auto known = [](std::int64_t bytes) { return bytes == kUnknown ? 0 : bytes; };
      arguments.number("shared memory",
                       known(config.static_shared_bytes) + known(config.dynamic_shared_bytes));
    }
    if (config.grid[0] != kUnknown) arguments.raw("grid", triple(config.grid));
    if (config.block[0] != kUnknown) arguments.raw("block", triple(config.block));
  }

  void add_sync(const SyncRun& sync) {
    const std::string kind = sync_name(sync.kind);
    Members arguments;
    arguments.string("cuda_sync_kind", kind);
    if (sync.kind == profile::SyncKind::event ||
        sync.kind == profile::SyncKind::stream_wait_event) {
      const bool known = options_.event_records && sync.record_call != kNone;
      arguments.number("wait_on_stream", known ? sync.record_on.stream : -1);
      arguments.number("wait_on_cuda_event_record_corr_id",
                       known ? execution_.calls[sync.record_call].correlation : -1);
      arguments.number("wait_on_cuda_event_id", sync.event);
    }
    arguments.number("stream", sync.stream);
    arguments.number("correlation", execution_.calls[sync.call].correlation);
    arguments.number("device", sync.device).number("context", 1);
    add_event("cuda_sync", kind, sync.device, stream_tid(sync.stream), sync.start_ns, sync.end_ns,
              arguments);
  }

  static const char* sync_name(profile::SyncKind kind) {
    switch (kind) {
      case profile::SyncKind::stream:
        return "Stream Sync";
      case profile::SyncKind::event:
        return "Event Sync";
      case profile::SyncKind::stream_wait_event:
        return "Stream Wait Event";
      case profile::SyncKind::context:
        return "Context Sync";
      case profile::SyncKind::unknown:
        break;
    }
    return "Unknown";
  }

  // --- arrows ----------------------------------------------------------------------------------

  void add_flows() {
    for (const Call& call : execution_.calls) {
      if (call.activities == 0) continue;
      add_flow("s", call.correlation, execution_.program.pid, host_tid(call.thread), call.start_ns);
    }
    for (const Activity& activity : execution_.activities) {
      add_flow("f", execution_.calls[activity.call].correlation, activity.on.device,
               stream_tid(activity.on.stream), activity.start_ns);
    }
  }

  void add_flow(const char* phase, std::int64_t id, std::int64_t pid, const std::string& tid,
                Nanoseconds time_ns) {
    Members flow;
    flow.string("ph", phase).number("id", id).number("pid", pid).raw("tid", tid);
    flow.raw("ts", microseconds(time_ns - base_ns_)).string("cat", spelling_.flow_category);
    flow.string("name", spelling_.flow_name);
    if (phase[0] == 'f') flow.string("bp", "e");
    events_.push_back(flow.object());
  }

  const Execution& execution_;
  const KinetoOptions& options_;
  const Spelling& spelling_;
  Nanoseconds base_ns_ = 0;
  std::vector<std::string> events_;
};

}  // namespace

std::string to_kineto_json(const Execution& execution, const KinetoOptions& options) {
  return Writer(execution, options).write();
}

}  // namespace gprofml::synth
