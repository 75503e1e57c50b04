#include "libprofile/store/meta_keys.hpp"

namespace gprofml::profile::detail {
namespace {

constexpr std::string_view kPrefix = "trace.";

bool has_prefix(std::string_view key) {
  return key.substr(0, kPrefix.size()) == kPrefix;
}

/// A store key behind any number of prefixes, so that no two keys are ever stored as one.
bool could_clash(std::string_view key) {
  while (has_prefix(key)) key.remove_prefix(kPrefix.size());
  return is_store_key(key);
}

}  // namespace

bool is_store_key(std::string_view key) {
  return key == kSchemaVersionKey || key == kToolVersionKey || key == kClockBoundKey;
}

std::string stored_key(std::string_view trace_key) {
  return could_clash(trace_key) ? std::string(kPrefix) + std::string(trace_key)
                                : std::string(trace_key);
}

std::string trace_key(std::string_view stored_key) {
  if (has_prefix(stored_key) && could_clash(stored_key)) stored_key.remove_prefix(kPrefix.size());
  return std::string(stored_key);
}

}  // namespace gprofml::profile::detail
