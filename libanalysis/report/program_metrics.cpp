#include "libanalysis/report/program_metrics.hpp"

#include <charconv>
#include <string_view>

namespace gprofml::analysis {
namespace {

constexpr std::string_view kPrefix = "metric.";
constexpr std::string_view kSuffix = ".pattern";

template <typename Number>
std::optional<Number> number_at(const std::map<std::string, std::string>& meta,
                                const std::string& key) {
  const auto found = meta.find(key);
  if (found == meta.end()) return std::nullopt;
  const std::string& text = found->second;
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<ProgramMetric> program_metrics(const std::map<std::string, std::string>& meta) {
  std::vector<ProgramMetric> metrics;
  for (const auto& [key, pattern] : meta) {
    const std::string_view text = key;
    if (text.size() <= kPrefix.size() + kSuffix.size()) continue;
    if (text.substr(0, kPrefix.size()) != kPrefix) continue;
    if (text.substr(text.size() - kSuffix.size()) != kSuffix) continue;
    const std::string stem = key.substr(0, key.size() - kSuffix.size());
    ProgramMetric metric;
    metric.name = stem.substr(kPrefix.size());
    metric.pattern = pattern;
    metric.count = number_at<std::int64_t>(meta, stem + ".count").value_or(0);
    metric.value = number_at<double>(meta, stem);
    metric.min = number_at<double>(meta, stem + ".min").value_or(0);
    metric.max = number_at<double>(meta, stem + ".max").value_or(0);
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace gprofml::analysis
