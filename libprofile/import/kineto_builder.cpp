#include "libprofile/import/kineto_builder.hpp"

#include <algorithm>
#include <cstring>

#include "libprofile/import/copy_name.hpp"
#include "libprofile/import/decimal_time.hpp"
#include "libprofile/import/json_text.hpp"
#include "libprofile/trace/column_roles.hpp"

namespace gprofml::profile {
namespace {

std::int64_t number(std::string_view token) {
  return integer_of(token).value_or(kUnknown);
}

/// Ids that mean "none" in a source are unknown here.
std::int64_t number_unless(std::int64_t none, std::string_view token) {
  const std::int64_t value = number(token);
  return value == none ? kUnknown : value;
}

/// The number a word ends in: 7 of "stream 7".
std::int64_t trailing_number(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::size_t first = text.size();
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  return number(text.substr(first));
}

std::int64_t number_or_trailing(std::string_view token) {
  const auto text = string_content(token);
  return text ? trailing_number(*text) : number(token);
}

bool same_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

/// [x, y, z]; fewer numbers leave the rest unknown.
std::array<std::int64_t, 3> triple(std::string_view token) {
  std::array<std::int64_t, 3> result{kUnknown, kUnknown, kUnknown};
  token = trimmed(token);
  if (token.size() < 2 || token.front() != '[') return result;
  token.remove_prefix(1);
  for (std::int64_t& value : result) {
    const std::size_t end = token.find_first_of(",]");
    if (end == std::string_view::npos) break;
    std::string_view item = token.substr(0, end);
    item.remove_prefix(std::min(item.find_first_not_of(" \t\r\n"), item.size()));
    value = number(item);
    token.remove_prefix(end + 1);
  }
  return result;
}

SyncKind sync_kind(std::string_view token) {
  const std::string_view text = string_content(token).value_or("");
  if (same_ignoring_case(text, "stream sync")) return SyncKind::stream;
  if (same_ignoring_case(text, "event sync")) return SyncKind::event;
  if (same_ignoring_case(text, "stream wait event")) return SyncKind::stream_wait_event;
  if (same_ignoring_case(text, "context sync")) return SyncKind::context;
  return SyncKind::unknown;
}

constexpr std::size_t kNameSlots = 4096;

/// Length, first and last eight bytes: enough to tell most names of a trace apart.
std::size_t name_slot(std::string_view name) {
  std::uint64_t first = 0, last = 0;
  const std::size_t bytes = std::min(name.size(), sizeof first);
  std::memcpy(&first, name.data(), bytes);
  std::memcpy(&last, name.data() + name.size() - bytes, bytes);
  const std::uint64_t mixed =
      (first ^ (last * 0x9E3779B97F4A7C15u) ^ name.size()) * 0xD6E8FEB86659FD93u;
  return static_cast<std::size_t>(mixed >> 52);
}
static_assert(kNameSlots == std::size_t{1} << (64 - 52));

void append_activity_defaults(ActivityColumns& activities) {
  activities.launch.push_back(kNoRow);
  activities.op.push_back(kNoRow);
}

}  // namespace

KinetoBuilder::KinetoBuilder(std::string_view source_name) : known_names_(kNameSlots) {
  trace_.processes.emplace_back();
  trace_.processes[0].source = trace_.intern(source_name);
}

KinetoBuilder::Category KinetoBuilder::category_of(std::string_view token) {
  struct Named {
    std::string_view name;
    Category category;
  };
  static constexpr Named kNamed[] = {
      {"kernel", Category::kernel},
      {"cpu_op", Category::op},
      {"cuda_runtime", Category::runtime},
      {"python_function", Category::python_function},
      {"gpu_memcpy", Category::copy},
      {"gpu_memset", Category::fill},
      {"user_annotation", Category::annotation},
      {"cuda_driver", Category::driver},
      {"cuda_sync", Category::sync},
      {"operator", Category::op},
      {"runtime", Category::runtime},
      {"driver", Category::driver},
      {"memcpy", Category::copy},
      {"memset", Category::fill},
      {"synchronization", Category::sync},
  };
  const std::string_view text = string_content(token).value_or("");
  if (text == last_category_text_) return last_category_;
  const auto found = std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& named) {
    return same_ignoring_case(text, named.name);
  });
  last_category_text_ = text;
  return last_category_ = found == std::end(kNamed) ? Category::none : found->category;
}

