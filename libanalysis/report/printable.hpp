// Names from foreign files, made safe and measurable for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::analysis {

/// `text` as it may go to a terminal: control characters (escape sequences among them) become '?',
/// tabs and line ends a blank, bytes that are no UTF-8 U+FFFD. The result is valid UTF-8 on one
/// line.
std::string printable(std::string_view text);

/// Number of code points of valid UTF-8: the columns it takes, wide scripts aside.
std::size_t display_width(std::string_view text);

/// Pads valid UTF-8 with blanks on the right or left to `width` columns; longer text stays.
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);

/// At most `width` (≥ 8) columns of valid UTF-8: the middle of a longer text becomes "...".
std::string shorten_middle(std::string_view text, std::size_t width);

/// The same for a path of names joined by '/': its end, the innermost name, keeps most of the room.
std::string shorten_path(std::string_view path, std::size_t width);

/// Kernel names in at most `width` (≥ 24) columns each, in the same order: without "void", the
/// argument list and namespaces everybody knows; then shortened in the middle. Where two different
/// names would look the same, what stays of each is the place where they differ.
std::vector<std::string> short_kernel_names(const std::vector<std::string>& names,
                                            std::size_t width);

}  // namespace gprofml::analysis
