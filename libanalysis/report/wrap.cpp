#include "libanalysis/report/wrap.hpp"

#include <algorithm>

#include "libanalysis/report/printable.hpp"

namespace gprofml::analysis {
namespace {

/// Collects words into lines; knows the column it stands in.
class LineFiller {
 public:
  LineFiller(std::string_view first, std::size_t indent)
      : out_(first), indent_(indent), column_(display_width(first)) {}

  void add(std::string_view word) {
    const std::size_t width = display_width(word);
    const std::size_t blank = line_has_words_ ? 1 : 0;
    if (line_has_words_ && column_ + blank + width > kLineWidth) {
      break_line();
    } else if (blank != 0) {
      put(" ");
    }
    while (column_ + display_width(word) > kLineWidth) word = put_what_fits(word);
    put(word);
    line_has_words_ = true;
  }

  std::string finish() && { return std::move(out_ += '\n'); }

 private:
  void put(std::string_view text) {
    out_ += text;
    column_ += display_width(text);
  }

  void break_line() {
    out_ += '\n';
    out_.append(indent_, ' ');
    column_ = indent_;
    line_has_words_ = false;
  }

  std::string_view put_what_fits(std::string_view word) {
    std::size_t bytes = 0;
    for (std::size_t columns = kLineWidth - column_; columns > 0; --columns) {
      do {
        ++bytes;
      } while (bytes < word.size() && (static_cast<unsigned char>(word[bytes]) & 0xC0U) == 0x80U);
    }
    put(word.substr(0, bytes));
    break_line();
    return word.substr(bytes);
  }

  std::string out_;
  std::size_t indent_;
  std::size_t column_;
  bool line_has_words_ = false;
};

}  // namespace

std::string wrap(std::string_view text, std::string_view first, std::size_t indent) {
  LineFiller filler(first, indent);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) filler.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::string out = std::move(filler).finish();
  std::replace(out.begin(), out.end(), kGlue, ' ');
  return out;
}

}  // namespace gprofml::analysis