std::string_view KinetoBuilder::take(const KinetoEvent& event) {
  const auto phase = string_content(event.phase);
  if (!phase) return "its phase (ph) is missing or not a string";
  if (!event.name.empty() && !string_content(event.name)) return "its name is not a string";
  if (*phase == "X") {
    const Category category = category_of(event.category);
    if (category != Category::none) return take_interval(event, category);
    ignore(event);
  } else if (*phase == "M") {
    take_metadata(event);
  } else if (string_content(event.name) == "[memory]") {
    if (!nanoseconds_of_microseconds(trimmed(event.ts))) return "its time (ts) is not a number";
    if (!integer_of(event.arg(KinetoArg::bytes))) return "its size (Bytes) is not a number";
    take_instant(event);
  } else {
    ignore(event);
  }
  ++taken_;
  return {};
}

void KinetoBuilder::expect(double share) {
  visit_event_tables(trace_, [&](const char*, auto& table) {
    const auto rows = static_cast<std::size_t>(static_cast<double>(table.size()) * share);
    visit_columns(table, [&](const char*, auto& column, ColumnRole) { column.reserve(rows); });
  });
}

void KinetoBuilder::bad(std::uint64_t byte, std::string_view reason) {
  if (bad_ == 0 || byte < first_bad_byte_) {
    first_bad_byte_ = byte;
    first_bad_reason_ = reason;
  }
  ++bad_;
}

std::string_view KinetoBuilder::take_interval(const KinetoEvent& event, Category category) {
  const auto start = nanoseconds_of_microseconds(trimmed(event.ts));
  const auto duration = nanoseconds_of_microseconds(trimmed(event.dur));
  if (!start) return "its time (ts) is missing, not a number or out of range";
  if (!duration) return "its duration (dur) is missing, not a number or out of range";
  if (*duration < 0) return "its duration (dur) is negative";
  if (*duration > kLargestTime - *start && *start > 0) return "its end is out of range";
  const Interval when{*start, *start + *duration};
  switch (category) {
    case Category::kernel:
      take_kernel(event, when);
      break;
    case Category::copy:
      take_copy(event, when);
      break;
    case Category::fill:
      take_fill(event, when);
      break;
    case Category::runtime:
      take_call(event, when, ApiKind::runtime);
      break;
    case Category::driver:
      take_call(event, when, ApiKind::driver);
      break;
    case Category::op:
      take_range(event, when, RangeKind::op);
      break;
    case Category::annotation:
      take_range(event, when, RangeKind::annotation);
      break;
    case Category::python_function:
      take_range(event, when, RangeKind::python_function);
      break;
    case Category::sync:
      take_sync(event, when);
      break;
    case Category::none:
      break;
  }
  ++taken_;
  return {};
}

void KinetoBuilder::take_activity(const KinetoEvent& event, Interval when,
                                  ActivityColumns& activities,
                                  std::vector<std::int64_t>& external_ids) {
  activities.start_ns.push_back(when.start_ns);
  activities.end_ns.push_back(when.end_ns);
  activities.name.push_back(text_of(event.name));
  activities.stream.push_back(stream_of(event));
  activities.correlation.push_back(number(event.arg(KinetoArg::correlation)));
  activities.graph_node.push_back(graph_node_of(event));
  activities.sequence.push_back(sequence_++);
  append_activity_defaults(activities);
  external_ids.push_back(number_unless(0, event.arg(KinetoArg::external_id)));
}

