#include <catch2/catch.hpp>
#include <set>

#include "libprofile/store/meta_keys.hpp"

namespace gprofml::test {
namespace {

TEST_CASE("keys of a trace are stored apart from those of the store and come back") {
  std::set<std::string> stored;
  for (const std::string key :
       {"", "host", "trace.", "trace.host", "schema_version", "trace.schema_version",
        "trace.trace.schema_version", "tool_version", "clock_bound_ns", "schema_version2"}) {
    INFO(key);
    const std::string in_file = profile::detail::stored_key(key);
    CHECK_FALSE(profile::detail::is_store_key(in_file));
    CHECK(profile::detail::trace_key(in_file) == key);
    CHECK(stored.insert(in_file).second);
  }
  CHECK(profile::detail::stored_key("host") == "host");
  CHECK(profile::detail::stored_key("schema_version") == "trace.schema_version");
}

}  // namespace
}  // namespace gprofml::test
