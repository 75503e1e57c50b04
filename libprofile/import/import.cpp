#include "libprofile/import/import.hpp"

#include "libprofile/import/byte_source.hpp"
#include "libprofile/import/kineto_import.hpp"

namespace gprofml::profile {

bool is_importable(const std::string& path) {
  try {
    ByteSource source(path);
    char first[256];
    const std::string_view text(first, source.read(first, sizeof first));
    const std::size_t at = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
    return at != std::string_view::npos && (text[at] == '{' || text[at] == '[');
  } catch (const ImportError&) {
    return false;
  }
}

Trace import_file(const std::string& path, const ImportOptions& options) {
  return import_kineto(path, options);
}

}  // namespace gprofml::profile
