#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What a benchmark executable says, and how scripts/bench.sh speaks to it.
///
///   EXE --list         the names of its figures, one a line
///   EXE                all of its measurements
///   EXE NAME...        those that yield a named figure; names it does not know are not its
///   business
///
/// Standard output is one JSON object a line, {"name", "value", "unit", "target", "ok"}; anything
/// else (progress, explanations) goes to standard error. The exit code is 0 when every figure asked
/// for was reported, whether or not it reached its target, and 1 otherwise.
///
/// A bench file ends like this:
///
///   int main(int argc, char** argv) {
///     return gprofml::bench::bench_main(
///         argc, argv, {{{"store_write_rows_per_s"}, measure_write},
///                      {{"store_read_rows_per_s", "store_read_bytes_per_row"}, measure_read}});
///   }
///
/// where measure_write() ends in report_at_least("store_write_rows_per_s", rows / s, "rows/s",
/// 1e6).
namespace gprofml::bench {

/// One run that yields one or several figures.
struct Measurement {
  std::vector<std::string> names;  ///< every figure that run() reports
  std::function<void()> run;
};

namespace detail {

/// Names asked for (empty: all) and names reported so far, of this process.
struct Session {
  std::set<std::string, std::less<>> wanted;
  std::set<std::string, std::less<>> reported;

  [[nodiscard]] bool wants(std::string_view name) const {
    return wanted.empty() || wanted.count(name) != 0;
  }
};

inline Session& session() {
  static Session the_session;
  return the_session;
}

inline std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

}  // namespace detail

/// Prints one figure. `target` is the goal as a reader should see it ("<= 2.5"), empty when the
/// figure has none; `ok` says whether the goal was reached (true without a goal). A figure that was
/// not asked for is dropped. Throws std::invalid_argument when value is not finite.
inline void report(const std::string& name, double value, const std::string& unit,
                   const std::string& target, bool ok) {
  if (!std::isfinite(value)) throw std::invalid_argument(name + " is not a finite number");
  if (!detail::session().wants(name)) return;
  detail::session().reported.insert(name);
  fmt::print("{{\"name\": {}, \"value\": {:.10g}, \"unit\": {}, \"target\": {}, \"ok\": {}}}\n",
             detail::json_string(name), value, detail::json_string(unit),
             detail::json_string(target), ok);
  std::fflush(stdout);
}

/// A figure that should not be below `floor`.
inline void report_at_least(const std::string& name, double value, const std::string& unit,
                            double floor) {
  report(name, value, unit, fmt::format(">= {:g}", floor), value >= floor);
}

/// A figure that should not be above `ceiling`.
inline void report_at_most(const std::string& name, double value, const std::string& unit,
                           double ceiling) {
  report(name, value, unit, fmt::format("<= {:g}", ceiling), value <= ceiling);
}

/// Handles --list and the filter, runs the measurements in order, and checks that every figure
/// they promised was reported. Returns the exit code.
inline int bench_main(int argc, char** argv, const std::vector<Measurement>& measurements) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (std::find(arguments.begin(), arguments.end(), "--list") != arguments.end()) {
    for (const Measurement& measurement : measurements) {
      for (const std::string& name : measurement.names) fmt::print("{}\n", name);
    }
    return 0;
  }

  detail::Session& session = detail::session();
  session.wanted = {arguments.begin(), arguments.end()};
  bool complete = true;
  for (const Measurement& measurement : measurements) {
    const auto wanted = [&session](const std::string& name) { return session.wants(name); };
    if (std::none_of(measurement.names.begin(), measurement.names.end(), wanted)) continue;
    try {
      measurement.run();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", measurement.names.front(), error.what());
    }
    for (const std::string& name : measurement.names) {
      if (!session.wants(name) || session.reported.count(name) != 0) continue;
      fmt::print(stderr, "{}: not measured\n", name);
      complete = false;
    }
  }
  return complete ? 0 : 1;
}

}  // namespace gprofml::bench
