#include "libanalysis/serving/requests.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "libanalysis/window/quantiles.hpp"
#include "libanalysis/window/recorded.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RangeKind;
using profile::RowIndex;
using profile::Trace;

namespace {

enum class Role : std::uint8_t { none, request, prefill, token };

bool has_name(std::string_view text, std::string_view name) {
  if (text.substr(0, name.size()) != name) return false;
  text.remove_prefix(name.size());
  if (text.empty()) return true;
  if (std::string_view(" #_:/").find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The role of each string of the trace, so that every name is looked at once.
std::vector<Role> roles_of_names(const Trace& trace, const ServingNames& names) {
  std::vector<Role> roles(trace.strings.size(), Role::none);
  for (std::size_t id = 0; id < roles.size(); ++id) {
    const std::string_view text = trace.text(static_cast<profile::StringId>(id));
    if (has_name(text, names.request)) roles[id] = Role::request;
    if (has_name(text, names.prefill)) roles[id] = Role::prefill;
    if (has_name(text, names.token)) roles[id] = Role::token;
  }
  return roles;
}

struct Part {
  RowIndex range = kNoRow;
  Role role = Role::none;
};

struct Request {
  RowIndex range = kNoRow;
  std::vector<Part> parts;
  bool ambiguous = false;
};

class Requests {
 public:
  Requests(const Trace& trace, const ServingNames& names)
      : trace_(trace), ranges_(trace.ranges), roles_(roles_of_names(trace, names)) {
    for (RowIndex r = 0; r < ranges_.size(); ++r) {
      if (!profile::has_timestamp(ranges_.start_ns[r], ranges_.end_ns[r])) continue;
      if (role(r) == Role::request) {
        by_process_[process(r)].push_back(requests_.size());
        requests_.push_back({r, {}, false});
      }
    }
    for (auto& [of_process, indices] : by_process_) sort(indices);
  }

  bool empty() const { return requests_.empty(); }

  /// Returns how many ranges lie in several requests.
  std::int64_t assign_parts() {
    std::int64_t ambiguous = 0;
    for (RowIndex r = 0; r < ranges_.size(); ++r) {
      const bool is_part = role(r) == Role::token || role(r) == Role::prefill;
      if (is_part && !assign(r)) ++ambiguous;
    }
    return ambiguous;
  }

  const std::vector<Request>& all() const { return requests_; }

 private:
  Role role(RowIndex range) const {
    return ranges_.kind[range] == RangeKind::python_function ? Role::none
                                                             : roles_[ranges_.name[range]];
  }
  RowIndex process(RowIndex range) const { return trace_.threads[ranges_.thread[range]].process; }

  struct InTime {
    std::vector<std::size_t> requests;    ///< by start, then by end descending
    std::vector<Nanoseconds> latest_end;  ///< of the requests up to and with this one
  };

  void sort(std::vector<std::size_t>& indices) {
    std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
      const RowIndex ra = requests_[a].range;
      const RowIndex rb = requests_[b].range;
      return std::tuple(ranges_.start_ns[ra], -ranges_.end_ns[ra], ra) <
             std::tuple(ranges_.start_ns[rb], -ranges_.end_ns[rb], rb);
    });
    std::vector<Nanoseconds>& latest = latest_end_[process(requests_[indices.front()].range)];
    Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
    for (const std::size_t index : indices) {
      end = std::max(end, ranges_.end_ns[requests_[index].range]);
      latest.push_back(end);
    }
  }

  /// The requests in whose time a range lies, by their start.
  std::vector<std::size_t> around(RowIndex part) const {
    std::vector<std::size_t> found;
    const auto of_process = by_process_.find(process(part));
    if (of_process == by_process_.end()) return found;
    const std::vector<std::size_t>& requests = of_process->second;
    const std::vector<Nanoseconds>& latest = latest_end_.at(of_process->first);
    const auto behind = std::upper_bound(
        requests.begin(), requests.end(), ranges_.start_ns[part],
        [&](Nanoseconds at, std::size_t i) { return at < ranges_.start_ns[requests_[i].range]; });
    for (auto at = static_cast<std::size_t>(behind - requests.begin()); at > 0; --at) {
      if (latest[at - 1] < ranges_.end_ns[part]) break;  // nor does any before reach so far
      const std::size_t request = requests[at - 1];
      if (ranges_.end_ns[requests_[request].range] >= ranges_.end_ns[part]) {
        found.push_back(request);
      }
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  bool nests_in(RowIndex part, std::size_t request) const {
    const RowIndex outer = requests_[request].range;
    return ranges_.thread[outer] == ranges_.thread[part] &&
           ranges_.kind[outer] != RangeKind::start_end &&
           ranges_.kind[part] != RangeKind::start_end;
  }

  /// False where it lies in several and does not say in which.
  bool assign(RowIndex part) {
    const std::vector<std::size_t> candidates = around(part);
    if (candidates.empty()) return true;
    std::size_t owner = candidates.back();
    const auto nested = std::find_if(candidates.rbegin(), candidates.rend(),
                                     [&](std::size_t i) { return nests_in(part, i); });
    if (nested != candidates.rend()) {
      owner = *nested;
    } else if (candidates.size() > 1) {
      for (const std::size_t i : candidates) requests_[i].ambiguous = true;
      return false;
    }
    requests_[owner].parts.push_back({part, role(part)});
    return true;
  }

  const Trace& trace_;
  const profile::RangeColumns& ranges_;
  std::vector<Role> roles_;
  std::vector<Request> requests_;
  std::map<RowIndex, std::vector<std::size_t>> by_process_;
  std::map<RowIndex, std::vector<Nanoseconds>> latest_end_;
};

/// For each range the latest end of GPU work launched inside it on its thread; only of `wanted`.
class GpuWorkOfRanges {
 public:
  GpuWorkOfRanges(const Trace& trace, std::vector<RowIndex> wanted) : trace_(trace) {
    const profile::RangeColumns& ranges = trace.ranges;
    for (const RowIndex r : wanted) of_thread_[ranges.thread[r]].push_back({r, 0});
    for (auto& [thread, entries] : of_thread_) {
      std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        return std::tuple(ranges.start_ns[a.range], a.range) <
               std::tuple(ranges.start_ns[b.range], b.range);
      });
    }
    add(trace.kernels);
    add(trace.copies);
    add(trace.fills);
    add(trace.graph_launches);
  }

  std::int64_t ranges_that_end_before_it() const {
    std::int64_t count = 0;
    for (const auto& [thread, entries] : of_thread_) {
      count += std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.latest_ns > trace_.ranges.end_ns[entry.range];
      });
    }
    return count;
  }

 private:
  struct Entry {
    RowIndex range;
    Nanoseconds latest_ns;
  };

  /// Tokens of one thread hardly ever nest, so only the last that started is looked at.
  void add(const profile::ActivityColumns& work) {
    const profile::RangeColumns& ranges = trace_.ranges;
    for (RowIndex w = 0; w < work.size(); ++w) {
      const RowIndex call = work.launch[w];
      if (call == kNoRow) continue;
      const auto entries = of_thread_.find(trace_.api_calls.thread[call]);
      if (entries == of_thread_.end()) continue;
      const Nanoseconds at = trace_.api_calls.start_ns[call];
      const auto behind = std::upper_bound(
          entries->second.begin(), entries->second.end(), at,
          [&](Nanoseconds t, const Entry& entry) { return t < ranges.start_ns[entry.range]; });
      if (behind == entries->second.begin()) continue;
      Entry& entry = *std::prev(behind);
      if (at <= ranges.end_ns[entry.range]) {
        entry.latest_ns = std::max(entry.latest_ns, work.end_ns[w]);
      }
    }
  }

  const Trace& trace_;
  std::map<RowIndex, std::vector<Entry>> of_thread_;
};

