#include "libanalysis/follow/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis {
namespace {

constexpr std::int64_t kOccurrences = 5;
constexpr std::int64_t kMostSkipped = 10;

/// `part` is at least one `of`-th of `whole`.
bool is_share(profile::Nanoseconds part, profile::Nanoseconds whole, std::int64_t of) {
  return whole > 0 && part >= whole / of + (whole % of != 0 ? 1 : 0);
}

std::string plain(std::string text) {
  std::replace(text.begin(), text.end(), kGlue, ' ');
  return text;
}

std::string percent_of(profile::Nanoseconds part, profile::Nanoseconds whole) {
  const double tenths = 1000.0 * static_cast<double>(part) / static_cast<double>(whole);
  return plain(percent_text(static_cast<std::int64_t>(tenths + 0.5)));
}

bool is_allocation(std::string_view call) {
  if (call.find("initialises CUDA") != std::string_view::npos) return false;
  for (const std::string_view part : {"Malloc", "Free", "HostAlloc", "MemAlloc", "HostRegister",
                                      "HostUnregister", "MemCreate", "MemRelease"}) {
    if (call.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// A range of which some occurrences can be recorded.
struct Repeating {
  std::string name;
  std::int64_t count = 0;
  std::string why;
};

/// The last name of an op's path; a '/' inside a name is written '∕' there.
std::string innermost_name(const std::string& path) {
  constexpr std::string_view kSlash = "∕";
  std::string_view rest = std::string_view(path).substr(path.rfind('/') + 1);
  std::string name;
  while (!rest.empty()) {
    const std::size_t at = rest.find(kSlash);
    name += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    name += '/';
    rest.remove_prefix(at + kSlash.size());
  }
  return name;
}

Repeating range_to_record(const Report& report) {
  const std::string prefix = "ranges:";
  const Steps& steps = report.steps;
  if (steps.count > 1 && steps.source.rfind(prefix, 0) == 0 &&
      steps.source != "ranges:ProfilerStep") {
    return {steps.source.substr(prefix.size()), steps.count,
            fmt::format("it marks the steps, {} of them", count_text(steps.count))};
  }
  const OpStatistics* best = nullptr;
  for (const OpStatistics& op : report.ops) {
    if (op.source != OpSource::range || op.count < 2) continue;
    const auto weight = [](const OpStatistics& o) { return std::max(o.device_ns, o.host_ns); };
    if (best == nullptr || weight(op) > weight(*best)) best = &op;
  }
  if (best == nullptr) return {};
  return {innermost_name(best->path), best->count,
          fmt::format("no range that repeats takes longer: {} times, {}", count_text(best->count),
                      plain(duration_text(std::max(best->device_ns, best->host_ns))))};
}

class Planner {
 public:
  Planner(const Report& report, const std::map<std::string, std::string>& meta) : report_(report) {
    const auto range = meta.find("follow_range");
    const auto skipped = meta.find("follow_skipped");
    if (range != meta.end() && skipped != meta.end()) {
      followed_range_ = range->second;
      const std::string& text = skipped->second;
      std::from_chars(text.data(), text.data() + text.size(), followed_skipped_);
      followed_skipped_ = std::clamp<std::int64_t>(followed_skipped_, 0, 1'000'000'000);
    }
    const auto kinds = meta.find("recorded_kinds");
    if (kinds == meta.end()) return;
    std::string_view rest = kinds->second;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      recorded_.emplace(rest.substr(0, comma));
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }

  FollowPlan plan() {
    look_at_work();
    look_at_names();
    look_at_memory();
    look_at_waits();
    const bool was_all_answered = plan_.reasons.empty();
    if (was_all_answered) {
      give("level 1", "the report left nothing open that more kinds of records would answer");
    }
    choose_window(was_all_answered);
    return std::move(plan_);
  }

 private:
  bool had(const char* kind) const { return recorded_.count(kind) > 0; }

  void give(std::string what, std::string why) {
    plan_.reasons.push_back({std::move(what), std::move(why)});
  }

  void look_at_work() {
    if (!report_.quality.work_left_out.empty()) {
      give("all GPU work", fmt::format("{} were not recorded", report_.quality.work_left_out));
    } else if (report_.quality.whole_graphs > 0) {
      give(kGraphNodesWanted, fmt::format("what ran inside of {} graph launches was not recorded",
                                          count_text(report_.quality.whole_graphs)));
    }
  }

  void look_at_names() {
    if (report_.verdict.bound != Bound::host || had("stacks")) return;
    const CriticalPath& path = report_.critical_path;
    const profile::Nanoseconds code = path.by_class[static_cast<std::size_t>(TimeClass::host_code)];
    const bool any_range =
        std::any_of(report_.ops.begin(), report_.ops.end(),
                    [](const OpStatistics& op) { return op.source == OpSource::range; });
    if (!any_range) {
      give("call stacks (level 3)", "the run is host-bound and no range names what it does");
    } else if (is_share(code, path.window_ns, 10)) {
      give("call stacks (level 3)",
           fmt::format("host code between CUDA calls is {} of the critical path and has no name",
                       percent_of(code, path.window_ns)));
    } else {
      return;
    }
    plan_.level = 3;
  }

  void look_at_memory() {
    const profile::Nanoseconds window_ns = report_.critical_path.window_ns;
    profile::Nanoseconds sum = 0;
    const CallOnPath* first = nullptr;
    for (const CallOnPath& call : report_.path_calls) {
      if (!is_allocation(call.name)) continue;
      if (first == nullptr) first = &call;
      sum += call.path_ns;
    }
    if (first == nullptr || !is_share(sum, window_ns, 100) || had("memory")) return;
    give("allocations and frees", fmt::format("{} and the like are {} of the critical path",
                                              first->name, percent_of(sum, window_ns)));
    if (plan_.level < 2) plan_.more_kinds = {"memory", "pools"};
  }

  void look_at_waits() {
    const CriticalPath& path = report_.critical_path;
    if (!path.exists || !report_.quality.work_left_out.empty() || had("calls")) return;
    if (report_.verdict.bound != Bound::unknown) return;
    give("all CUDA calls",
         path.partial ? fmt::format("the reason of {} of the critical path is not known",
                                    percent_of(path.unknown_ns + path.inferred_ns,
                                               std::max<profile::Nanoseconds>(1, path.window_ns)))
                      : "no recorded call waits for the GPU: the program may poll it");
    if (plan_.level < 2) plan_.more_kinds.emplace_back("calls");
  }

  void choose_window(bool slowest) {
    const Repeating range = range_to_record(report_);
    if (range.name.empty()) {
      give("the whole run", "no range in it repeats");
      return;
    }
    plan_.range = range.name;
    const std::int64_t occurrences = std::min(kOccurrences, range.count);
    std::int64_t skipped = std::min({kMostSkipped, range.count / 4, range.count - occurrences});
    std::string why = range.why;
    const auto& outliers = report_.steps.outliers;
    if (slowest && !outliers.empty() && report_.steps.count == range.count) {
      const StepOutlier& step = *std::max_element(
          outliers.begin(), outliers.end(),
          [](const StepOutlier& a, const StepOutlier& b) { return a.duration_ns < b.duration_ns; });
      skipped =
          std::clamp<std::int64_t>(step.index - occurrences / 2, 0, range.count - occurrences);
      why = fmt::format("step {} was the slowest, {}", step.index,
                        plain(duration_text(step.duration_ns)));
    }
    // What followed a run itself numbers from where its own window began.
    if (followed_range_ == range.name) skipped += followed_skipped_;
    plan_.skipped = static_cast<std::uint32_t>(skipped);
    plan_.occurrences = static_cast<std::uint32_t>(occurrences);
    give(fmt::format("{} of range {} after {}",
                     occurrences == 1 ? std::string("1 occurrence")
                                      : fmt::format("{} occurrences", occurrences),
                     range.name, skipped),
         why);
  }

  const Report& report_;
  std::set<std::string, std::less<>> recorded_;
  std::string followed_range_;
  std::int64_t followed_skipped_ = 0;
  FollowPlan plan_;
};

}  // namespace

FollowPlan follow_plan(const Report& report, const std::map<std::string, std::string>& meta) {
  return Planner(report, meta).plan();
}

}  // namespace gprofml::analysis
