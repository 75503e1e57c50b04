// Text as a JSON string, for the small results that need no JSON library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gprofml::app {

/// `text` in quotes. Bytes that are no UTF-8 become U+FFFD, control characters what
/// analysis::printable makes of them.
std::string json_text(std::string_view text);

/// ["a", "b"].
std::string json_list(const std::vector<std::string>& texts);

}  // namespace gprofml::app
