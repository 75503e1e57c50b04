#include "libprofile/capture/nvtx_ranges.hpp"

#include <algorithm>

namespace gprofml::profile {
namespace {

std::uint64_t key_of(const NvtxRanges::Place& place) {
  return static_cast<std::uint64_t>(place.thread) << 32 | place.domain;
}

}  // namespace

void NvtxRanges::push(const Place& place, StringId name, Nanoseconds time_ns) {
  pushed_[key_of(place)].push_back({place.thread, place.domain_name, name, time_ns});
}

void NvtxRanges::pop(const Place& place, Nanoseconds time_ns) {
  const auto found = pushed_.find(key_of(place));
  if (found == pushed_.end() || found->second.empty()) {
    ++unopened_ends_;
    return;
  }
  add(found->second.back(), RangeKind::push_pop, time_ns);
  found->second.pop_back();
}

void NvtxRanges::start(const Place& place, std::uint64_t id, StringId name, Nanoseconds time_ns) {
  const auto [known, is_new] =
      started_.try_emplace(id, Open{place.thread, place.domain_name, name, time_ns});
  if (is_new) return;
  // Its end was lost, and the id given again.
  ++open_ranges_;
  add(known->second, RangeKind::start_end, std::max(known->second.start_ns, time_ns));
  known->second = {place.thread, place.domain_name, name, time_ns};
}

void NvtxRanges::end(std::uint64_t id, Nanoseconds time_ns) {
  const auto found = started_.find(id);
  if (found == started_.end()) {
    ++unopened_ends_;
    return;
  }
  add(found->second, RangeKind::start_end, time_ns);
  started_.erase(found);
}

void NvtxRanges::mark(const Place& place, StringId name, Nanoseconds time_ns) {
  add({place.thread, place.domain_name, name, time_ns}, RangeKind::start_end, time_ns);
}

void NvtxRanges::finish(Nanoseconds end_ns) {
  for (const auto& [key, stack] : pushed_) {
    for (const Open& open : stack) {
      ++open_ranges_;
      add(open, RangeKind::push_pop, std::max(open.start_ns, end_ns));
    }
  }
  for (const auto& [id, open] : started_) {
    ++open_ranges_;
    add(open, RangeKind::start_end, std::max(open.start_ns, end_ns));
  }
  pushed_.clear();
  started_.clear();
}

void NvtxRanges::add(const Open& open, RangeKind kind, Nanoseconds end_ns) {
  if (end_ns < open.start_ns) {
    ++backward_ranges_;
    return;
  }
  RangeColumns& ranges = trace_.ranges;
  ranges.start_ns.push_back(open.start_ns);
  ranges.end_ns.push_back(end_ns);
  ranges.name.push_back(open.name);
  ranges.thread.push_back(open.thread);
  ranges.kind.push_back(kind);
  ranges.domain.push_back(open.domain);
  ranges.external_id.push_back(kUnknown);
  ranges.category.push_back(0);
  ranges.color.push_back(kUnknown);
}

}  // namespace gprofml::profile
