// Taking records: facts, dictionaries, and the walk over a chunk. translate_work.cpp has GPU work
// and where it runs, translate_memory.cpp memory, translate_host.cpp what threads did.
#include "libprofile/capture/translate_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/nccl_collectives.hpp"
#include "libprofile/capture/rank.hpp"
#include "libprofile/capture/readable_names.hpp"

namespace gprofml::profile {

using spool::RecordKind;

std::string ProcessFacts::fact(const std::string& key) const {
  const auto found = facts.find(key);
  return found == facts.end() ? std::string() : found->second;
}

ProcessTranslator::ProcessTranslator(const std::string& spool_name, const spool::FileHeader& header)
    : pid_(header.pid), ranges_(trace_), graphs_(trace_), stacks_(trace_) {
  Process& process = trace_.processes.emplace_back();
  process.pid = header.pid;
  process.source = trace_.intern(spool_name);
  strings_.set(0, 0);
}

void ProcessTranslator::take(RecordCursor records) {
  while (const auto view = records.next()) take(*view);
  if (records.broken()) ++facts_.malformed_records;
}

template <typename Record>
void ProcessTranslator::pass(const RecordView& view,
                             void (ProcessTranslator::*handle)(const Record&)) {
  if (const auto record = view.as<Record>()) {
    (this->*handle)(*record);
  } else {
    ++facts_.malformed_records;
  }
}

void ProcessTranslator::take(const RecordView& view) {
  using Self = ProcessTranslator;
  if (is_repeated_ && view.kind() != RecordKind::segment) return;
  switch (view.kind()) {
    case RecordKind::fact:
      return take_fact(view);
    case RecordKind::string:
      return take_string(view);
    case RecordKind::launch_config:
      return pass<spool::LaunchConfig>(view, &Self::take);
    case RecordKind::thread:
      return pass<spool::Thread>(view, &Self::take);
    case RecordKind::domain:
      return pass<spool::Domain>(view, &Self::take);
    case RecordKind::note:
      return pass<spool::Note>(view, &Self::take);
    case RecordKind::status:
      return pass<spool::Status>(view, &Self::take);
    case RecordKind::end:
      return pass<spool::End>(view, &Self::take);
    case RecordKind::window:
      return pass<spool::Window>(view, &Self::take);
    case RecordKind::capture_event:
      return pass<spool::CaptureEvent>(view, &Self::take);
    case RecordKind::cost:
      return pass<spool::Cost>(view, &Self::take);
    case RecordKind::segment:
      return pass<spool::Segment>(view, &Self::take);
    case RecordKind::device:
      return pass<spool::Device>(view, &Self::take);
    case RecordKind::context:
      return pass<spool::Context>(view, &Self::take);
    case RecordKind::stream:
      return pass<spool::Stream>(view, &Self::take);
    case RecordKind::place:
      return pass<spool::Place>(view, &Self::take);
    case RecordKind::short_kernel:
      return pass<spool::ShortKernel>(view, &Self::take);
    case RecordKind::kernel:
      return pass<spool::Kernel>(view, &Self::take);
    case RecordKind::copy:
      return pass<spool::Copy>(view, &Self::take);
    case RecordKind::fill:
      return pass<spool::Fill>(view, &Self::take);
    case RecordKind::graph_launch:
      return pass<spool::GraphLaunch>(view, &Self::take);
    case RecordKind::memory_event:
      return pass<spool::MemoryEvent>(view, &Self::take);
    case RecordKind::memory_pool:
      return pass<spool::MemoryPool>(view, &Self::take);
    case RecordKind::unified_memory:
      return pass<spool::UnifiedMemory>(view, &Self::take);
    case RecordKind::api_call:
      return pass<spool::ApiCall>(view, &Self::take);
    case RecordKind::sync:
      return pass<spool::Sync>(view, &Self::take);
    case RecordKind::cuda_event:
      return pass<spool::CudaEvent>(view, &Self::take);
    case RecordKind::overhead:
      return pass<spool::Overhead>(view, &Self::take);
    case RecordKind::graph_node:
      return pass<spool::GraphNode>(view, &Self::take);
    case RecordKind::graph_edge:
      return pass<spool::GraphEdge>(view, &Self::take);
    case RecordKind::range_push:
      return take_push(view);
    case RecordKind::range_pop:
      return pass<spool::RangePop>(view, &Self::take);
    case RecordKind::range_start:
      return take_start(view);
    case RecordKind::range_end:
      return pass<spool::RangeEnd>(view, &Self::take);
    case RecordKind::mark:
      return take_mark(view);
    case RecordKind::category:
      return pass<spool::Category>(view, &Self::take);
    case RecordKind::payload_schema:
      return take_schema(view);
    case RecordKind::counter:
      return pass<spool::Counter>(view, &Self::take);
    case RecordKind::payload:
      return take_payload(view);
    case RecordKind::counter_sample:
      return take_sample(view);
    case RecordKind::module:
      return pass<spool::Module>(view, &Self::take);
    case RecordKind::stack:
      return take_stack(view);
    case RecordKind::call_stack:
      return pass<spool::CallStack>(view, &Self::take);
  }
  ++facts_.unknown_records;
}

void ProcessTranslator::saw(Nanoseconds time_ns) {
  facts_.last_ns = std::max(facts_.last_ns, time_ns);
}

// --- dictionaries and facts ------------------------------------------------------------------

void ProcessTranslator::take_fact(const RecordView& view) {
  const auto record = view.as<spool::Fact>();
  if (record) {
    const auto key = view.text(sizeof(spool::Fact), record->key_bytes);
    const auto value =
        view.text(sizeof(spool::Fact) + std::size_t{record->key_bytes}, record->value_bytes);
    if (key && value) {
      facts_.facts[std::string(*key)] = *value;
      return;
    }
  }
  ++facts_.malformed_records;
}

void ProcessTranslator::take_string(const RecordView& view) {
  const auto record = view.as<spool::String>();
  const auto text = record ? view.text(sizeof(spool::String), record->text_bytes) : std::nullopt;
  if (text && record->id != 0) {
    strings_.set(record->id, trace_.intern(*text));
  } else {
    ++facts_.malformed_records;
  }
}

void ProcessTranslator::take(const spool::Module& record) {
  stacks_.take(record, name_of(record.path));
}

void ProcessTranslator::take_stack(const RecordView& view) {
  if (!stacks_.take(view)) ++facts_.malformed_records;
}

void ProcessTranslator::take(const spool::CallStack& record) {
  stacks_.take(record);
}

void ProcessTranslator::take(const spool::LaunchConfig& record) {
  LaunchConfig config;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    config.grid[axis] = record.grid[axis];
    config.block[axis] = record.block[axis];
    if (record.cluster[axis] != 0) config.cluster[axis] = record.cluster[axis];
  }
  config.registers_per_thread = record.registers_per_thread;
  config.static_shared_bytes = record.static_shared_bytes;
  config.dynamic_shared_bytes = record.dynamic_shared_bytes;
  config.local_bytes_per_thread = record.local_bytes_per_thread;
  configs_.set(record.id, static_cast<RowIndex>(trace_.launch_configs.size()));
  trace_.launch_configs.push_back(config);
}

