#include "libprofile/capture/join_recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace gprofml::profile {
namespace {

using Meta = std::map<std::string, std::string>;

/// "process.3.end" is what process row 3 says of its "end".
struct ProcessKey {
  std::size_t row;
  std::string key;
};

std::optional<ProcessKey> process_key(const std::string& text) {
  constexpr std::string_view kPrefix = "process.";
  if (text.rfind(kPrefix, 0) != 0) return std::nullopt;
  const std::size_t end = text.find('.', kPrefix.size());
  if (end == std::string::npos) return std::nullopt;
  const std::string number = text.substr(kPrefix.size(), end - kPrefix.size());
  if (number.empty() || number.size() > 9 ||
      number.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return ProcessKey{std::stoul(number), text.substr(end + 1)};
}

/// What tells a process from others, across two traces with string tables of their own.
using Identity = std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::string>;

Identity identity_of(const Trace& trace, const Process& process) {
  return {std::string(trace.text(process.host)), process.pid, process.rank,
          std::string(trace.text(process.source)), std::string(trace.text(process.command))};
}

/// Rows of the joined trace in the order of the inputs' processes.
std::vector<std::size_t> joined_rows(const std::vector<Identity>& inputs, const Trace& joined) {
  std::multimap<Identity, std::size_t> rows;
  for (std::size_t row = 0; row < joined.processes.size(); ++row) {
    rows.emplace(identity_of(joined, joined.processes[row]), row);
  }
  std::vector<std::size_t> found;
  for (const Identity& identity : inputs) {
    const auto at = rows.find(identity);
    found.push_back(at->second);
    rows.erase(at);
  }
  return found;
}

/// What is true of the recording as a whole, whatever its parts say.
Meta of_the_whole(const std::vector<Meta>& metas) {
  Meta whole;
  for (const Meta& meta : metas) {
    for (const auto& [key, value] : meta) {
      if (key == "simulated" && value != "false" && value != "0") whole[key] = value;
      const bool is_earlier = key == "start_ns" && (whole.count(key) == 0 ||
                                                    std::pair(value.size(), value) <
                                                        std::pair(whole[key].size(), whole[key]));
      if (is_earlier) whole[key] = value;
    }
  }
  const auto command = metas.front().find("command");
  if (command != metas.front().end()) whole.insert(*command);
  return whole;
}

class JoinedMeta {
 public:
  explicit JoinedMeta(const std::vector<Meta>& metas) : metas_(metas) {}

  /// `rows[i]` are the joined rows of input i's processes.
  Meta join(const std::vector<std::vector<std::size_t>>& rows) const {
    Meta joined = of_the_whole(metas_);
    const Meta whole = joined;
    for (std::size_t i = 0; i < metas_.size(); ++i) {
      for (const auto& [key, value] : metas_[i]) {
        if (const auto of = process_key(key)) {
          if (of->row < rows[i].size()) add(joined, rows[i][of->row], of->key, value);
        } else if (whole.count(key) == 0 && all_say(key, value)) {
          joined[key] = value;
        } else if (whole.count(key) == 0) {
          for (const std::size_t row : rows[i]) add(joined, row, key, value);
        }
      }
    }
    return joined;
  }

 private:
  static void add(Meta& joined, std::size_t row, const std::string& key, const std::string& value) {
    joined.emplace(fmt::format("process.{}.{}", row, key), value);
  }
  bool all_say(const std::string& key, const std::string& value) const {
    return std::all_of(metas_.begin(), metas_.end(), [&](const Meta& meta) {
      const auto found = meta.find(key);
      return found != meta.end() && found->second == value;
    });
  }

  const std::vector<Meta>& metas_;
};

struct Span {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  bool is_empty() const { return first > last; }
};

template <typename Table>
void extend(Span& span, const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!has_timestamp(table.start_ns[i], table.end_ns[i])) continue;
    span.first = std::min(span.first, table.start_ns[i]);
    span.last = std::max(span.last, table.end_ns[i]);
  }
}

