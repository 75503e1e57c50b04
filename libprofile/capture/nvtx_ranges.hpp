// Pushes and pops, starts and ends become ranges.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

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

  void push(const Place& place, StringId name, Nanoseconds time_ns);
  void pop(const Place& place, Nanoseconds time_ns);
  void start(const Place& place, std::uint64_t id, StringId name, Nanoseconds time_ns);
  void end(std::uint64_t id, Nanoseconds time_ns);
  void mark(const Place& place, StringId name, Nanoseconds time_ns);

  /// Ends what is still open at `end_ns`, the last moment that was recorded.
  void finish(Nanoseconds end_ns);

  std::int64_t open_ranges() const { return open_ranges_; }      ///< still open at the end
  std::int64_t unopened_ends() const { return unopened_ends_; }  ///< pops and ends of no range
  std::int64_t backward_ranges() const { return backward_ranges_; }

 private:
  struct Open {
    RowIndex thread;
    StringId domain;
    StringId name;
    Nanoseconds start_ns;
  };

  void add(const Open& open, RangeKind kind, Nanoseconds end_ns);

  Trace& trace_;
  std::unordered_map<std::uint64_t, std::vector<Open>> pushed_;  // by thread and domain
  std::unordered_map<std::uint64_t, Open> started_;              // by id
  std::int64_t open_ranges_ = 0;
  std::int64_t unopened_ends_ = 0;
  std::int64_t backward_ranges_ = 0;
};

}  // namespace gprofml::profile
