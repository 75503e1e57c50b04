#include "apps/gprof-ml/json_text.hpp"

#include "libanalysis/report/printable.hpp"

namespace gprofml::app {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : analysis::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + json_text(text);
  return out + "]";
}

}  // namespace gprofml::app
