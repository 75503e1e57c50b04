#include "injection/open_ranges.hpp"

#include <cstring>

#include "injection/record_stream.hpp"

namespace gprofml::injection {
namespace {

std::uint32_t length_of(const void* record) {
  spool::RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  return header.bytes;
}

}  // namespace

void OpenRanges::start() {
  count_ = 0;
  free_count_ = kMost;
  for (std::uint32_t i = 0; i < kMost; ++i) free_[i] = kMost - 1 - i;
}

OpenRanges::Range* OpenRanges::find(std::uint32_t tid, std::uint32_t domain, std::uint64_t range) {
  for (std::uint32_t i = count_; i-- > 0;) {
    Range& known = ranges_[i];
    const bool is_it = range != 0 ? known.id == range
                                  : known.id == 0 && known.tid == tid && known.domain == domain;
    if (is_it) return &known;
  }
  return nullptr;
}

void OpenRanges::open(const void* record, std::uint32_t tid, std::uint32_t domain,
                      std::uint64_t range) {
  if (record == nullptr) return;
  const std::uint32_t bytes = length_of(record);
  if (free_count_ == 0 || bytes > kRoom) {
    Range* outer = range == 0 ? find(tid, domain, 0) : nullptr;
    if (outer != nullptr) ++outer->unkept_inside;
    return;
  }
  const std::uint32_t slot = free_[--free_count_];
  std::memcpy(records_[slot], record, bytes);
  ranges_[count_++] = {range, tid, domain, slot, bytes, 0, false};
}

void OpenRanges::payload(const void* record, std::uint32_t tid, std::uint32_t domain,
                         std::uint64_t range) {
  if (record == nullptr) return;
  Range* known = find(tid, domain, range);
  const std::uint32_t bytes = length_of(record);
  if (known == nullptr || known->unkept_inside > 0 || known->bytes + bytes > kRoom) return;
  std::memcpy(records_[known->slot] + known->bytes, record, bytes);
  known->bytes += bytes;
}

void OpenRanges::close(RecordStream& stream, const void* record, std::uint32_t tid,
                       std::uint32_t domain, std::uint64_t range) {
  Range* known = find(tid, domain, range);
  if (known == nullptr) return;
  if (known->unkept_inside > 0) {
    --known->unkept_inside;
    return;
  }
  if (known->is_of_capture && record != nullptr) {
    stream.copy_lasting(records_[known->slot], known->bytes);
    stream.copy_lasting(record, length_of(record));
  }
  free_[free_count_++] = known->slot;
  const Range* end = ranges_ + count_--;
  std::memmove(known, known + 1, static_cast<std::size_t>(end - (known + 1)) * sizeof(Range));
}

void OpenRanges::captured(std::uint32_t tid) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (ranges_[i].tid == tid) ranges_[i].is_of_capture = true;
  }
}

void OpenRanges::write_again(RecordStream& stream) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    stream.copy_passing(records_[ranges_[i].slot], ranges_[i].bytes);
  }
}

}  // namespace gprofml::injection
