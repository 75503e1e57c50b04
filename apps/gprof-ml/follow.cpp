#include "apps/gprof-ml/follow.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "apps/gprof-ml/load.hpp"
#include "libanalysis/analyze.hpp"
#include "libanalysis/follow/plan.hpp"
#include "libanalysis/report/printable.hpp"
#include "libprofile/capture/recording.hpp"

namespace gprofml::app {
namespace {

analysis::FollowPlan plan_after(const std::string& run_db) {
  const LoadedTrace loaded = load_trace(run_db, {});
  if (!loaded.is_recording || has_no_records(loaded.trace)) {
    throw std::invalid_argument(
        run_db + ": holds no records of gprof-ml run, so there is nothing to follow; record first");
  }
  analysis::AnalyzeOptions options;
  options.source = run_db;
  return analysis::follow_plan(analysis::analyze(loaded.trace, options), loaded.trace.meta);
}

void set_how_much(const analysis::FollowPlan& plan, profile::RecordOptions& options) {
  options.level = plan.level;
  if (plan.more_kinds.empty()) return;
  std::uint32_t groups = spool::groups_of_level(plan.level);
  for (const std::string& kind : plan.more_kinds) groups |= profile::groups_named(kind);
  options.groups = groups;
}

void set_window(const analysis::FollowPlan& plan, profile::RecordOptions& options) {
  if (plan.range.empty()) return;
  if (plan.range == "graph" || plan.range == "sync") {  // words of --step with another meaning
    options.range = plan.range;
    return;
  }
  profile::StepPlan steps;
  steps.wait = plan.skipped;
  steps.active = plan.occurrences;
  steps.step = plan.range;
  options.steps = steps;
}

}  // namespace

Follow follow(const std::string& run_db, const profile::RecordOptions& given,
              bool how_much_is_given) {
  const analysis::FollowPlan plan = plan_after(run_db);
  Follow result;
  result.options = given;
  const bool window_is_given = given.has_windows() || given.keep_last_ns > 0;
  if (!how_much_is_given) set_how_much(plan, result.options);
  if (!window_is_given) set_window(plan, result.options);
  std::string reasons;
  for (std::size_t i = 0; i < plan.reasons.size(); ++i) {
    const bool is_window = i + 1 == plan.reasons.size();
    if (is_window ? window_is_given : how_much_is_given) continue;
    const analysis::FollowReason& reason = plan.reasons[i];
    if (given.whole_graphs == true && reason.what == analysis::kGraphNodesWanted) continue;
    const std::string line = analysis::printable(reason.what + ", because " + reason.why);
    reasons += (reasons.empty() ? "" : "; ") + line;
    result.lines.push_back("follow: " + line);
  }
  result.meta = {{"follow_of", run_db}, {"follow_reasons", reasons}};
  if (!window_is_given && result.options.steps) {
    result.meta["follow_range"] = plan.range;
    result.meta["follow_skipped"] = std::to_string(plan.skipped);
  }
  return result;
}

}  // namespace gprofml::app
