#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "libprofile/import/json_scanner.hpp"

using gprofml::profile::JsonScanner;

namespace {

/// All commas between elements, one byte at a time, and the closing bracket last.
std::vector<std::size_t> boundaries_by_hand(const std::string& text, bool& closed) {
  std::vector<std::size_t> found;
  int depth = 0;
  bool in_string = false, escaped = false;
  closed = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\n')
        in_string = escaped = false;
      else if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ',' && depth == 0) found.push_back(i);
    if ((c == ']' || c == '}') && --depth < 0) {
      found.push_back(i);
      closed = true;
      break;
    }
  }
  return found;
}

std::string random_text(std::mt19937& random, std::size_t size) {
  // Mostly harmless bytes, so that strings and depths grow beyond a block.
  static const std::string kBytes = "{}[]\"\\,\n:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  std::string text;
  const std::size_t kinds = random() % 2 ? kBytes.size() : 12;
  for (std::size_t i = 0; i < size; ++i) text += kBytes[random() % kinds];
  return text;
}

}  // namespace

TEST_CASE("boundaries are the commas between elements and the closing bracket") {
  const std::string text = R"({"a": [1, 2], "b": "x, ] \", ["} , [3,4], "s,]", 5 ] , 6)";
  JsonScanner scanner;
  const auto found = scanner.scan(text);
  CHECK(found.array_end == text.rfind(']'));
  CHECK(found.last_comma == text.find(", 5"));
  JsonScanner stepper;
  CHECK(stepper.next_boundary(text) == text.find(" , [3") + 1);
}

TEST_CASE("a string that lost its quote ends with its line") {
  const std::string text = "{\"name\": \"lost, },\n \"b\": 1},\n {\"c\": 2}, ";
  JsonScanner scanner;
  CHECK(scanner.scan(text).last_comma == text.rfind(','));
}

TEST_CASE("any bytes cut into any pieces: the scan agrees with a byte-wise one") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text = random_text(random, random() % 700);
    if (seed % 3 == 0) text = std::string(random() % 20, '[') + text;  // deep enough to skip blocks
    bool closed = false;
    const std::vector<std::size_t> expected = boundaries_by_hand(text, closed);
    JsonScanner scanner;
    std::size_t last_comma = JsonScanner::kNone, array_end = JsonScanner::kNone;
    for (std::size_t at = 0; at < text.size() && array_end == JsonScanner::kNone;) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 200, text.size() - at);
      const auto found = scanner.scan(std::string_view(text).substr(at, size));
      if (found.last_comma != JsonScanner::kNone) last_comma = at + found.last_comma;
      if (found.array_end != JsonScanner::kNone) array_end = at + found.array_end;
      at += size;
    }
    INFO("seed " << seed << " text " << text);
    REQUIRE((array_end != JsonScanner::kNone) == closed);
    std::vector<std::size_t> commas = expected;
    if (closed) {
      REQUIRE(array_end == expected.back());
      commas.pop_back();
    }
    REQUIRE(last_comma == (commas.empty() ? JsonScanner::kNone : commas.back()));

    JsonScanner stepper;
    std::size_t from = 0;
    for (const std::size_t boundary : expected) {
      REQUIRE(from + stepper.next_boundary(std::string_view(text).substr(from)) == boundary);
      from = boundary + 1;
    }
  }
}