void KinetoBuilder::take_kernel(const KinetoEvent& event, Interval when) {
  take_activity(event, when, trace_.kernels, kernel_external_);
  trace_.kernels.launch_config.push_back(launch_config_of(event));
  if (!event.arg(KinetoArg::collective).empty() || !event.arg(KinetoArg::group_name).empty())
    take_collective(event);
}

void KinetoBuilder::take_copy(const KinetoEvent& event, Interval when) {
  take_activity(event, when, trace_.copies, copy_external_);
  const CopyTraits traits = copy_traits(string_content(event.name).value_or(""),
                                        string_content(event.arg(KinetoArg::kind)).value_or(""));
  trace_.copies.bytes.push_back(number(event.arg(KinetoArg::bytes)));
  trace_.copies.kind.push_back(traits.kind);
  trace_.copies.source_memory.push_back(traits.source);
  trace_.copies.target_memory.push_back(traits.target);
}

void KinetoBuilder::take_fill(const KinetoEvent& event, Interval when) {
  take_activity(event, when, trace_.fills, fill_external_);
  trace_.fills.bytes.push_back(number(event.arg(KinetoArg::bytes)));
  trace_.fills.memory.push_back(fill_memory(string_content(event.name).value_or("")));
}

void KinetoBuilder::take_call(const KinetoEvent& event, Interval when, ApiKind kind) {
  ApiCallColumns& calls = trace_.api_calls;
  calls.start_ns.push_back(when.start_ns);
  calls.end_ns.push_back(when.end_ns);
  calls.name.push_back(text_of(event.name));
  calls.thread.push_back(thread_of(event));
  calls.correlation.push_back(number(event.arg(KinetoArg::correlation)));
  calls.kind.push_back(kind);
  calls.result.push_back(kUnknown);
}

void KinetoBuilder::take_range(const KinetoEvent& event, Interval when, RangeKind kind) {
  RangeColumns& ranges = trace_.ranges;
  ranges.start_ns.push_back(when.start_ns);
  ranges.end_ns.push_back(when.end_ns);
  ranges.name.push_back(text_of(event.name));
  ranges.thread.push_back(thread_of(event));
  ranges.kind.push_back(kind);
  ranges.domain.push_back(0);
  ranges.external_id.push_back(number_unless(0, event.arg(KinetoArg::external_id)));
  ranges.category.push_back(0);
  ranges.color.push_back(kUnknown);
}

void KinetoBuilder::take_sync(const KinetoEvent& event, Interval when) {
  SyncColumns& syncs = trace_.syncs;
  SyncKind kind = sync_kind(event.arg(KinetoArg::sync_kind));
  if (kind == SyncKind::unknown) kind = sync_kind(event.name);
  const std::string_view device = event.arg(KinetoArg::device);
  syncs.start_ns.push_back(when.start_ns);
  syncs.end_ns.push_back(when.end_ns);
  syncs.kind.push_back(kind);
  syncs.device.push_back(kNoRow);
  syncs.stream.push_back(kNoRow);
  syncs.event_stream.push_back(kNoRow);
  syncs.event_record.push_back(kNoRow);
  syncs.call.push_back(kNoRow);
  syncs.correlation.push_back(number(event.arg(KinetoArg::correlation)));
  syncs.event_id.push_back(number(event.arg(KinetoArg::wait_event)));
  record_correlation_.push_back(number_unless(-1, event.arg(KinetoArg::wait_record)));
  sync_places_.push_back({number_or_trailing(device.empty() ? event.pid : device),
                          number(event.arg(KinetoArg::context)),
                          number_unless(-1, event.arg(KinetoArg::stream)),
                          number_unless(-1, event.arg(KinetoArg::wait_stream))});
}

