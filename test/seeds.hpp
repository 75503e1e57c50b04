#pragma once

#include <algorithm>
#include <cstdlib>

namespace gprofml::test {

/// How many seeds a statistical test runs: `full` under scripts/validate.sh (which sets
/// GPROFML_VALIDATE), else 5 % of them, at least one, so that scripts/test.sh stays short.
inline int seed_count(int full) {
  const char* validate = std::getenv("GPROFML_VALIDATE");
  const bool all = validate != nullptr && *validate != '\0' && *validate != '0';
  return all ? full : std::max(1, full / 20);
}

}  // namespace gprofml::test
