#include "libanalysis/quality/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libanalysis/quality/given_up.hpp"
#include "libanalysis/quality/recorded_kinds.hpp"

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

struct Submissions {
  std::int64_t all = 0;
  std::int64_t linked = 0;
  std::int64_t fills_without_work = 0;
};

// Calls that put a node into a graph, by capture or by hand, and the calls around them: what they
// name runs when the graph is launched, not now.
std::vector<bool> captured_calls(const DependencyGraph& graph) {
  const profile::ApiCallColumns& calls = graph.trace.api_calls;
  std::vector<bool> captured(calls.size(), false);
  for (const profile::GraphNode& node : graph.trace.graph_nodes) {
    if (node.call == profile::kNoRow) continue;
    captured[node.call] = true;
    const RowIndex outer =
        graph.threads.last_call_before(calls.thread[node.call], calls.start_ns[node.call] + 1);
    if (outer != profile::kNoRow) captured[outer] = true;
  }
  return captured;
}

// A call that returned an error submitted nothing: no work of it can be missing.
bool has_failed(const profile::Trace& trace, RowIndex call) {
  const std::int64_t result = trace.api_calls.result[call];
  return result != profile::kUnknown && result != 0;
}

// Calls whose work was recorded without usable times: it takes no part in time, but it is there.
std::vector<bool> calls_of_untimed_work(const profile::Trace& trace) {
  std::vector<bool> calls(trace.api_calls.size(), false);
  for (const profile::ActivityColumns* work :
       {static_cast<const profile::ActivityColumns*>(&trace.kernels),
        static_cast<const profile::ActivityColumns*>(&trace.copies),
        static_cast<const profile::ActivityColumns*>(&trace.fills),
        static_cast<const profile::ActivityColumns*>(&trace.graph_launches)}) {
    for (RowIndex row = 0; row < work->size(); ++row) {
      if (work->launch[row] == profile::kNoRow) continue;
      if (!profile::has_timestamp(work->start_ns[row], work->end_ns[row])) {
        calls[work->launch[row]] = true;
      }
    }
  }
  return calls;
}

// Of nested calls (a runtime call and the driver call inside it) only the outermost is a
// submission: unless work was recorded for the inner one, that is how the outer one did its own.
Submissions count_submissions(const DependencyGraph& graph) {
  std::vector<bool> outermost(graph.trace.api_calls.size(), false);
  for (RowIndex thread = 0; thread < graph.threads.size(); ++thread) {
    for (const RowIndex call : graph.threads[thread].outermost_calls) outermost[call] = true;
  }
  const std::vector<bool> captured = captured_calls(graph);
  const std::vector<bool> untimed = calls_of_untimed_work(graph.trace);
  Submissions s;
  for (RowIndex call = 0; call < graph.trace.api_calls.size(); ++call) {
    const bool has_work = untimed[call] || !graph.work.work_of_call(call).empty();
    if (!has_work && (captured[call] || has_failed(graph.trace, call))) continue;
    if (!has_work && !(outermost[call] && graph.traits.of(call).submits)) continue;
    ++s.all;
    if (has_work) ++s.linked;
    if (!has_work && graph.traits.of(call).fills) ++s.fills_without_work;
  }
  return s;
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

void warn_about_links(const DependencyGraph& graph, const Submissions& submissions,
                      const Quality& q, Warnings& warnings) {
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
  warnings.add(
      "fills_without_work", submissions.fills_without_work,
      fmt::format("{} of {} submissions are fills without recorded GPU work: usual for small "
                  "ones, and no loss by itself",
                  submissions.fills_without_work, submissions.all));
  if (q.linked == 0) return;  // without correlation ids nothing can be said of single submissions
  const std::int64_t lost = submissions.all - submissions.linked - submissions.fills_without_work;
  warnings.add("submissions_without_work", lost,
               fmt::format("{} of {} submissions have no recorded GPU work (coverage {:.2f} %): "
                           "records were lost, or the recording stopped before the work ran",
                           lost, submissions.all, 100.0 * q.coverage));
}

// Names of calls that returned an error, the most frequent first: a program that does not look at
// its errors runs on without the work it asked for. Of nested calls the outermost counts.
void warn_about_failed_calls(const DependencyGraph& graph, Warnings& warnings) {
  constexpr std::size_t kMostNamed = 3;
  std::map<std::string_view, std::int64_t> by_name;
  std::int64_t failed = 0;
  for (RowIndex thread = 0; thread < graph.threads.size(); ++thread) {
    for (const RowIndex call : graph.threads[thread].outermost_calls) {
      if (!has_failed(graph.trace, call)) continue;
      ++failed;
      ++by_name[graph.trace.text(graph.trace.api_calls.name[call])];
    }
  }
  std::vector<std::pair<std::int64_t, std::string_view>> most;
  for (const auto& [name, count] : by_name) most.emplace_back(-count, name);
  std::sort(most.begin(), most.end());
  std::string names;
  for (std::size_t i = 0; i < most.size() && i < kMostNamed; ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", -most[i].first, most[i].second);
  }
  warnings.add("failed_calls", failed,
               fmt::format("{} CUDA call{} returned an error ({}{}): column result of api_call",
                           failed, plural(failed), names, most.size() > kMostNamed ? ", …" : ""));
}

// What Kineto writes beside the events that are kept. Flows and metadata have no category of work.
bool is_known_category(std::string_view category) {
  constexpr std::array<std::string_view, 21> kKnown{"",
                                                    "m",
                                                    "i",
                                                    "c",
                                                    "s",
                                                    "t",
                                                    "f",
                                                    "metadata",
                                                    "trace",
                                                    "overhead",
                                                    "ac2g",
                                                    "gpu_user_annotation",
                                                    "fwdbwd",
                                                    "async",
                                                    "async_gpu",
                                                    "async_cpu_to_gpu",
                                                    "counter",
                                                    "instant",
                                                    "flow",
                                                    "cuda_profiler_range",
                                                    "critical_path"};
  std::string lower(category);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kKnown.begin(), kKnown.end(), lower) != kKnown.end();
}

