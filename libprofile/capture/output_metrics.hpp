// Figures that a program prints: `run --metric 'tok_s=([0-9.]+) tok/s'`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::profile {

struct MetricPattern {
  std::string name;     ///< letters, digits, `_` and `-`
  std::string pattern;  ///< ECMAScript regular expression
  bool operator==(const MetricPattern&) const = default;
};

/// "NAME=REGEX". Throws CaptureError, one line, also when the expression is none.
MetricPattern metric_pattern(const std::string& text);

/// A number as programs print it: decimal, with an exponent or not, with commas between thousands
/// or not, blanks around it. nullopt for anything else, and for what is not finite.
std::optional<double> printed_number(std::string_view text);

/// The longest text that every match of an ECMAScript expression holds, as far as that is plain to
/// see; else empty. Lines without it need not be searched, which is what takes time.
std::string required_text(std::string_view pattern);

struct MetricFigures {
  std::int64_t count = 0;        ///< matches that are numbers
  std::int64_t not_numbers = 0;  ///< matches that are not
  double last = 0;
  double min = 0;
  double max = 0;
};

/// Looks for a metric in an output, line by line (a carriage return ends a line, too): the first
/// capture group of each match, or all of it where there is no group. Lines are searched in pieces
/// of 4,096 bytes: a match over the seam of two is not found.
class MetricReader {
 public:
  /// Throws CaptureError as metric_pattern does.
  explicit MetricReader(const MetricPattern& pattern);

  void add(std::string_view bytes);
  /// The output ends here, also within a line.
  void end();

  const MetricFigures& figures() const { return figures_; }

 private:
  void search(std::string_view line);

  std::regex regex_;
  std::string required_;
  std::string line_;
  MetricFigures figures_;
};

/// `meta` of a recording with these metrics, before its output is read: metric.NAME.pattern.
std::map<std::string, std::string> metric_request(const std::vector<MetricPattern>& patterns);

/// Reads what an OutputTap kept in `folder`, standard error before standard output, for the metrics
/// that `meta` asks for. Gives metric.NAME (the last match; left out when there is none), and
/// .count, .min, .max, and .not_numbers where there are any. `check` is called now and then and may
/// throw. What cannot be read counts as empty.
std::map<std::string, std::string> metrics_of_output(const std::string& folder,
                                                     const std::map<std::string, std::string>& meta,
                                                     const std::function<void()>& check = {});

}  // namespace gprofml::profile