std::optional<DurationQuantiles> quantiles(std::vector<Nanoseconds> durations) {
  if (durations.empty()) return std::nullopt;
  std::sort(durations.begin(), durations.end());
  return DurationQuantiles{static_cast<std::int64_t>(durations.size()), median_of_sorted(durations),
                           percentile_of_sorted(durations, 95),
                           percentile_of_sorted(durations, 99)};
}

/// Rounds halves up; neither is negative.
Nanoseconds divided(Nanoseconds whole, std::int64_t by) {
  const std::int64_t rest = whole % by;
  return whole / by + (rest >= by - rest ? 1 : 0);
}

/// Adds up what the judged requests took.
class Judged {
 public:
  Judged(const Trace& trace, const Window& window)
      : trace_(trace), ranges_(trace.ranges), window_(window), recorded_(recorded_windows(trace)) {}

  void add(const Request& request) {
    const char* const why = why_not(request);
    if (why != nullptr) {
      ++left_out_[why];
      return;
    }
    const Nanoseconds start = ranges_.start_ns[request.range];
    const Nanoseconds end = ranges_.end_ns[request.range];
    first_ns_ = latency_.empty() ? start : std::min(first_ns_, start);
    last_ns_ = latency_.empty() ? end : std::max(last_ns_, end);
    latency_.push_back(end - start);
    std::vector<Nanoseconds> token_ends;
    Nanoseconds prefill_end = 0;
    for (const Part& part : request.parts) {
      parts_.push_back(part.range);
      if (part.role == Role::token) token_ends.push_back(ranges_.end_ns[part.range]);
      if (part.role == Role::prefill)
        prefill_end = std::max(prefill_end, ranges_.end_ns[part.range]);
    }
    if (token_ends.empty()) {
      ++by_prefill_;
      ttft_.push_back(prefill_end - start);
      return;
    }
    tokens_ += static_cast<std::int64_t>(token_ends.size());
    const auto [first, last] = std::minmax_element(token_ends.begin(), token_ends.end());
    ttft_.push_back(*first - start);
    if (token_ends.size() > 1) {
      tpot_.push_back(divided(*last - *first, static_cast<std::int64_t>(token_ends.size()) - 1));
    }
  }

