// Pushes and pops, starts and ends become ranges.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "libprofile/capture/nvtx_payload.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Pairs the NVTX records of one process and appends a row of Trace::ranges for each pair. Pushes
/// and pops nest for each thread and domain; starts and ends meet by their id, on any threads, and
/// belong to the thread of the start. A range that ends before it starts is left out and counted.
class NvtxRanges {
 public:
  explicit NvtxRanges(Trace& trace) : trace_(trace) {}

  struct Place {
    RowIndex thread = kNoRow;
    std::uint32_t domain = 0;  ///< as recorded
    StringId domain_name = 0;
  };

  /// What the program says where a range begins.
  struct Beginning {
    StringId name = 0;
    Nanoseconds time_ns = 0;
    std::uint32_t category = 0;     ///< as recorded; 0: none
    std::int64_t color = kUnknown;  ///< 0xAARRGGBB
  };

  void push(const Place& place, const Beginning& beginning);
  void pop(const Place& place, Nanoseconds time_ns);
  void start(const Place& place, std::uint64_t id, const Beginning& beginning);
  void end(std::uint64_t id, Nanoseconds time_ns);
  void mark(const Place& place, const Beginning& beginning);

  /// Categories of a domain have names; the last one said holds for all its ranges.
  void name_category(std::uint32_t domain, std::uint32_t category, StringId name);

  /// A value of a payload. Messages, categories and colours also fill in what a range lacks.
  struct Value {
    StringId key = 0;
    StringId text = 0;
    PayloadRole role = PayloadRole::plain;
    std::int64_t integer = kUnknown;
  };
  /// For the innermost open push of a thread and domain. False when there is none.
  bool add_to_push(const Place& place, const Value& value);
  /// For the mark that was added last. False when the last range was no mark.
  bool add_to_mark(const Value& value);
  /// For a range that is or will be started and has not ended.
  void add_to_started(std::uint64_t id, const Value& value);

  /// While `on`, ranges that end are remembered: what tells of one of them once more afterwards is
  /// not taken.
  void are_told_again(bool on) { remembers_ = on; }

  /// Ends what is still open at `end_ns`, the last moment that was recorded.
  void finish(Nanoseconds end_ns);

  std::int64_t open_ranges() const { return open_ranges_; }      ///< still open at the end
  std::int64_t unopened_ends() const { return unopened_ends_; }  ///< pops and ends of no range
  std::int64_t backward_ranges() const { return backward_ranges_; }

 private:
  struct Open {
    RowIndex thread;
    std::uint32_t domain;
    StringId domain_name;
    Beginning beginning;
    std::vector<Value> values;
  };
  struct Unnamed {
    RowIndex range;
    std::uint64_t category;  ///< by domain and number
  };

  static Open open_at(const Place& place, const Beginning& beginning) {
    return {place.thread, place.domain, place.domain_name, beginning, {}};
  }
  static void complete(Beginning& beginning, const Value& value);
  void add_started(std::uint64_t id, Open& open, Nanoseconds end_ns);
  void add(const Open& open, RangeKind kind, Nanoseconds end_ns);
  void add_value(RowIndex range, const Value& value);
  StringId category_of(std::uint32_t domain, std::uint32_t category, RowIndex range);
  void name_categories();

  Trace& trace_;
  std::unordered_map<std::uint64_t, std::vector<Open>> pushed_;  // by thread and domain
  std::unordered_map<std::uint64_t, Open> started_;              // by id
  std::unordered_map<std::uint64_t, std::vector<Value>> values_of_started_;
  std::unordered_map<std::uint64_t, StringId> categories_;  // by domain and number
  std::vector<Unnamed> unnamed_;  // of which the names are still to be looked up
  RowIndex last_mark_ = kNoRow;
  std::uint32_t domain_of_last_mark_ = 0;
  using Told = std::tuple<RowIndex, std::uint32_t, Nanoseconds, Nanoseconds, RangeKind>;
  std::multiset<Told> told_;
  bool remembers_ = false;
  std::int64_t open_ranges_ = 0;
  std::int64_t unopened_ends_ = 0;
  std::int64_t backward_ranges_ = 0;
};

}  // namespace gprofml::profile
