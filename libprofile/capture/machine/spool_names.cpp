#include "libprofile/capture/machine/spool_names.hpp"

#include <algorithm>
#include <charconv>

namespace gprofml::profile {
namespace {

/// Host names may hold '/' only where somebody has set one by hand; file names never.
bool is_host(std::string_view in_name, std::string_view host) {
  return std::equal(in_name.begin(), in_name.end(), host.begin(), host.end(),
                    [](char a, char b) { return a == (b == '/' ? '_' : b); });
}

/// Takes the last part off, and the '-' in front of it.
std::string_view take_last(std::string_view& name) {
  const std::size_t dash = name.rfind('-');
  const std::size_t begin = dash == std::string_view::npos ? 0 : dash + 1;
  const std::string_view last = name.substr(begin);
  name = name.substr(0, dash == std::string_view::npos ? 0 : dash);
  return last;
}

}  // namespace

std::optional<std::int64_t> pid_of_spool(std::string_view name, std::string_view host) {
  constexpr std::string_view kSuffix = ".spool";
  if (name.size() < kSuffix.size() || name.substr(name.size() - kSuffix.size()) != kSuffix) {
    return std::nullopt;
  }
  name.remove_suffix(kSuffix.size());
  take_last(name);  // nonce
  take_last(name);  // start
  const std::string_view number = take_last(name);
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
  const bool is_pid = error == std::errc{} && end == number.data() + number.size() && pid > 0;
  if (!is_pid || !is_host(name, host)) return std::nullopt;
  return pid;
}

}  // namespace gprofml::profile