void ProcessTranslator::take(const spool::Thread& record) {
  trace_.threads[thread_row(record.tid)].name = name_of(record.name);
}

void ProcessTranslator::take(const spool::Domain& record) {
  domains_.set(record.id, name_of(record.name));
}

void ProcessTranslator::take(const spool::Note& record) {
  const std::string code(trace_.text(name_of(record.code)));
  const std::string detail(trace_.text(name_of(record.detail)));
  facts_.notes[{code.empty() ? "unnamed_note" : code, detail}] += record.count;
}

void ProcessTranslator::take(const spool::Status& record) {
  constexpr Nanoseconds kLargestDrift = 1'000'000;
  const spool::Status& before = facts_.status;
  if (before.realtime_ns != 0 && record.realtime_ns != 0) {
    // Unsigned: a file may say anything, and differences of such times need not fit.
    const auto difference = [](std::int64_t a, std::int64_t b) {
      return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
    };
    const auto step =
        static_cast<std::int64_t>(difference(record.realtime_ns, before.realtime_ns) -
                                  difference(record.monotonic_ns, before.monotonic_ns));
    if (step > kLargestDrift || step < -kLargestDrift) {
      ++facts_.clock_steps;
      const Nanoseconds size = step == std::numeric_limits<Nanoseconds>::min() ? step + 1 : step;
      facts_.largest_clock_step_ns = std::max(facts_.largest_clock_step_ns, std::abs(size));
      CaptureEventColumns& events = trace_.capture_events;
      events.time_ns.push_back(record.realtime_ns);
      events.process.push_back(0);
      events.kind.push_back(trace_.intern("clock_step"));
      events.detail.push_back(trace_.intern("the system's clock was set by `value` ns"));
      events.value.push_back(step);
    }
  }
  facts_.status = record;
  ClockPairColumns& clocks = trace_.clock_pairs;
  clocks.process.push_back(0);
  clocks.realtime_ns.push_back(record.realtime_ns);
  clocks.monotonic_ns.push_back(record.monotonic_ns);
  clocks.cupti_ns.push_back(record.cupti_ns == 0 ? kUnknown : record.cupti_ns);
  clocks.uncertainty_ns.push_back(kUnknown);
}

