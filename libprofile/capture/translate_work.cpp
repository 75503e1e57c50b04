// GPU work, and the devices, contexts and streams it runs on.
#include <fmt/format.h>

#include <algorithm>

#include "libprofile/capture/translate_cupti.hpp"
#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {
namespace {

constexpr std::uint64_t stream_key(std::uint32_t context, std::uint32_t stream) {
  return static_cast<std::uint64_t>(context) << 32 | stream;
}

bool is_zero(const std::uint8_t (&uuid)[16]) {
  return std::all_of(std::begin(uuid), std::end(uuid), [](std::uint8_t b) { return b == 0; });
}

/// "GPU-2f6c5a1e-…" as nvidia-smi writes it.
std::string uuid_text(std::string_view prefix, const std::uint8_t (&uuid)[16]) {
  std::string text(prefix);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace

// --- where work runs -------------------------------------------------------------------------

RowIndex ProcessTranslator::device_row(std::uint32_t id) {
  const RowIndex known = devices_.find(id);
  if (known != kNoRow) return known;
  const auto row = static_cast<RowIndex>(trace_.devices.size());
  Device& device = trace_.devices.emplace_back();
  device.ordinal = id;
  device.process = 0;
  devices_.set(id, row);
  return row;
}

void ProcessTranslator::take(const spool::Device& record) {
  Device& device = trace_.devices[device_row(record.id)];
  if (!is_zero(record.mig_uuid)) {
    device.uuid = trace_.intern(uuid_text("MIG", record.mig_uuid));
  } else if (!is_zero(record.uuid)) {
    device.uuid = trace_.intern(uuid_text("GPU", record.uuid));
  }
  if (device.uuid != 0) device.process = kNoRow;
  device.name = name_of(record.name);
  if (record.memory_bytes != 0) {
    device.memory_bytes = static_cast<std::int64_t>(record.memory_bytes);
  }
  if (record.multiprocessors != 0) device.multiprocessors = record.multiprocessors;
  if (record.compute_major != 0) {
    device.compute_major = record.compute_major;
    device.compute_minor = record.compute_minor;
  }
}

void ProcessTranslator::take(const spool::Context& record) {
  described_contexts_[record.id] = record;
}

void ProcessTranslator::take(const spool::Stream& record) {
  described_streams_[stream_key(record.context, record.id)] = record;
}

RowIndex ProcessTranslator::context_row(std::uint32_t id, RowIndex device) {
  const auto [found, is_new] =
      contexts_.try_emplace(id, static_cast<RowIndex>(trace_.contexts.size()));
  if (is_new) trace_.contexts.push_back({0, device, id});
  return found->second;
}

RowIndex ProcessTranslator::stream_row(std::uint32_t context, std::uint32_t id,
                                       std::uint32_t device) {
  const std::uint64_t key = stream_key(context, id);
  if (last_stream_ != kNoRow && key == last_stream_key_) return last_stream_;
  const auto [found, is_new] =
      streams_.try_emplace(key, static_cast<RowIndex>(trace_.streams.size()));
  if (is_new) {
    Stream& stream = trace_.streams.emplace_back();
    stream.context = context_row(context, device_row(device));
    stream.id = id;
  }
  last_stream_key_ = key;
  return last_stream_ = found->second;
}

void ProcessTranslator::place_contexts() {
  for (const auto& [id, context] : described_contexts_) context_row(id, device_row(context.device));
}

void ProcessTranslator::place_streams() {
  for (const auto& [key, record] : described_streams_) {
    const auto context = contexts_.find(record.context);
    if (context == contexts_.end()) {
      ++facts_.unplaced_records;
      continue;
    }
    const RowIndex device = trace_.contexts[context->second].device;
    Stream& stream = trace_.streams[stream_row(
        record.context, record.id, static_cast<std::uint32_t>(trace_.devices[device].ordinal))];
    stream.flags = stream_kind_of(record.flag);
    stream.priority = record.priority;
  }
  for (const auto& [id, context] : described_contexts_) {
    const auto null_stream = streams_.find(stream_key(id, context.null_stream));
    if (null_stream == streams_.end()) continue;
    trace_.streams[null_stream->second].flags = StreamKind::null_stream;
  }
}

/// The stream that a synchronisation or event names; kNoRow when none can be told. Waits for an
/// event of another device may name the context of the event beside the stream that waits.
RowIndex ProcessTranslator::stream_known_as(std::uint32_t context, std::uint32_t id) {
  if (id == spool::kNoId) return kNoRow;
  const auto exact = streams_.find(stream_key(context, id));
  if (exact != streams_.end()) return exact->second;
  RowIndex elsewhere = kNoRow;
  for (const auto& [other, row] : contexts_) {
    const auto found = streams_.find(stream_key(other, id));
    if (found == streams_.end()) continue;
    if (elsewhere != kNoRow) {
      elsewhere = kNoRow;
      break;
    }
    elsewhere = found->second;
  }
  if (elsewhere != kNoRow) return elsewhere;
  const auto known_context = contexts_.find(context);
  if (known_context == contexts_.end()) return kNoRow;
  const RowIndex device = trace_.contexts[known_context->second].device;
  const RowIndex row =
      stream_row(context, id, static_cast<std::uint32_t>(trace_.devices[device].ordinal));
  const auto described = described_contexts_.find(context);
  if (described != described_contexts_.end() && described->second.null_stream == id) {
    trace_.streams[row].flags = StreamKind::null_stream;
  }
  return row;
}

// --- work ------------------------------------------------------------------------------------

template <typename Record>
void ProcessTranslator::add_activity(ActivityColumns& work, const Record& record, StringId name) {
  // Work whose times make no sense has lost them: it is kept, and takes no part in time.
  const bool sound = record.end_ns >= record.start_ns;
  if (!sound) ++facts_.bad_times;
  work.start_ns.push_back(sound ? record.start_ns : 0);
  work.end_ns.push_back(sound ? record.end_ns : 0);
  if (sound) saw(record.end_ns);
  work.name.push_back(name);
  work.stream.push_back(stream_row(record.context, record.stream, record.device));
  work.launch.push_back(kNoRow);
  work.correlation.push_back(record.correlation == 0 ? kUnknown : std::int64_t{record.correlation});
  work.graph_node.push_back(record.graph_node == 0 ? kNoRow
                                                   : graphs_.row(record.graph, record.graph_node));
  work.op.push_back(kNoRow);
  work.sequence.push_back(0);
}

void ProcessTranslator::take(const spool::Kernel& record) {
  add_activity(trace_.kernels, record, kernel_name_of(record.name));
  const RowIndex config =
      record.launch_config == spool::kNoId ? kNoRow : configs_.find(record.launch_config);
  if (config == kNoRow && record.launch_config != spool::kNoId) ++facts_.missing_names;
  trace_.kernels.launch_config.push_back(config);
}

void ProcessTranslator::take(const spool::Place& record) {
  place_ids_.set(record.id, static_cast<RowIndex>(places_.size()));
  places_.push_back(record);
}

void ProcessTranslator::take(const spool::ShortKernel& record) {
  const RowIndex row = place_ids_.find(record.place);
  // In a file that says anything the end may lie behind the end of time.
  const auto end_ns =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(record.start_ns) + record.duration_ns);
  if (row == kNoRow) {
    ++facts_.unplaced_records;
    return;
  }
  spool::Kernel kernel{};
  kernel.start_ns = record.start_ns;
  kernel.end_ns = end_ns;
  kernel.graph_node = record.graph_node;
  kernel.graph = record.graph;
  kernel.name = record.name;
  kernel.device = places_[row].device;
  kernel.context = places_[row].context;
  kernel.stream = places_[row].stream;
  kernel.correlation = record.correlation;
  kernel.launch_config = record.launch_config;
  take(kernel);
}

void ProcessTranslator::take(const spool::Copy& record) {
  const std::uint32_t key = static_cast<std::uint32_t>(record.copy_kind) << 16 |
                            static_cast<std::uint32_t>(record.source_memory) << 8 |
                            record.target_memory;
  auto found = copy_names_.find(key);
  if (found == copy_names_.end()) {
    const std::string name =
        copy_name(record.copy_kind, record.source_memory, record.target_memory);
    found = copy_names_.emplace(key, trace_.intern(name)).first;
  }
  add_activity(trace_.copies, record, found->second);
  trace_.copies.bytes.push_back(static_cast<std::int64_t>(record.bytes));
  trace_.copies.kind.push_back(copy_kind_of(record.copy_kind));
  trace_.copies.source_memory.push_back(memory_kind_of(record.source_memory));
  trace_.copies.target_memory.push_back(memory_kind_of(record.target_memory));
}

void ProcessTranslator::take(const spool::Fill& record) {
  add_activity(trace_.fills, record, trace_.intern(fill_name(record.memory)));
  trace_.fills.bytes.push_back(static_cast<std::int64_t>(record.bytes));
  trace_.fills.memory.push_back(memory_kind_of(record.memory));
}

void ProcessTranslator::take(const spool::GraphLaunch& record) {
  spool::Kernel whole{};  // what all work has
  whole.start_ns = record.start_ns;
  whole.end_ns = record.end_ns;
  whole.device = record.device;
  whole.context = record.context;
  whole.stream = record.stream;
  whole.correlation = record.correlation;
  add_activity(trace_.graph_launches, whole,
               trace_.intern(fmt::format("CUDA graph {}", record.graph)));
  trace_.graph_launches.graph_id.push_back(record.graph);
}

}  // namespace gprofml::profile
