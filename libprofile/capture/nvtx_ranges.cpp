#include "libprofile/capture/nvtx_ranges.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gprofml::profile {
namespace {

std::uint64_t key_of(const NvtxRanges::Place& place) {
  return static_cast<std::uint64_t>(place.thread) << 32 | place.domain;
}

std::uint64_t category_key(std::uint32_t domain, std::uint32_t category) {
  return static_cast<std::uint64_t>(domain) << 32 | category;
}

}  // namespace

void NvtxRanges::push(const Place& place, const Beginning& beginning) {
  pushed_[key_of(place)].push_back(open_at(place, beginning));
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

void NvtxRanges::start(const Place& place, std::uint64_t id, const Beginning& beginning) {
  const auto [known, is_new] = started_.try_emplace(id, open_at(place, beginning));
  if (is_new) return;
  // Its end was lost, and the id given again.
  ++open_ranges_;
  add_started(id, known->second, std::max(known->second.beginning.time_ns, beginning.time_ns));
  known->second = open_at(place, beginning);
}

void NvtxRanges::end(std::uint64_t id, Nanoseconds time_ns) {
  const auto found = started_.find(id);
  if (found == started_.end()) {
    ++unopened_ends_;
    return;
  }
  add_started(id, found->second, time_ns);
  started_.erase(found);
}

void NvtxRanges::mark(const Place& place, const Beginning& beginning) {
  add(open_at(place, beginning), RangeKind::start_end, beginning.time_ns);
  last_mark_ = static_cast<RowIndex>(trace_.ranges.size() - 1);
  domain_of_last_mark_ = place.domain;
}

void NvtxRanges::name_category(std::uint32_t domain, std::uint32_t category, StringId name) {
  categories_[category_key(domain, category)] = name;
}

void NvtxRanges::complete(Beginning& beginning, const Value& value) {
  if (value.role == PayloadRole::message && beginning.name == 0) beginning.name = value.text;
  if (value.integer == kUnknown) return;
  if (value.role == PayloadRole::category && beginning.category == 0) {
    beginning.category = static_cast<std::uint32_t>(value.integer);
  }
  if (value.role == PayloadRole::color && beginning.color == kUnknown) {
    beginning.color = value.integer;
  }
}

bool NvtxRanges::add_to_push(const Place& place, const Value& value) {
  const auto found = pushed_.find(key_of(place));
  if (found == pushed_.end() || found->second.empty()) return false;
  Open& open = found->second.back();
  complete(open.beginning, value);
  open.values.push_back(value);
  return true;
}

bool NvtxRanges::add_to_mark(const Value& value) {
  RangeColumns& ranges = trace_.ranges;
  if (last_mark_ == kNoRow || last_mark_ + 1 != ranges.size()) return false;
  Beginning beginning{ranges.name[last_mark_], 0, ranges.category[last_mark_],
                      ranges.color[last_mark_]};
  complete(beginning, value);
  ranges.name[last_mark_] = beginning.name;
  ranges.color[last_mark_] = beginning.color;
  if (ranges.category[last_mark_] == 0) {
    ranges.category[last_mark_] = category_of(domain_of_last_mark_, beginning.category, last_mark_);
  }
  add_value(last_mark_, value);
  return true;
}

void NvtxRanges::add_to_started(std::uint64_t id, const Value& value) {
  values_of_started_[id].push_back(value);
}

void NvtxRanges::finish(Nanoseconds end_ns) {
  for (const auto& [key, stack] : pushed_) {
    for (const Open& open : stack) {
      ++open_ranges_;
      add(open, RangeKind::push_pop, std::max(open.beginning.time_ns, end_ns));
    }
  }
  for (auto& [id, open] : started_) {
    ++open_ranges_;
    add_started(id, open, std::max(open.beginning.time_ns, end_ns));
  }
  pushed_.clear();
  started_.clear();
  name_categories();
}

void NvtxRanges::add_started(std::uint64_t id, Open& open, Nanoseconds end_ns) {
  if (!values_of_started_.empty()) {
    const auto found = values_of_started_.find(id);
    if (found != values_of_started_.end()) {
      open.values = std::move(found->second);
      values_of_started_.erase(found);
      for (const Value& value : open.values) complete(open.beginning, value);
    }
  }
  add(open, RangeKind::start_end, end_ns);
}

void NvtxRanges::add(const Open& open, RangeKind kind, Nanoseconds end_ns) {
  const Beginning& beginning = open.beginning;
  if (end_ns < beginning.time_ns) {
    ++backward_ranges_;
    return;
  }
  if (remembers_ || !told_.empty()) {
    const Told range{open.thread, open.domain, beginning.time_ns, end_ns, kind};
    const auto known = told_.find(range);
    if (remembers_) {
      told_.insert(range);
    } else if (known != told_.end()) {
      told_.erase(known);
      return;
    }
  }
  RangeColumns& ranges = trace_.ranges;
  const auto row = static_cast<RowIndex>(ranges.size());
  ranges.start_ns.push_back(beginning.time_ns);
  ranges.end_ns.push_back(end_ns);
  ranges.name.push_back(beginning.name);
  ranges.thread.push_back(open.thread);
  ranges.kind.push_back(kind);
  ranges.domain.push_back(open.domain_name);
  ranges.external_id.push_back(kUnknown);
  ranges.category.push_back(category_of(open.domain, beginning.category, row));
  ranges.color.push_back(beginning.color);
  for (const Value& value : open.values) add_value(row, value);
}

void NvtxRanges::add_value(RowIndex range, const Value& value) {
  trace_.range_payloads.range.push_back(range);
  trace_.range_payloads.key.push_back(value.key);
  trace_.range_payloads.value.push_back(value.text);
}

/// Names are looked up at the end: they may be said after the range.
StringId NvtxRanges::category_of(std::uint32_t domain, std::uint32_t category, RowIndex range) {
  if (category != 0) unnamed_.push_back({range, category_key(domain, category)});
  return 0;
}

void NvtxRanges::name_categories() {
  for (const Unnamed& unnamed : unnamed_) {
    const auto [found, is_new] = categories_.try_emplace(unnamed.category, 0);
    // A category that never got a name has its number.
    if (found->second == 0) {
      found->second = trace_.intern(std::to_string(static_cast<std::uint32_t>(unnamed.category)));
    }
    trace_.ranges.category[unnamed.range] = found->second;
  }
  unnamed_.clear();
}

}  // namespace gprofml::profile
