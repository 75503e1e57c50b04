#include "libprofile/capture/output_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/output_forwarder.hpp"

namespace gprofml::profile {
namespace {

// std::regex recurses with the length of what it looks at.
constexpr std::size_t kLongestPiece = 4096;
constexpr std::string_view kPrefix = "metric.";
constexpr std::string_view kPatternSuffix = ".pattern";

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

std::regex compiled(const MetricPattern& pattern) {
  try {
    return std::regex(pattern.pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    throw CaptureError(fmt::format("--metric: \"{}\" is no regular expression (ECMAScript): {}",
                                   pattern.pattern, error.what()));
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "12,345,678.9" → "12345678.9"; text that has its commas elsewhere stays as it is.
std::string without_thousands(std::string_view text) {
  const std::size_t whole = std::min(text.find_first_of(".eE"), text.size());
  std::string out;
  std::size_t since_comma = 0;
  bool any = false;
  for (std::size_t i = 0; i < whole; ++i) {
    if (text[i] == ',') {
      if (any ? since_comma != 3 : since_comma == 0 || since_comma > 3) return std::string(text);
      any = true;
      since_comma = 0;
    } else {
      if (is_digit(text[i])) ++since_comma;
      out += text[i];
    }
  }
  if (any && since_comma != 3) return std::string(text);
  return out + std::string(text.substr(whole));
}

using Take = std::function<void(std::string_view)>;

constexpr std::size_t kReadBytes = 1 << 20;

void read_part(std::ifstream& file, std::uint64_t from, std::uint64_t bytes, const Take& take) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(from));
  std::string buffer(kReadBytes, '\0');
  while (bytes > 0 && file) {
    file.read(buffer.data(),
              static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, kReadBytes)));
    const auto got = static_cast<std::uint64_t>(file.gcount());
    if (got == 0) return;
    take(std::string_view(buffer.data(), got));
    bytes -= got;
  }
}

/// The ring, oldest byte first.
void read_kept(const std::string& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  KeptOutputHeader header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || header.ring == 0) return;
  const std::uint64_t seam = header.total % header.ring;
  const bool is_full = header.total > header.ring;
  if (is_full) read_part(file, sizeof header + seam, header.ring - seam, take);
  read_part(file, sizeof header, is_full ? seam : header.total, take);
}

/// The end of a regular file that the program wrote to.
void read_place(const std::string& path, const Take& take) {
  std::ifstream place(path, std::ios::binary);
  std::uint64_t offset = 0;
  std::string output;
  if (!(place >> offset) || place.get() != '\n' || !std::getline(place, output, '\0')) return;
  std::ifstream file(output, std::ios::binary | std::ios::ate);
  if (!file) return;
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  if (size <= offset) return;
  const std::uint64_t from = size - std::min(size - offset, kKeptOutputBytes);
  read_part(file, from, size - from, take);
}

void put(std::map<std::string, std::string>& meta, const std::string& stem,
         const MetricFigures& figures) {
  meta[stem + ".count"] = std::to_string(figures.count);
  if (figures.not_numbers > 0) meta[stem + ".not_numbers"] = std::to_string(figures.not_numbers);
  if (figures.count == 0) return;
  meta[stem] = fmt::format("{}", figures.last);
  meta[stem + ".min"] = fmt::format("{}", figures.min);
  meta[stem + ".max"] = fmt::format("{}", figures.max);
}

}  // namespace

MetricPattern metric_pattern(const std::string& text) {
  const std::size_t equals = text.find('=');
  MetricPattern pattern;
  pattern.name = text.substr(0, equals);
  if (equals != std::string::npos) pattern.pattern = text.substr(equals + 1);
  if (!is_name(pattern.name) || pattern.pattern.empty()) {
    throw CaptureError(
        fmt::format("--metric: \"{}\" is not NAME=REGEX, such as 'tok_s=([0-9.]+) tok/s'", text));
  }
  (void)compiled(pattern);
  return pattern;
}

