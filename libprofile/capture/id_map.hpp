// From the ids of a spool's dictionaries to rows: an array for the small dense ids that a writer
// gives, a hash table for what else a file may say.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "libprofile/trace/columns.hpp"

namespace gprofml::profile {

class IdMap {
 public:
  /// The row of an id; kNoRow: not known.
  RowIndex find(std::uint32_t id) const {
    if (id < dense_.size()) return dense_[id];
    if (id < kLargestDense) return kNoRow;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNoRow : found->second;
  }

  void set(std::uint32_t id, RowIndex row) {
    if (id >= kLargestDense) {
      sparse_[id] = row;
      return;
    }
    if (id >= dense_.size()) dense_.resize(id + 1, kNoRow);
    dense_[id] = row;
  }

 private:
  static constexpr std::uint32_t kLargestDense = 1U << 20;

  std::vector<RowIndex> dense_;
  std::unordered_map<std::uint32_t, RowIndex> sparse_;
};

}  // namespace gprofml::profile
