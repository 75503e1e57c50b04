// The critical path and the ranking of what is on it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/text_sections.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis::detail {
namespace {

/// Keeps a name with blanks in it on one line.
std::string unbroken(std::string name) {
  std::replace(name.begin(), name.end(), ' ', kGlue);
  return name;
}

/// A part of the path as the line prints it: one class, or all unknown classes together.
struct PathPart {
  std::string label;
  profile::Nanoseconds ns = 0;
  bool inferred = false;  ///< some of it was reached over an inferred dependency
  std::string detail;     ///< goes behind the figure
};

/// The calls that make up most of "other CUDA calls": that class alone says nothing to act on.
std::string calls_detail(const Report& report) {
  constexpr std::size_t kMostNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < report.path_calls.size() && i < kMostNamed; ++i) {
    const CallOnPath& call = report.path_calls[i];
    if (100 * call.path_ns < report.critical_path.window_ns) break;  // below 1 %: not worth a word
    names += (names.empty() ? "" : ", ") + unbroken(printable(call.name));
  }
  return names.empty() ? "" : " (" + names + ")";
}

/// Known classes by time, descending; `unknown` always last, naming its classes.
std::vector<PathPart> path_parts(const Report& report) {
  std::vector<PathPart> parts;
  PathPart unknown;
  std::string names;
  for (std::size_t i = 0; i < report.critical_path.by_class.size(); ++i) {
    const profile::Nanoseconds ns = report.critical_path.by_class[i];
    const auto time_class = static_cast<TimeClass>(i);
    if (ns == 0) continue;
    if (!is_unknown(time_class)) {
      const bool inferred = report.critical_path.inferred_by_class[i] > 0;
      parts.push_back({std::string(description_of(time_class)), ns, inferred,
                       time_class == TimeClass::runtime_call ? calls_detail(report) : ""});
      continue;
    }
    unknown.ns += ns;
    names += (names.empty() ? "" : ", ") + std::string(description_of(time_class));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.ns > b.ns; });
  unknown.label = "unknown";
  if (!names.empty()) unknown.detail = " (" + names + ")";
  parts.push_back(unknown);
  return parts;
}

std::string ordinal(std::size_t rank) {
  const std::size_t last_two = rank % 100;
  const std::size_t last = rank % 10;
  const bool teen = last_two >= 11 && last_two <= 13;
  const char* suffix = teen ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return fmt::format("{}{}", rank, suffix);
}

/// 1 + the number of nodes of the same kind that are clearly larger in `figure`.
template <typename Figure>
std::size_t rank_of(const Ranking& ranking, const RankedNode& node, Figure figure) {
  constexpr double kTie = 1e-9;  // the iteration itself stops at 1e-12
  return 1 + static_cast<std::size_t>(std::count_if(
                 ranking.nodes.begin(), ranking.nodes.end(), [&](const RankedNode& other) {
                   return other.kind == node.kind && figure(other) > figure(node) + kTie;
                 }));
}

/// The analysis' short reasons in words.
std::string reason_text(const std::string& reason) {
  if (reason == "inferred+unknown")
    return "inferred and unknown time exceed 20" + std::string(1, kGlue) + "%";
  if (reason == "idle issued_no_recorded_reason") {
    return "too much idle time is issued work with no recorded reason to wait";
  }
  return printable(reason);
}

}  // namespace

std::string path_section(const Report& report, const TextOptions& options) {
  const CriticalPath& path = report.critical_path;
  if (!path.exists) return "";
  const std::vector<PathPart> parts = path_parts(report);
  std::vector<std::int64_t> ns;
  for (const PathPart& part : parts) ns.push_back(part.ns);
  const PrintScale scale{1000, std::max<std::int64_t>(path.window_ns, 1)};
  const std::vector<std::int64_t> tenths = apportion(ns, scale, path.window_ns > 0 ? 1000 : 0);
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_unknown_part = i + 1 == parts.size();
    if (tenths[i] == 0 && !is_unknown_part) continue;
    text += (text.empty() ? "" : ", ") + parts[i].label + " " + (parts[i].inferred ? "~" : "") +
            percent_text(tenths[i]) + parts[i].detail;
  }
  text += fmt::format("; on inferred edges {}{}", path.inferred_ns > 0 ? "~" : "",
                      percent_text(to_units(path.inferred_ns, scale)));
  if (!options.path) text += fmt::format(" (--path{}lists)", kGlue);
  text = fmt::format("critical path, {}: {}", length_text(path.window_ns), text);
  std::string out = wrap(text, "", 2);
  if (path.partial) {
    std::string why;
    for (const std::string& reason : path.partial_because) {
      why += (why.empty() ? "" : "; ") + reason_text(reason);
    }
    out += wrap(why.empty() ? "too much of it is inferred or unknown" : why,
                "  partial, so not a verdict: ", 4);
  }
  return out;
}

std::string ranking_section(const Report& report) {
  constexpr double kWorthNaming = 0.01;
  constexpr std::size_t kLowestRank = 3;
  constexpr std::size_t kMostNamed = 3;
  std::string text;
  std::size_t named = 0;
  for (const RankedNode& node : report.ranking.nodes) {
    if (std::max(node.score, node.path_share) < kWorthNaming || named == kMostNamed) continue;
    const std::size_t by_score =
        rank_of(report.ranking, node, [](const RankedNode& n) { return n.score; });
    const std::size_t by_share =
        rank_of(report.ranking, node, [](const RankedNode& n) { return n.path_share; });
    if (by_score > kLowestRank) continue;
    if (by_score >= by_share) continue;  // whoever falls only makes room for one that rises
    text += fmt::format("{}{} {} ({} by share, {} by PageRank)", named == 0 ? "" : ", ",
                        name_of(node.kind), unbroken(short_kernel_names({node.name}, 40).front()),
                        ordinal(by_share), ordinal(by_score));
    ++named;
  }
  if (text.empty()) return "";
  return wrap("as by path share, except " + text, "ranking: ", 2);
}

std::string segment_section(const Report& report, const TextOptions& options) {
  if (!options.path || !report.critical_path.exists) return "";
  constexpr std::size_t kClassWidth = 26;
  std::string out = heading(pad_left("at ms", 16) + pad_left("us", 15) + "  " +
                                pad_right("critical path: class", kClassWidth) + " name",
                            options) +
                    "\n";
  for (const SegmentReport& segment : report.segments) {
    const std::string mark = segment.inferred ? "~" : "";
    out += pad_left(fixed(segment.start_ns - report.window.from_ns, 6), 16);
    out += pad_left(mark + fixed(segment.duration_ns, 3), 15) + "  ";
    out += pad_right(std::string(name_of(segment.time_class)), kClassWidth) + " ";
    out += short_kernel_names({segment.name}, 20).front();
    while (out.back() == ' ') out.pop_back();
    out += "\n";
  }
  return out;
}

}  // namespace gprofml::analysis::detail
