#include "libanalysis/quality/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace gprofml::analysis {

using profile::kUnknown;
using profile::RowIndex;

namespace {

std::int64_t distinct_calls(const profile::Trace& trace) {
  std::vector<std::pair<RowIndex, std::int64_t>> ids;
  for (RowIndex i = 0; i < trace.api_calls.size(); ++i) {
    if (trace.api_calls.correlation[i] == kUnknown) continue;
    ids.emplace_back(trace.threads[trace.api_calls.thread[i]].process,
                     trace.api_calls.correlation[i]);
  }
  std::sort(ids.begin(), ids.end());
  return std::unique(ids.begin(), ids.end()) - ids.begin();
}

// Of calls with one correlation id (a runtime call and the driver call inside it) only the
// outermost is a submission: the inner one never had work of its own.
std::int64_t count_submissions(const DependencyGraph& graph, std::int64_t& linked) {
  std::int64_t submissions = 0;
  for (RowIndex thread = 0; thread < graph.threads.size(); ++thread) {
    for (const RowIndex call : graph.threads[thread].outermost_calls) {
      if (!graph.submits(call)) continue;
      ++submissions;
    }
  }
  for (RowIndex call = 0; call < graph.trace.api_calls.size(); ++call) {
    if (!graph.work.work_of_call(call).empty()) ++linked;
  }
  return submissions;
}

std::string_view plural(std::int64_t n) {
  return n == 1 ? "" : "s";
}

class Warnings {
 public:
  explicit Warnings(Quality& quality) : quality_(quality) {}

  void add(std::string code, std::int64_t count, std::string message) {
    if (count > 0) quality_.warnings.push_back({std::move(code), count, std::move(message)});
  }

 private:
  Quality& quality_;
};

void warn_about_links(const DependencyGraph& graph, Quality& q, Warnings& warnings) {
  const std::int64_t work = q.linked + q.unlinked;
  if (work == 0) return;
  if (graph.trace.api_calls.size() == 0) {
    warnings.add(
        "no_api_calls", work,
        fmt::format("no CUDA call was recorded: why the device was idle cannot be told ({} "
                    "GPU activities have no launch)",
                    work));
    return;
  }
  warnings.add("unlinked", q.unlinked,
               fmt::format("{} of {} GPU activities have no launch record; they are kept and "
                           "counted, what they waited for is unknown",
                           q.unlinked, work));
  const std::int64_t lost = q.submissions - q.linked_submissions;
  warnings.add("submissions_without_work", lost,
               fmt::format("{} of {} submissions have no recorded GPU work (coverage {:.2f} %); "
                           "fills often have none, kernels should",
                           lost, q.submissions, 100.0 * q.coverage));
}

void warn_about_records(const DependencyGraph& graph, Quality& q, Warnings& warnings) {
  warnings.add(
      "no_timestamp", q.no_timestamp,
      fmt::format("{} record{} without a timestamp", q.no_timestamp, plural(q.no_timestamp)));
  warnings.add("overrun", q.overruns,
               fmt::format("{} activit{} cannot have run as long as recorded (the next one on the "
                           "stream ended before); corrected beside, see busy_corrected_ns",
                           q.overruns, q.overruns == 1 ? "y" : "ies"));
  for (const profile::QualityNote& note : graph.trace.quality) {
    const std::string_view code = graph.trace.text(note.code);
    if (code == "ignored_category") continue;  // not a doubt about what was kept
    if (code == "dropped") q.dropped += note.count;
    if (code == "no_timestamp") continue;  // counted above
    warnings.add(std::string(code), note.count, std::string(graph.trace.text(note.detail)));
  }
}

}  // namespace

Quality check_quality(const DependencyGraph& graph) {
  Quality q;
  q.calls = distinct_calls(graph.trace);
  q.submissions = count_submissions(graph, q.linked_submissions);
  for (ActivityIndex i = 0; i < graph.work.size(); ++i)
    ++(graph.work.linked(i) ? q.linked : q.unlinked);
  if (q.submissions > 0) {
    q.coverage = static_cast<double>(q.linked_submissions) / static_cast<double>(q.submissions);
  }
  q.no_timestamp = graph.work.no_timestamp;
  q.overruns = graph.work.overruns;
  Warnings warnings(q);
  warn_about_links(graph, q, warnings);
  warn_about_records(graph, q, warnings);
  std::stable_sort(
      q.warnings.begin(), q.warnings.end(),
      [](const QualityWarning& a, const QualityWarning& b) { return a.code < b.code; });
  return q;
}

}  // namespace gprofml::analysis
