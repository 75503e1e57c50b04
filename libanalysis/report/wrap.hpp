// Running text in lines of at most 80 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gprofml::analysis {

inline constexpr std::size_t kLineWidth = 80;

/// A blank at which no line ends; `wrap` prints it as a blank. Never in `printable` text.
inline constexpr char kGlue = '\x1f';

/// `text` (valid UTF-8) word by word in lines of at most kLineWidth columns, each with a line end.
/// The first line starts with `first`, the others with `indent` blanks. A word longer than a line
/// is cut where the line ends.
std::string wrap(std::string_view text, std::string_view first, std::size_t indent);

}  // namespace gprofml::analysis
