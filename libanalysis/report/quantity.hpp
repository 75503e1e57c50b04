// Numbers as people read them: exact integers rounded once, at the end, with their unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libanalysis/report/apportion.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::analysis {

/// The unit in which one table prints its times.
struct TimeUnit {
  std::string_view name;    ///< "ns", "us", "ms", "s"
  std::int64_t quantum_ns;  ///< what the last printed digit is worth
  int decimals;

  PrintScale scale() const { return {1, quantum_ns}; }
};

/// The unit that prints a table whose largest time is `largest_ns` in at least four digits, however
/// large it is, and in at most seven.
TimeUnit unit_for(profile::Nanoseconds largest_ns);

/// The same for a column of smaller times beside such a table, with a digit more for milliseconds.
TimeUnit fine_unit_for(profile::Nanoseconds largest_ns);

/// `units` with the last `decimals` digits behind the point; from 10,000 on with separators.
std::string fixed(std::int64_t units, int decimals);

/// A count with thousands separators: "168,400".
std::string count_text(std::int64_t count);

/// A duration with its unit for running text: "850 ns", "1.1 us", "9.62 ms", "185.3 ms", "61.4 s".
/// Number and unit stay together when text is wrapped (see wrap.hpp).
std::string duration_text(profile::Nanoseconds duration_ns);

/// A length that a table divides, in that table's unit: "3852.0 ms".
std::string length_text(profile::Nanoseconds length_ns);

/// `tenths` of a percent as "49.4 %", kept together when text is wrapped.
std::string percent_text(std::int64_t tenths);

}  // namespace gprofml::analysis
