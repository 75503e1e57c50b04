// When is recorded: the windows of this process.
//
// A window is an interval on the recording's clock. What CUPTI hands over is always everything; the
// writer keeps what meets a window, so nothing is switched on or off while the program runs.
//
//   not yet │ open ──close──► settling ──its work has come back──► complete, and forgotten
//           a                 b
//
// Ranges, steps, the profiler API, time and commands open and close windows; what happened is told
// by Trigger, in the order of time. Windows neither overlap nor touch out of order. The writer
// thread's alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injection/options.hpp"
#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

enum class TriggerKind : std::uint32_t {
  range_begins,  ///< one with the wanted name
  range_ends,    ///< any whose `id` a range_begins may have had
  graph_launch,
  synchronised,  ///< the call has returned
  profiler_start,
  profiler_stop,
};

struct Trigger {
  std::int64_t time_ns;
  std::uint64_t id;  ///< of the range
  TriggerKind kind;
};

struct Window {
  std::int64_t start_ns;        ///< 0: the recording's beginning
  std::int64_t end_ns;          ///< kOpen while open
  std::int64_t planned_end_ns;  ///< 0: none
  std::uint32_t index;
  const char* reason;
  bool is_said;  ///< as it is now
  bool is_complete;
  // While settling: what must have come back.
  bool is_settling;
  std::uint64_t buffers;       ///< those requested up to here
  std::uint32_t flush_rounds;  ///< so many must have ended
  std::int64_t deadline_ns;    ///< monotonic
};

class Windows {
 public:
  static constexpr std::int64_t kOpen = INT64_MAX;

  /// `start_ns`: the recording's start on its clock.
  void start(const Options& options, std::int64_t start_ns);

  /// False: everything is recorded and nothing needs to be asked here.
  bool is_on() const { return is_on_; }
  /// What must be watched for.
  bool watches_ranges() const { return watched_range_ != nullptr; }
  const char* watched_range() const { return watched_range_; }
  bool watches_graphs() const { return step_ == Step::graph; }
  bool watches_syncs() const { return step_ == Step::sync; }
  bool watches_profiler_api() const { return profiler_api_; }

  // --- what happens, in the order of time
  void trigger(const Trigger& trigger);
  /// It is `now_ns`: delays and durations are over, or not.
  void advance(std::int64_t now_ns);
  /// Somebody wants it recorded, or not, from `time_ns` on, whatever the options say.
  void want(bool recording, std::int64_t time_ns, const char* reason);
  /// What is recorded changes at `time_ns`: the window that is open, or all that was recorded so
  /// far, ends there and another begins, which ends when the first would have.
  void split(std::int64_t time_ns, const char* reason);

  // --- what is kept
  /// Whether something that lasted from `start_ns` to `end_ns` is in a window.
  bool meets(std::int64_t start_ns, std::int64_t end_ns) const;
  /// Whether GPU work is kept for now: it may have been launched in a window. What was not is left
  /// out when the run.db is made.
  bool keeps_work(std::int64_t end_ns) const { return count_ > 0 && end_ns >= at(0).start_ns; }
  /// The same for what has no time.
  bool keeps_timeless() const { return count_ > 0; }
  /// Whether a range that begins at `time_ns` may reach into a window that is known.
  bool may_reach(std::int64_t time_ns) const { return time_ns <= latest_end_ns_; }

  bool is_open() const { return count_ > 0 && at(count_ - 1).end_ns == kOpen; }
  /// No window that has closed waits for its work.
  bool is_settled() const { return count_ == 0 || (count_ == 1 && is_open()); }
  std::uint32_t opened() const { return next_index_; }
  std::uint32_t completed() const { return completed_; }
  std::int64_t last_start_ns() const { return last_start_ns_; }  ///< of the last complete one
  std::int64_t last_end_ns() const { return last_end_ns_; }
  /// Since the last call a window has opened.
  bool take_opening();

  /// Calls `start(Window&)` for each window that has closed and is not settling yet, then
  /// `is_settled(Window&)` for those that are, oldest first, until one is not.
  template <class Start, class IsSettled>
  void settle(Start&& start, IsSettled&& is_settled) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      Window& window = at(i);
      if (window.end_ns == kOpen || window.is_settling) continue;
      start(window);
      window.is_settling = true;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      Window& window = at(i);
      if (!window.is_settling || !is_settled(window)) break;
      complete(window);
    }
  }
  /// Calls `say(const Window&)` for each window that has changed, then forgets complete ones.
  template <class Say>
  void tell_news(Say&& say) {
    if (!has_news_) return;
    for (std::uint32_t i = 0; i < count_; ++i) {
      Window& window = at(i);
      if (!window.is_said) say(static_cast<const Window&>(window));
      window.is_said = true;
    }
    while (count_ > 0 && at(0).is_complete) {
      first_ = (first_ + 1) % kMost;
      --count_;
    }
    has_news_ = false;
  }

 private:
  enum class Step : std::uint8_t { none, range, graph, sync };
  static constexpr std::uint32_t kMost = 4096;
  static constexpr std::uint32_t kMostSelected = 64;

  Window& at(std::uint32_t i) { return windows_[(first_ + i) % kMost]; }
  const Window& at(std::uint32_t i) const { return windows_[(first_ + i) % kMost]; }

  bool obeys_triggers(std::int64_t time_ns) const;
  void open(std::int64_t time_ns, const char* reason);
  void close(std::int64_t time_ns);
  void complete(Window& window);
  void on_range(const Trigger& trigger);
  void on_step(const Trigger& trigger);
  bool is_active(std::uint64_t step) const;
  bool is_first_active(std::uint64_t step) const;
  bool is_last_active(std::uint64_t step) const;

  const Options* options_;
  const char* watched_range_;
  Step step_;
  bool profiler_api_;
  bool is_on_;
  bool by_time_;
  bool is_spent_;   ///< the one window by time is over
  bool is_forced_;  ///< somebody has said whether it is recorded
  bool has_news_;
  bool has_opened_;
  std::int64_t start_ns_;
  std::int64_t not_before_ns_;
  std::int64_t latest_end_ns_;

  std::uint64_t occurrences_;  ///< of the range, or steps that have begun or (sync) ended
  std::uint64_t selected_[kMostSelected];  ///< open ranges that keep the window open
  std::uint32_t selected_count_;
  std::uint64_t last_active_;  ///< the range whose end closes the window
  char reason_[Options::kLongestName + 16];

  std::uint32_t next_index_;
  std::uint32_t completed_;
  std::int64_t last_start_ns_;
  std::int64_t last_end_ns_;
  std::uint32_t first_;
  std::uint32_t count_;
  Window windows_[kMost];
};

}  // namespace gprofml::injection