struct UnknownCategories {
  std::int64_t events = 0;
  std::string names;

  void add(const profile::QualityNote& note, const profile::Trace& trace) {
    constexpr std::size_t kEnough = 200;
    events += note.count;
    if (names.size() < kEnough) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ",
                           trace.text(note.detail).substr(0, kEnough), note.count);
    }
  }
};

std::string note_sentence(std::string_view code, std::int64_t count, std::string_view detail) {
  if (code == "bad_event") {
    return fmt::format("{} event{} could not be read and {} left out; {}", count, plural(count),
                       count == 1 ? "is" : "are", detail);
  }
  if (code == "truncated_file") return fmt::format("the file is cut off: {}", detail);
  return std::string(detail);
}

// By how much the launch of an activity lies after its start, at most.
profile::Nanoseconds latest_launch_ns(const DependencyGraph& graph) {
  profile::Nanoseconds latest = 0;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!graph.work.linked(i)) continue;
    latest = std::max(latest, graph.launch_start_ns(i) - graph.work.start_ns[i]);
  }
  return latest;
}

void warn_about_records(const DependencyGraph& graph, Quality& q, Warnings& warnings) {
  warnings.add(
      "no_timestamp", q.no_timestamp,
      fmt::format("{} record{} without a timestamp", q.no_timestamp, plural(q.no_timestamp)));
  warnings.add("overrun", q.overruns,
               fmt::format("{} activit{} cannot have run as long as recorded (the next one on the "
                           "stream ended before); corrected beside, see busy_corrected_ns",
                           q.overruns, q.overruns == 1 ? "y" : "ies"));
  warnings.add(
      "before_launch", q.before_launch,
      fmt::format("{} GPU activit{} before the call that launched {}: the clocks of host and "
                  "GPU disagree, by up to {} ns; figures that join both are off by as much",
                  q.before_launch, q.before_launch == 1 ? "y starts" : "ies start",
                  q.before_launch == 1 ? "it" : "them", latest_launch_ns(graph)));
  UnknownCategories unknown;
  for (const profile::QualityNote& note : graph.trace.quality) {
    const std::string_view code = graph.trace.text(note.code);
    if (code == "ignored_category") {  // a doubt only where the category is none we know of
      if (!is_known_category(graph.trace.text(note.detail))) unknown.add(note, graph.trace);
      continue;
    }
    for (const std::string_view lost : {"dropped", "bad_event", "dropped_records",
                                        "discarded_records", "incomplete_records", "ranges_lost"}) {
      if (code == lost) q.dropped += note.count;
    }
    if (code == "no_timestamp") continue;  // counted above
    warnings.add(std::string(code), note.count,
                 note_sentence(code, note.count, graph.trace.text(note.detail)));
  }
  warnings.add("unknown_category", unknown.events,
               fmt::format("{} events of categories this version does not know were left out: {}",
                           unknown.events, unknown.names));
}

}  // namespace

Quality check_quality(const DependencyGraph& graph) {
  Quality q;
  q.calls = distinct_calls(graph.trace);
  const Submissions submissions = count_submissions(graph);
  q.submissions = submissions.all;
  q.linked_submissions = submissions.linked;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    ++(graph.work.linked(i) ? q.linked : q.unlinked);
    if (graph.work.linked(i) && graph.launch_start_ns(i) > graph.work.start_ns[i]) {
      ++q.before_launch;
    }
  }
  if (q.submissions > 0) {
    q.coverage = static_cast<double>(q.linked_submissions) / static_cast<double>(q.submissions);
  }
  q.no_timestamp = graph.work.no_timestamp;
  q.overruns = graph.work.overruns;
  q.whole_graphs = static_cast<std::int64_t>(graph.trace.graph_launches.size());
  q.work_left_out = work_left_out(graph.trace);
  Warnings warnings(q);
  warn_about_links(graph, submissions, q, warnings);
  warn_about_failed_calls(graph, warnings);
  warn_about_records(graph, q, warnings);
  warnings.add("work_left_out", q.work_left_out.empty() ? 0 : 1,
               fmt::format("{} were not to be recorded: GPU time that looks idle may be theirs",
                           q.work_left_out));
  const std::string given = given_up(graph.trace);
  warnings.add("given_up", given.empty() ? 0 : 1, "to hold --overhead-budget: " + given);
  std::stable_sort(
      q.warnings.begin(), q.warnings.end(),
      [](const QualityWarning& a, const QualityWarning& b) { return a.code < b.code; });
  return q;
}

}  // namespace gprofml::analysis