void KinetoBuilder::take_collective(const KinetoEvent& event) {
  CollectiveColumns& collectives = trace_.collectives;
  collectives.kernel.push_back(static_cast<RowIndex>(trace_.kernels.size() - 1));
  collectives.communicator.push_back(text_of(event.arg(KinetoArg::group_name)));
  collectives.operation.push_back(text_of(event.arg(KinetoArg::collective)));
  collectives.dtype.push_back(text_of(event.arg(KinetoArg::dtype)));
  collectives.elements_in.push_back(number(event.arg(KinetoArg::elements_in)));
  collectives.elements_out.push_back(number(event.arg(KinetoArg::elements_out)));
  collectives.range.push_back(kNoRow);
  collectives.bytes.push_back(kUnknown);
  collectives.group_size.push_back(number(event.arg(KinetoArg::group_size)));
  collectives.ranks.push_back(text_of(event.arg(KinetoArg::group_ranks)));
}

void KinetoBuilder::take_instant(const KinetoEvent& event) {
  constexpr std::int64_t kHostMemory = 0;
  MemoryEventColumns& memory = trace_.memory_events;
  const bool is_host = number(event.arg(KinetoArg::device_type)) == kHostMemory;
  memory.time_ns.push_back(*nanoseconds_of_microseconds(trimmed(event.ts)));
  memory.thread.push_back(thread_of(event));
  memory.device.push_back(kNoRow);
  memory.bytes.push_back(number(event.arg(KinetoArg::bytes)));
  memory.address.push_back(unsigned_of(event.arg(KinetoArg::address)).value_or(0));
  memory.total_allocated.push_back(number(event.arg(KinetoArg::total_allocated)));
  memory.total_reserved.push_back(number(event.arg(KinetoArg::total_reserved)));
  memory.memory.push_back(is_host ? MemoryKind::unknown : MemoryKind::device);
  memory.stream.push_back(kNoRow);
  memory.call.push_back(kNoRow);
  memory.pool.push_back(0);
  memory.source.push_back(0);
  memory.correlation.push_back(kUnknown);
  memory_device_.push_back(is_host ? kUnknown : number_unless(-1, event.arg(KinetoArg::device_id)));
}

void KinetoBuilder::take_metadata(const KinetoEvent& event) {
  const auto kind = string_content(event.name);
  const auto name = string_content(event.arg(KinetoArg::name));
  const bool of_thread = kind == "thread_name";
  if (!name || (!of_thread && kind != "process_name")) return ignore(event);
  // Of several names the smallest stays, so that their order in the file does not matter.
  const std::string text = unescaped(*name);
  std::string& known = of_thread ? thread_names_[{id_of(event.pid), id_of(event.tid)}]
                                 : process_names_[id_of(event.pid)];
  if (known.empty() || text < known) known = text;
}

void KinetoBuilder::ignore(const KinetoEvent& event) {
  // A file may not make the list of categories grow without bound.
  constexpr std::size_t kMaxCategories = 1000;
  std::string_view category = string_content(event.category).value_or("");
  if (category.empty()) category = string_content(event.phase).value_or("");
  if (last_ignored_ == nullptr || last_ignored_->first != category) {
    auto found = ignored_.find(category);
    if (found == ignored_.end()) {
      const bool is_full = ignored_.size() >= kMaxCategories;
      found = ignored_.try_emplace(is_full ? "(others)" : std::string(category), 0).first;
    }
    last_ignored_ = &*found;
  }
  ++last_ignored_->second;
}

StringId KinetoBuilder::text_of(std::string_view token) {
  const auto content = string_content(token);
  if (!content) return 0;
  KnownName& known = known_names_[name_slot(*content)];
  if (known.text == *content) return known.id;
  if (content->find('\\') == std::string_view::npos) {
    // What is stored is the table's own copy, which stays where it is.
    known.id = trace_.intern(*content);
    known.text = trace_.text(known.id);
    return known.id;
  }
  scratch_ = unescaped(*content);
  return trace_.intern(scratch_);
}

/// A pid or tid: a number, also in quotes; a word gets a number of its own, which `finish` makes
/// independent of the order of the file.
std::int64_t KinetoBuilder::id_of(std::string_view token) {
  const auto content = string_content(token);
  if (!content) return number(token);
  if (const auto value = integer_of(*content)) return *value;
  const auto found = named_ids_.find(*content);
  if (found != named_ids_.end()) return found->second;
  const std::int64_t id = kFirstNamedId - static_cast<std::int64_t>(named_ids_.size());
  named_ids_.emplace(*content, id);
  return id;
}

