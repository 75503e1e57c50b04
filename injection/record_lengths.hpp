// How long CUPTI's records are. Only CUPTI knows, and asking it costs as much as reading a record;
// but the records of one kind are of one length, so it is asked once a kind and buffer.
#pragma once

#include "injection/activity_layouts.hpp"
#include "injection/cupti_library.hpp"

namespace gprofml::injection {

class RecordLengths {
 public:
  /// The length of the record at `at` if it is known and the record ends by `end`; 0: ask CUPTI.
  std::size_t find(const unsigned char* at, const unsigned char* end) const {
    std::uint32_t kind;
    if (static_cast<std::size_t>(end - at) < sizeof kind) return 0;
    std::memcpy(&kind, at, sizeof kind);
    const std::size_t length = kind < kKinds ? lengths_[kind] : 0;
    return length <= static_cast<std::size_t>(end - at) ? length : 0;
  }

  /// CUPTI says that the record of this kind is so long. A kind that has had another length is
  /// asked for each time.
  void learn(std::uint32_t kind, std::size_t length) {
    if (kind == 0 || kind >= kKinds || varies_[kind] || length > 0xffff) return;
    if (lengths_[kind] != 0 && lengths_[kind] != length) {
      varies_[kind] = true;
      lengths_[kind] = 0;
      return;
    }
    lengths_[kind] = static_cast<std::uint16_t>(length);
  }

 private:
  static constexpr std::uint32_t kKinds = 256;
  std::uint16_t lengths_[kKinds] = {};
  bool varies_[kKinds] = {};
};

/// As walk_records() in activity_records.hpp, faster. A record of a kind unknown so far, the first
/// of a buffer, and whatever does not look like a whole record (an unfinished one has no kind yet)
/// goes to CUPTI.
template <class Use>
bool walk_records(const CuptiLibrary& library, RecordLengths& lengths, unsigned char* data,
                  std::size_t bytes, Use&& use) {
  const unsigned char* end = data + bytes;
  CUpti_Activity* record = nullptr;
  CUptiResult result = library.ActivityGetNextRecord(data, bytes, &record);
  while (result == CUPTI_SUCCESS) {
    const auto* at = reinterpret_cast<const unsigned char*>(record);
    CUpti_Activity* next = record;
    result = library.ActivityGetNextRecord(data, bytes, &next);
    if (result != CUPTI_SUCCESS) {
      // In front of an incomplete record CUPTI does not tell the length.
      const std::size_t known = lengths.find(at, end);
      use(RawRecord(at, known != 0 ? known : static_cast<std::size_t>(end - at)));
      break;
    }
    const auto* after = reinterpret_cast<const unsigned char*>(next);
    const RawRecord first(at, static_cast<std::size_t>(after - at));
    lengths.learn(static_cast<std::uint32_t>(first.kind()), static_cast<std::size_t>(after - at));
    use(first);
    // `record` stays the last one that is known to be whole, for CUPTI to go on from.
    std::size_t length = lengths.find(after, end);
    while (length != 0 && lengths.find(after + length, end) != 0) {
      use(RawRecord(after, length));
      after += length;
      length = lengths.find(after, end);
    }
    record = reinterpret_cast<CUpti_Activity*>(const_cast<unsigned char*>(after));
  }
  return result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

}  // namespace gprofml::injection