Span span_of(const Trace& trace) {
  Span span;
  extend(span, trace.kernels);
  extend(span, trace.copies);
  extend(span, trace.fills);
  extend(span, trace.graph_launches);
  extend(span, trace.api_calls);
  extend(span, trace.ranges);
  return span;
}

class Doubts {
 public:
  explicit Doubts(const std::vector<NamedTrace>& recordings) : recordings_(recordings) {
    for (const NamedTrace& recording : recordings) spans_.push_back(span_of(recording.trace));
  }

  std::vector<std::string> find() {
    look_at_times();
    for (const char* key : {"env.SLURM_JOB_ID", "env.TORCHELASTIC_RUN_ID", "env.WORLD_SIZE",
                            "env.OMPI_COMM_WORLD_SIZE", "env.PMI_SIZE"}) {
      compare(key);
    }
    look_at_ranks();
    return warnings_;
  }

 private:
  void look_at_times() {
    for (std::size_t i = 1; i < spans_.size(); ++i) {
      if (spans_[0].is_empty() || spans_[i].is_empty()) continue;
      if (spans_[i].first <= spans_[0].last && spans_[0].first <= spans_[i].last) continue;
      warnings_.push_back(fmt::format("{} and {} do not overlap in time: they are not of one run",
                                      recordings_[0].name, recordings_[i].name));
    }
  }

  void compare(const std::string& key) {
    const auto value = [&](const NamedTrace& recording) -> std::optional<std::string> {
      const auto found = recording.trace.meta.find(key);
      if (found == recording.trace.meta.end()) return std::nullopt;
      return found->second;
    };
    const auto first = value(recordings_[0]);
    for (std::size_t i = 1; first && i < recordings_.size(); ++i) {
      const auto other = value(recordings_[i]);
      if (!other || *other == *first) continue;
      const std::string what = key.rfind("env.", 0) == 0 ? key.substr(4) : key;
      warnings_.push_back(fmt::format("{} and {} differ in {} ({}, {}): they may be of two jobs",
                                      recordings_[0].name, recordings_[i].name, what, *first,
                                      *other));
      return;
    }
  }

  void look_at_ranks() {
    std::map<std::int64_t, std::size_t> owner;
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      std::set<std::int64_t> own;
      for (const Process& process : recordings_[i].trace.processes) own.insert(process.rank);
      own.erase(kUnknown);
      for (const std::int64_t rank : own) {
        const auto [other, is_new] = owner.emplace(rank, i);
        if (is_new) continue;
        warnings_.push_back(fmt::format("{} and {} both hold rank {}",
                                        recordings_[other->second].name, recordings_[i].name,
                                        rank));
      }
    }
  }

  const std::vector<NamedTrace>& recordings_;
  std::vector<Span> spans_;
  std::vector<std::string> warnings_;
};

}  // namespace

JoinedRecordings join_recordings(std::vector<NamedTrace> recordings) {
  JoinedRecordings joined;
  joined.warnings = Doubts(recordings).find();
  std::vector<Meta> metas;
  std::vector<std::size_t> counts;
  std::vector<Identity> identities;
  for (NamedTrace& recording : recordings) {
    metas.push_back(recording.trace.meta);
    counts.push_back(recording.trace.processes.size());
    for (const Process& process : recording.trace.processes) {
      identities.push_back(identity_of(recording.trace, process));
    }
    if (counts.size() == 1) {
      joined.trace = std::move(recording.trace);
    } else {
      append(joined.trace, recording.trace);
      recording.trace = {};
    }
  }
  canonicalise(joined.trace);
  const std::vector<std::size_t> all_rows = joined_rows(identities, joined.trace);
  std::vector<std::vector<std::size_t>> rows;
  auto at = all_rows.begin();
  for (const std::size_t count : counts) {
    rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(count));
    at += static_cast<std::ptrdiff_t>(count);
  }
  joined.trace.meta = JoinedMeta(metas).join(rows);
  return joined;
}

}  // namespace gprofml::profile
