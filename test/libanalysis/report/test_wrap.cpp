#include <catch2/catch.hpp>
#include <sstream>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("short text is one line with its first words") {
  CHECK(wrap("one two", "data    ", 8) == "data    one two\n");
}

TEST_CASE("a line holds 80 columns and not 81") {
  const std::string forty(40, 'a');
  const std::string thirty_nine(39, 'b');
  CHECK(lines_of(wrap(forty + " " + thirty_nine, "", 2)).size() == 1);
  const std::vector<std::string> two = lines_of(wrap(forty + " " + thirty_nine + "b", "", 2));
  REQUIRE(two.size() == 2);
  CHECK(two[1] == "  " + thirty_nine + "b");
}

TEST_CASE("glue keeps a number with its unit") {
  std::string text(75, 'x');
  text.append(" 61.4").append(1, kGlue).append("s");
  const std::vector<std::string> lines = lines_of(wrap(text, "", 0));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "61.4 s");
}

TEST_CASE("a word longer than a line is cut between code points") {
  std::string word;
  for (int i = 0; i < 100; ++i) word += "ä";
  const std::vector<std::string> lines = lines_of(wrap(word, "data    ", 8));
  REQUIRE(lines.size() == 2);
  CHECK(display_width(lines[0]) == 80);
  CHECK(display_width(lines[1]) == 8 + 28);
  CHECK(printable(lines[0]) == lines[0]);
}

}  // namespace
}  // namespace gprofml::analysis