std::string required_text(std::string_view pattern) {
  std::string longest;
  std::string run;
  const auto end_run = [&] {
    if (run.size() > longest.size()) longest = run;
    run.clear();
  };
  int depth = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    bool is_plain = depth == 0;
    if (c == '\\') {
      if (++i == pattern.size()) return {};
      c = pattern[i];
      // Letters and digits behind a backslash are classes, references, characters by number.
      is_plain = is_plain && std::ispunct(static_cast<unsigned char>(c)) != 0;
      if (c == 'c' || c == 'x' || c == 'u') return {};
    } else if (c == '[') {
      ++i;
      if (i < pattern.size() && pattern[i] == '^') ++i;
      if (i < pattern.size() && pattern[i] == ']') return {};  // dialects differ
      for (; i < pattern.size() && pattern[i] != ']'; ++i) {
        if (pattern[i] == '\\') ++i;
        if (i < pattern.size() && pattern[i] == '[') return {};  // [[:digit:]]
      }
      is_plain = false;
    } else if (c == '(') {
      ++depth;
      is_plain = false;
    } else if (c == ')') {
      --depth;
      is_plain = false;
    } else if (c == '|' && depth == 0) {
      return {};
    } else if (c == '?' || c == '*' || c == '{') {
      if (!run.empty()) run.pop_back();  // perhaps none of it
      end_run();
      while (c == '{' && i < pattern.size() && pattern[i] != '}') ++i;
      continue;
    } else if (c == '+' || c == '.' || c == '^' || c == '$') {
      is_plain = false;
    }
    if (is_plain) {
      run += c;
    } else {
      end_run();
    }
  }
  end_run();
  return longest;
}

std::optional<double> printed_number(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const std::string digits = without_thousands(text);
  double number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

MetricReader::MetricReader(const MetricPattern& pattern)
    : regex_(compiled(pattern)), required_(required_text(pattern.pattern)) {}

void MetricReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view within = bytes.substr(0, kLongestPiece - line_.size());
    // Neither search goes beyond what is taken, else a long line would be looked at for each piece.
    const std::size_t feed = std::min(within.find('\n'), within.size());
    const std::size_t taken = std::min(within.substr(0, feed).find('\r'), feed);
    line_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (taken < within.size()) {
      end();
      bytes.remove_prefix(1);
    } else if (line_.size() == kLongestPiece) {
      end();
    }
  }
}

void MetricReader::end() {
  if (!line_.empty()) search(line_);
  line_.clear();
}

void MetricReader::search(std::string_view line) {
  if (line.find(required_) == std::string_view::npos) return;
  const std::cregex_iterator none;
  std::cregex_iterator match;
  try {
    match = std::cregex_iterator(line.data(), line.data() + line.size(), regex_);
    for (; match != none; ++match) {
      const auto& group = (*match)[match->size() > 1 ? 1 : 0];
      const auto number =
          printed_number(std::string_view(group.first, static_cast<std::size_t>(group.length())));
      if (!number) {
        ++figures_.not_numbers;
        continue;
      }
      figures_.min = figures_.count == 0 ? *number : std::min(figures_.min, *number);
      figures_.max = figures_.count == 0 ? *number : std::max(figures_.max, *number);
      figures_.last = *number;
      ++figures_.count;
    }
  } catch (const std::regex_error&) {
    // too complex for this line: it has no match
  }
}

std::map<std::string, std::string> metric_request(const std::vector<MetricPattern>& patterns) {
  std::map<std::string, std::string> meta;
  for (const MetricPattern& pattern : patterns) {
    meta[std::string(kPrefix) + pattern.name + std::string(kPatternSuffix)] = pattern.pattern;
  }
  return meta;
}

std::map<std::string, std::string> metrics_of_output(const std::string& folder,
                                                     const std::map<std::string, std::string>& meta,
                                                     const std::function<void()>& check) {
  std::map<std::string, std::string> found;
  for (const auto& [key, pattern] : meta) {
    const std::string_view text = key;
    if (text.substr(0, kPrefix.size()) != kPrefix || text.size() <= kPatternSuffix.size() ||
        text.substr(text.size() - kPatternSuffix.size()) != kPatternSuffix) {
      continue;
    }
    const std::string stem = key.substr(0, key.size() - kPatternSuffix.size());
    MetricReader reader({stem, pattern});
    const Take take = [&](std::string_view bytes) {
      if (check) check();
      reader.add(bytes);
    };
    for (const char* const name : {"stderr", "stdout"}) {
      if (folder.empty()) break;
      read_kept(folder + "/" + name + kOutputSuffix, take);
      read_place(folder + "/" + name + kOutputPlaceSuffix, take);
      reader.end();
    }
    put(found, stem, reader.figures());
  }
  return found;
}

}  // namespace gprofml::profile
