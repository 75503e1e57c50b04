// Memory: given out and taken back, pools of it, managed memory on the move.
#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "libprofile/capture/translate_cupti.hpp"
#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {
namespace {

/// A file may say anything; more bytes than a signed number holds are not known.
std::int64_t bytes_or_unknown(std::uint64_t bytes) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return bytes > kMost ? kUnknown : static_cast<std::int64_t>(bytes);
}

/// The largest number there is means everything, and is what programs set.
std::int64_t bytes_or_most(std::uint64_t bytes) {
  const std::int64_t known = bytes_or_unknown(bytes);
  return known == kUnknown ? std::numeric_limits<std::int64_t>::max() : known;
}

bool is_on_host(MemoryKind memory) {
  return memory == MemoryKind::pageable || memory == MemoryKind::pinned;
}

}  // namespace

/// kNoRow for the host.
RowIndex ProcessTranslator::device_known_as(std::uint32_t id) {
  return id == spool::kNoId ? kNoRow : device_row(id);
}

void ProcessTranslator::take(const spool::MemoryEvent& record) {
  saw(record.time_ns);
  MemoryEventColumns& memory = trace_.memory_events;
  const std::int64_t bytes = std::max<std::int64_t>(bytes_or_unknown(record.bytes), 0);
  const MemoryKind kind = record.memory <= 0xff
                              ? memory_kind_of(static_cast<std::uint8_t>(record.memory))
                              : MemoryKind::unknown;
  const bool is_ordered = record.stream != spool::kNoId && record.context != spool::kNoId;
  memory.time_ns.push_back(record.time_ns);
  memory.thread.push_back(kNoRow);  // its call's
  memory.device.push_back(is_on_host(kind) ? kNoRow : device_known_as(record.device));
  memory.bytes.push_back(is_release(record.operation) ? -bytes : bytes);
  memory.address.push_back(record.address);
  memory.total_allocated.push_back(bytes_or_unknown(record.pool_used));
  memory.total_reserved.push_back(record.pool == 0 ? kUnknown : bytes_or_unknown(record.pool_size));
  memory.memory.push_back(kind);
  memory.stream.push_back(is_ordered ? stream_row(record.context, record.stream, record.device)
                                     : kNoRow);
  memory.call.push_back(kNoRow);
  memory.pool.push_back(record.pool);
  memory.source.push_back(name_of(record.source));
  memory.correlation.push_back(record.correlation == 0 ? kUnknown
                                                       : std::int64_t{record.correlation});
}

/// CUPTI need not say how much a release gives back: it is what was last given out there.
void ProcessTranslator::fill_in_freed_bytes() {
  MemoryEventColumns& memory = trace_.memory_events;
  if (std::count(memory.bytes.begin(), memory.bytes.end(), 0) == 0) return;
  std::vector<RowIndex> in_time(memory.size());
  std::iota(in_time.begin(), in_time.end(), RowIndex{0});
  std::stable_sort(in_time.begin(), in_time.end(), [&memory](RowIndex a, RowIndex b) {
    return memory.time_ns[a] < memory.time_ns[b];
  });
  std::unordered_map<std::uint64_t, std::int64_t> given_out;  // by address
  for (const RowIndex row : in_time) {
    std::int64_t& bytes = given_out[memory.address[row]];
    if (memory.bytes[row] > 0) bytes = memory.bytes[row];
    if (memory.bytes[row] == 0) memory.bytes[row] = -bytes;
    if (memory.bytes[row] < 0) bytes = 0;
  }
}

void ProcessTranslator::take(const spool::MemoryPool& record) {
  saw(record.time_ns);
  MemoryPoolEventColumns& pools = trace_.memory_pool_events;
  pools.time_ns.push_back(record.time_ns);
  pools.process.push_back(0);
  pools.device.push_back(device_known_as(record.device));
  pools.operation.push_back(pool_operation_of(record.operation));
  pools.pool.push_back(record.pool);
  pools.bytes.push_back(bytes_or_unknown(record.size));
  pools.used_bytes.push_back(bytes_or_unknown(record.used));
  pools.release_threshold_bytes.push_back(bytes_or_most(record.release_threshold));
}

void ProcessTranslator::take(const spool::UnifiedMemory& record) {
  MigrationColumns& moved = trace_.migrations;
  const MigrationKind kind = migration_kind_of(record.counter);
  // These have no end, only a moment.
  const bool is_moment = kind == MigrationKind::cpu_fault || kind == MigrationKind::thrashing ||
                         kind == MigrationKind::remote_map;
  if (!is_moment && record.end_ns < record.start_ns) {
    ++facts_.bad_times;
    return;
  }
  // Of others these fields are to be ignored: thrashing processors, for one, are a mask of bits.
  const bool names_target =
      kind == MigrationKind::host_to_device || kind == MigrationKind::device_to_host ||
      kind == MigrationKind::device_to_device || kind == MigrationKind::remote_map;
  const bool names_source =
      names_target || kind == MigrationKind::gpu_fault || kind == MigrationKind::throttling;
  const std::int64_t end_ns = is_moment ? record.start_ns : record.end_ns;
  saw(end_ns);
  moved.start_ns.push_back(record.start_ns);
  moved.end_ns.push_back(end_ns);
  moved.kind.push_back(kind);
  moved.source_device.push_back(names_source ? device_known_as(record.source_device) : kNoRow);
  moved.target_device.push_back(names_target ? device_known_as(record.target_device) : kNoRow);
  // CUPTI's value of a CPU fault is the program counter: each record is one fault.
  moved.value.push_back(kind == MigrationKind::cpu_fault
                            ? 1
                            : std::max<std::int64_t>(bytes_or_unknown(record.value), 0));
  moved.address.push_back(record.address);
}

}  // namespace gprofml::profile