void ProcessTranslator::take(const spool::End& record) {
  facts_.end_reason = record.reason;
}

void ProcessTranslator::take(const spool::Cost& record) {
  facts_.cost = record;
}

// --- names -----------------------------------------------------------------------------------

StringId ProcessTranslator::name_of(std::uint32_t string) {
  const RowIndex id = strings_.find(string);
  if (id != kNoRow) return id;
  ++facts_.missing_names;
  return 0;
}

StringId ProcessTranslator::kernel_name_of(std::uint32_t string) {
  const RowIndex known = kernel_names_.find(string);
  if (known != kNoRow) return known;
  const std::string name(trace_.text(name_of(string)));
  const StringId readable = trace_.intern(readable_kernel_name(name));
  if (strings_.find(string) != kNoRow) kernel_names_.set(string, readable);
  return readable;
}

StringId ProcessTranslator::call_name_of(std::uint32_t string) {
  const RowIndex known = call_names_.find(string);
  if (known != kNoRow) return known;
  const std::string name(trace_.text(name_of(string)));
  const StringId readable = trace_.intern(readable_call_name(name));
  if (strings_.find(string) != kNoRow) call_names_.set(string, readable);
  return readable;
}

// --- the whole file --------------------------------------------------------------------------

void ProcessTranslator::describe_process() {
  Process& process = trace_.processes[0];
  process.host = trace_.intern(facts_.fact("host"));
  std::vector<std::string> words;
  const std::string command = facts_.fact("command");
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find('\0', at), command.size());
    words.push_back(command.substr(at, end - at));
    at = end + 1;
  }
  process.command = trace_.intern(command_text(words));
  const auto rank = rank_of([this](const char* name) -> const char* {
    const auto found = facts_.facts.find(std::string("env.") + name);
    return found == facts_.facts.end() ? nullptr : found->second.c_str();
  });
  if (rank) process.rank = rank->number;
  for (Device& device : trace_.devices) device.host = process.host;
}

Trace ProcessTranslator::finish() {
  describe_process();
  place_contexts();
  place_streams();
  place_syncs();
  place_cuda_events();
  fill_in_freed_bytes();
  see_the_end();
  ranges_.finish(facts_.last_ns);
  facts_.open_ranges = ranges_.open_ranges();
  facts_.unopened_ends = ranges_.unopened_ends();
  facts_.bad_times += ranges_.backward_ranges();
  resolve_correlations(trace_, {});
  join_events();
  graphs_.finish();
  facts_.conditional_nodes = graphs_.conditional_nodes();
  facts_.unknown_graph_nodes = graphs_.unknown_nodes();
  add_nccl_collectives(trace_);
  stacks_.finish(graphs_);
  for (const CallStacks::Note& note : stacks_.notes()) {
    // Stacks have no times: of those beside a window the calls are left out, and that is no loss.
    if (is_windowed_ && note.code == "stacks_without_call") continue;
    facts_.notes[{note.code, note.detail}] += static_cast<std::uint64_t>(note.count);
  }
  keep_windows();
  return std::move(trace_);
}

}  // namespace gprofml::profile
