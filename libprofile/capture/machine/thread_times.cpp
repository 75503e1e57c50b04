#include "libprofile/capture/machine/thread_times.hpp"

#include <charconv>

namespace gprofml::profile {
namespace {

/// Takes a number and the blanks behind it off the front.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  return true;
}

/// The k-th word, from 0.
std::string_view word(std::string_view text, int k) {
  for (; k > 0; --k) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return {};
    text.remove_prefix(blank + 1);
  }
  return text.substr(0, text.find(' '));
}

}  // namespace

std::optional<ThreadTimes> thread_times(std::string_view schedstat) {
  ThreadTimes times;
  const bool read = take_number(schedstat, times.on_cpu_ns) &&
                    take_number(schedstat, times.runnable_ns) &&
                    take_number(schedstat, times.timeslices);
  if (!read || !schedstat.empty()) return std::nullopt;
  return times;
}

std::optional<ThreadState> thread_state(std::string_view stat) {
  // Fields as proc(5) numbers them; the third is the first behind the name.
  constexpr int kFirst = 3, kStartTime = 22, kProcessor = 39;
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(") ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  ThreadState state;
  state.name = stat.substr(begin + 1, end - begin - 1);
  const std::string_view rest = stat.substr(end + 2);
  std::string_view start = word(rest, kStartTime - kFirst);
  if (!take_number(start, state.start_ticks)) return std::nullopt;
  std::string_view processor = word(rest, kProcessor - kFirst);
  std::int64_t cpu = -1;
  if (take_number(processor, cpu)) state.last_cpu = static_cast<std::int32_t>(cpu);
  return state;
}

}  // namespace gprofml::profile
