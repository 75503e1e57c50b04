// Cuts a trace file into windows of whole events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/import/byte_source.hpp"
#include "libprofile/import/header_reader.hpp"
#include "libprofile/import/json_scanner.hpp"

namespace gprofml::profile {

/// A run of whole elements of the array of events, made into an array of its own:
///
///     bytes   [ e e e e e ] . . . padding . . .
///             ^           ^
///             0           size - 1
///
/// Byte i of `bytes` is byte `offset + i - 1` of the (inflated) file.
struct Window {
  std::vector<char> bytes;
  std::size_t size = 0;      ///< of the JSON text, both brackets included
  std::uint64_t offset = 0;  ///< of the first element's bytes in the inflated file
  bool cut_off = false;      ///< the file ended here: the last element may be incomplete

  std::string_view json() const { return {bytes.data(), size}; }
};

/// An element larger than this is not an event: the file is refused.
inline constexpr std::size_t kMaxEventBytes = std::size_t{32} << 20;

/// Reads a file in windows of about `window_bytes`; an element that does not fit makes its window
/// grow, up to kMaxEventBytes. What follows the last whole element is carried over, so a window is
/// scanned once and memory does not depend on the file's size. Used by one thread at a time.
///
/// Throws ImportError for what is no trace. A file that ends early is told by `cut_off`.
class WindowReader {
 public:
  WindowReader(const std::string& path, std::size_t window_bytes);

  /// The next window; its buffer is reused. False: there are no more.
  bool next(Window& window);

  /// After the last window: complete.
  const HeaderReader& header() const { return header_; }
  /// After the last window: why the file ended early; empty: it did not.
  const std::string& cut_off() const { return cut_off_; }
  /// Size of the (inflated) file where it is known beforehand, else 0.
  std::uint64_t expected_size() const { return source_.expected_size(); }
  /// "byte 12" or "byte 12 of the inflated data".
  std::string place(std::uint64_t byte) const;

 private:
  bool read_header();
  bool fill(Window& window);
  void grow(Window& window, std::size_t wanted) const;
  void end_of_file();
  void end_inside_events();

  std::string path_;
  std::size_t window_bytes_;
  ByteSource source_;
  HeaderReader header_;
  JsonScanner scanner_;
  std::vector<char>
      rest_;  // bytes read but not consumed; in the events already scanned to scanned_
  std::size_t scanned_ = 0;
  bool in_events_ = false;
  bool done_ = false;
  std::string cut_off_;
};

}  // namespace gprofml::profile