RowIndex KinetoBuilder::thread_of(const KinetoEvent& event) {
  if (last_thread_ != kNoRow && event.pid == last_pid_ && event.tid == last_tid_)
    return last_thread_;
  const ThreadKey key{id_of(event.pid), id_of(event.tid)};
  const auto [found, is_new] = threads_.emplace(key, static_cast<RowIndex>(trace_.threads.size()));
  if (is_new) trace_.threads.push_back({0, key.pid, key.tid, 0});
  last_pid_ = event.pid;
  last_tid_ = event.tid;
  return last_thread_ = found->second;
}

RowIndex KinetoBuilder::device_row(std::int64_t ordinal) {
  const auto [found, is_new] =
      devices_.emplace(ordinal, static_cast<RowIndex>(trace_.devices.size()));
  if (is_new) {
    Device device;
    device.ordinal = ordinal;
    device.process = 0;
    trace_.devices.push_back(device);
  }
  return found->second;
}

RowIndex KinetoBuilder::stream_row(const StreamKey& key) {
  const RowIndex device = device_row(key.device);
  const auto [context, new_context] = contexts_.emplace(
      std::pair(key.device, key.context), static_cast<RowIndex>(trace_.contexts.size()));
  if (new_context) trace_.contexts.push_back({0, device, key.context});
  const auto [found, is_new] = streams_.emplace(key, static_cast<RowIndex>(trace_.streams.size()));
  if (is_new) trace_.streams.push_back({context->second, key.stream});
  return found->second;
}

RowIndex KinetoBuilder::stream_of(const KinetoEvent& event) {
  const std::string_view device = event.arg(KinetoArg::device);
  const std::string_view stream = event.arg(KinetoArg::stream);
  const StreamKey key{number_or_trailing(device.empty() ? event.pid : device),
                      number(event.arg(KinetoArg::context)),
                      number_or_trailing(stream.empty() ? event.tid : stream)};
  if (last_stream_ != kNoRow && key == last_stream_key_) return last_stream_;
  last_stream_key_ = key;
  return last_stream_ = stream_row(key);
}

/// Kineto gives the sum of static and dynamic shared memory: it stands in static_shared_bytes and
/// the dynamic part is unknown.
RowIndex KinetoBuilder::launch_config_of(const KinetoEvent& event) {
  LaunchConfig config;
  config.grid = triple(event.arg(KinetoArg::grid));
  config.block = triple(event.arg(KinetoArg::block));
  config.registers_per_thread = number(event.arg(KinetoArg::registers));
  config.static_shared_bytes = number(event.arg(KinetoArg::shared_memory));
  if (config == LaunchConfig()) return kNoRow;
  if (last_launch_config_ != kNoRow && config == trace_.launch_configs[last_launch_config_])
    return last_launch_config_;
  const auto [found, is_new] =
      launch_configs_.emplace(config, static_cast<RowIndex>(trace_.launch_configs.size()));
  if (is_new) trace_.launch_configs.push_back(config);
  return last_launch_config_ = found->second;
}

RowIndex KinetoBuilder::graph_node_of(const KinetoEvent& event) {
  const std::string_view node_token = event.arg(KinetoArg::graph_node_id);
  if (node_token.empty()) return kNoRow;
  const std::int64_t node = number_unless(0, node_token);
  if (node == kUnknown) return kNoRow;
  const std::int64_t graph = number_unless(0, event.arg(KinetoArg::graph_id));
  const auto [found, is_new] = graph_nodes_.emplace(
      std::pair(graph, node), static_cast<RowIndex>(trace_.graph_nodes.size()));
  if (is_new) trace_.graph_nodes.push_back({0, graph, node});
  return found->second;
}

}  // namespace gprofml::profile
