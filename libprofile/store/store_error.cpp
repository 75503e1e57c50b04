#include "libprofile/store/store_error.hpp"

#include <fmt/format.h>

namespace gprofml::profile::detail {
namespace {

std::string one_line(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

StoreError file_error(const std::string& file, std::string_view what) {
  return StoreError(one_line(fmt::format("{}: {}", file, what)));
}

StoreError table_error(const std::string& file, std::string_view table, std::string_view what) {
  return file_error(
      file, fmt::format("table `{}`: {}; write the file again from its source", table, what));
}

}  // namespace gprofml::profile::detail
