#include "injection/environment_facts.hpp"

#include <cstring>

#include "libprofile/spool/environment_names.hpp"

namespace gprofml::injection {
namespace {

/// Of the mailbox, which has room for other things too.
constexpr std::size_t kMostBytes = 24 * 1024;

}  // namespace

void post_environment(Mailbox& mailbox, const char* const* environment) {
  constexpr std::size_t kPrefix = 4;
  std::size_t posted = 0;
  for (; environment != nullptr && *environment != nullptr && posted < kMostBytes; ++environment) {
    const char* const equals = std::strchr(*environment, '=');
    char key[sizeof Message::key] = "env.";
    if (equals == nullptr) continue;
    const auto length = static_cast<std::size_t>(equals - *environment);
    if (length == 0 || kPrefix + length >= sizeof key) continue;
    std::memcpy(key + kPrefix, *environment, length);
    const char* const value = equals + 1;
    if (!spool::is_kept_variable(key + kPrefix) || !spool::is_kept_value(value)) continue;
    const std::size_t bytes = strnlen(value, spool::kMostValueBytes);
    mailbox.fact(key, value, bytes);
    posted += sizeof(Message) + bytes;
  }
}

}  // namespace gprofml::injection
