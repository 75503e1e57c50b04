// Keys of table `meta`: those of the store itself beside those of Trace::meta.
#pragma once

#include <string>
#include <string_view>

namespace gprofml::profile::detail {

inline constexpr std::string_view kSchemaVersionKey = "schema_version";
inline constexpr std::string_view kToolVersionKey = "tool_version";
inline constexpr std::string_view kClockBoundKey = "clock_bound_ns";

/// Whether `key` is one of the store's own.
bool is_store_key(std::string_view key);

/// The key under which an entry of Trace::meta is stored. It is the same key, unless that would
/// clash with one of the store's: those get "trace." in front, which `trace_key` takes away again.
std::string stored_key(std::string_view trace_key);

/// The inverse of `stored_key`.
std::string trace_key(std::string_view stored_key);

}  // namespace gprofml::profile::detail
