#include "libprofile/capture/paired_overhead.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gprofml::profile {
namespace {

/// Student's t, 97.5 %, for 1, 2, 3 … degrees of freedom; beyond the table it is 2 at most.
constexpr std::array<double, 30> kStudent975{
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double student_975(std::size_t degrees) {
  return degrees <= kStudent975.size() ? kStudent975[degrees - 1] : kStudent975.back();
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return values[half - 1] + (values[half] - values[half - 1]) / 2;
}

}  // namespace

PairedOverhead paired_overhead(const std::vector<RunPair>& pairs) {
  std::vector<double> logarithms;
  std::vector<Nanoseconds> without, with;
  double sum = 0;
  for (const RunPair& pair : pairs) {
    logarithms.push_back(
        std::log(static_cast<double>(pair.with_ns) / static_cast<double>(pair.without_ns)));
    sum += logarithms.back();
    without.push_back(pair.without_ns);
    with.push_back(pair.with_ns);
  }
  const auto n = static_cast<double>(pairs.size());
  const double mean = sum / n;
  PairedOverhead overhead;
  overhead.estimate = std::expm1(mean);
  overhead.without_median_ns = median(without);
  overhead.with_median_ns = median(with);
  if (pairs.size() < 2) return overhead;
  double squares = 0;
  for (const double logarithm : logarithms) squares += (logarithm - mean) * (logarithm - mean);
  const double reach = student_975(pairs.size() - 1) * std::sqrt(squares / (n - 1)) / std::sqrt(n);
  overhead.interval = PairedOverhead::Interval{std::expm1(mean - reach), std::expm1(mean + reach)};
  return overhead;
}

bool is_recorded_run(std::size_t run) {
  const std::size_t place = run % 4;
  return place == 1 || place == 2;
}

}  // namespace gprofml::profile
