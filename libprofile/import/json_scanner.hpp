// Finds the commas between the elements of a JSON array without parsing the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gprofml::profile {

/// Scans the inside of a JSON array, piece by piece, aware of strings and depth. A boundary is a
/// comma between elements, or the bracket that closes the array. Brackets and braces count alike:
/// whether they match is the parser's business. A line break ends a string, for JSON allows none
/// inside: after a string that lost its quote the scan is in step again on the next line.
class JsonScanner {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Found {
    std::size_t last_comma = kNone;  ///< offset of the last comma between elements
    std::size_t array_end = kNone;   ///< offset of the bracket that closes the array
  };

  /// Scans all of `piece`, which follows the piece before; stops at the array's end.
  Found scan(std::string_view piece);

  /// Scans up to the first boundary in `piece` and returns its offset, kNone when there is none.
  std::size_t next_boundary(std::string_view piece);

  /// Open brackets at the current position; 0: between elements.
  std::int64_t depth() const { return depth_; }

 private:
  bool step(char c);
  void scan_bytes(std::string_view bytes, std::size_t offset, Found& found);
  void scan_block(const char* block, std::size_t offset, Found& found);

  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace gprofml::profile