  void fill(Serving& serving) const {
    serving.judged = static_cast<std::int64_t>(latency_.size());
    for (const auto& [why, count] : left_out_) serving.left_out.push_back({why, count});
    std::stable_sort(
        serving.left_out.begin(), serving.left_out.end(),
        [](const RequestsLeftOut& a, const RequestsLeftOut& b) { return a.count > b.count; });
    serving.tokens = tokens_;
    serving.span_ns =
        recorded_.empty() ? last_ns_ - first_ns_ : recorded_of(recorded_, first_ns_, last_ns_);
    serving.latency = quantiles(latency_);
    serving.ttft = quantiles(ttft_);
    serving.tpot = quantiles(tpot_);
    serving.ttft_by_prefill = by_prefill_;
    serving.ended_before_gpu = GpuWorkOfRanges(trace_, parts_).ranges_that_end_before_it();
  }

 private:
  const char* why_not(const Request& request) const {
    const Nanoseconds start = ranges_.start_ns[request.range];
    const Nanoseconds end = ranges_.end_ns[request.range];
    if (!was_recorded(recorded_, start, end)) return "not recorded from start to end";
    // Ranges never stretch a window of everything, so there one may begin before it.
    if (window_.kind != WindowKind::all && (start < window_.from_ns || end > window_.to_ns)) {
      return "not wholly in the window";
    }
    if (request.ambiguous) return "at the same time as others: whose tokens they are is not known";
    if (request.parts.empty()) return "without a token or prefill range";
    return nullptr;
  }

  const Trace& trace_;
  const profile::RangeColumns& ranges_;
  const Window& window_;
  const std::vector<RecordedWindow> recorded_;
  std::map<std::string, std::int64_t> left_out_;
  std::vector<Nanoseconds> latency_;
  std::vector<Nanoseconds> ttft_;
  std::vector<Nanoseconds> tpot_;
  std::vector<RowIndex> parts_;
  Nanoseconds first_ns_ = 0;
  Nanoseconds last_ns_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t by_prefill_ = 0;
};

}  // namespace

std::optional<Serving> serving_of(const Trace& trace, const Window& window,
                                  const ServingNames& names) {
  if (names.request == names.prefill || names.request == names.token ||
      names.prefill == names.token) {
    throw std::invalid_argument(
        "request, prefill and token ranges need names that differ "
        "(--request-range, --prefill-range, --token-range)");
  }
  Requests requests(trace, names);
  if (requests.empty()) return std::nullopt;
  Serving serving;
  serving.names = names;
  serving.requests = static_cast<std::int64_t>(requests.all().size());
  serving.ambiguous = requests.assign_parts();
  Judged judged(trace, window);
  for (const Request& request : requests.all()) judged.add(request);
  judged.fill(serving);
  return serving;
}

}  // namespace gprofml::analysis
