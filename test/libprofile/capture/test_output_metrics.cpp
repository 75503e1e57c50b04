#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/output_forwarder.hpp"
#include "libprofile/capture/output_metrics.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

using profile::MetricFigures;
using profile::MetricReader;
using profile::printed_number;

MetricFigures figures(const std::vector<std::string>& pieces, const std::string& pattern) {
  MetricReader reader({"m", pattern});
  for (const std::string& piece : pieces) reader.add(piece);
  reader.end();
  return reader.figures();
}

TEST_CASE("numbers as programs print them") {
  CHECK(printed_number("12") == 12.0);
  CHECK(printed_number(" -0.5\t") == -0.5);
  CHECK(printed_number("+3e2") == 300.0);
  CHECK(printed_number("1,234,567.5") == 1234567.5);
  CHECK(printed_number("12,345") == 12345.0);
  for (const char* const none : {"", " ", "x", "1,23", "1234,567", ",123", "1,,234", "12 34", "nan",
                                 "inf", "1e999", "+-3", "0x10", "1,234,", "5%"}) {
    INFO(none);
    CHECK_FALSE(printed_number(none));
  }
}

TEST_CASE("a match is found wherever its line was cut on its way") {
  const std::string text = "speed 12.5 tok/s\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const MetricFigures found = figures({text.substr(0, cut), text.substr(cut)}, "([0-9.]+) tok/s");
    INFO(cut);
    CHECK(found.count == 1);
    CHECK(found.last == 12.5);
  }
}

TEST_CASE("carriage returns end lines, as progress bars use them") {
  const MetricFigures found =
      figures({"\r10%| 1.0it/s\r20%| 3.0it/s\r30%| 2.0it/s"}, "([0-9.]+)it/s$");
  CHECK(found.count == 3);
  CHECK(found.last == 2.0);
  CHECK(found.min == 1.0);
  CHECK(found.max == 3.0);
}

TEST_CASE("without a group the whole match is the number, and what is none is counted") {
  const MetricFigures found = figures({"a 1 b 2.5 c 3..4"}, "[0-9.]+");
  CHECK(found.count == 2);
  CHECK(found.last == 2.5);
  CHECK(found.not_numbers == 1);
}

TEST_CASE("a line without an end, of bytes of all kinds, takes no stack") {
  std::string line(3'000'000, 'x');
  for (std::size_t i = 0; i < line.size(); i += 7) line[i] = static_cast<char>(i % 256);
  line += "\n42 tok/s";
  const MetricFigures found = figures({line}, "(?:.*[^0-9])?([0-9]+) tok/s");
  CHECK(found.last == 42.0);
}

TEST_CASE("text that every match holds") {
  const std::map<std::string, std::string> wanted = {
      {"([0-9.]+) tok/s", " tok/s"},
      {"tok_s=(.*)", "tok_s="},
      {"a\\.b\\d+ tokens", " tokens"},
      {"abc|defg", ""},
      {"(abc|de) f", " f"},
      {"(long text)?x", "x"},
      {"abcd?e", "abc"},
      {"abcd*", "abc"},
      {"abc{0,3}de", "ab"},
      {"ab+c", "ab"},
      {"[^\\]]loss", "loss"},
      {"[[:digit:]]+ it", ""},
      {"x[]a-z]yz", ""},
      {"\\x41bc", ""},
      {"^speed: ", "speed: "},
      {"\\bloss\\b", "loss"},
      {"(?:a(b)c)+de", "de"},
  };
  for (const auto& [pattern, text] : wanted) {
    INFO(pattern);
    CHECK(profile::required_text(pattern) == text);
  }
}

TEST_CASE("bad metrics are refused with the reason") {
  for (const char* const bad : {"", "x", "=x", "x=", "a.b=x", "a b=x", "x=(", "x=[z-a]"}) {
    INFO(bad);
    CHECK_THROWS_AS(profile::metric_pattern(bad), profile::CaptureError);
  }
  CHECK(profile::metric_pattern("loss=loss=(.*)").pattern == "loss=(.*)");
}

TEST_CASE("of more output than is kept the end is read, oldest byte first") {
  const TemporaryFolder folder;
  int output[2];
  int result[2];
  int control[2];
  REQUIRE(pipe(output) == 0);
  REQUIRE(pipe(result) == 0);
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, control) == 0);
  const std::string text = "1 tok/s\n22 tok/s\n333 tok/s\n4444 tok/s\n";
  const std::string keep = "K" + (folder / "stdout.output");
  REQUIRE(send(control[0], keep.data(), keep.size(), 0) > 0);
  REQUIRE(write(output[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(output[1]);
  constexpr std::uint64_t kKept = 20;  // "3 tok/s\n4444 tok/s\n" and a byte before it
  profile::forward_output({output[0], result[1], control[1], false}, kKept);
  std::string handed_on(text.size(), '\0');
  CHECK(read(result[0], handed_on.data(), handed_on.size()) == static_cast<ssize_t>(text.size()));
  CHECK(handed_on == text);
  const auto meta =
      profile::metrics_of_output(folder.path(), profile::metric_request({{"m", "([0-9]+) tok/s"}}));
  CHECK(meta.at("metric.m") == "4444");
  CHECK(meta.at("metric.m.count") == "2");
  CHECK(meta.at("metric.m.min") == "33");
  for (const int end : {output[0], result[0], result[1], control[0], control[1]}) close(end);
}

}  // namespace
}  // namespace gprofml::test
