#include <catch2/catch.hpp>

#include "libanalysis/report/text.hpp"

namespace gprofml::test {
namespace {

using namespace analysis;  // NOLINT: a test of these names alone

std::string section(const Report& report, const std::string& label) {
  const std::string text = render_text(report, {});
  const std::size_t at = text.find("\n" + label);
  if (at == std::string::npos) return {};
  std::size_t end = text.find('\n', at + 1);
  while (end + 1 < text.size() && text[end + 1] == ' ') end = text.find('\n', end + 1);
  return text.substr(at + 1, end - at);
}

TEST_CASE("requests as people read them") {
  Report report;
  Serving& serving = report.serving;
  serving.requests = 26;
  serving.judged = 24;
  serving.left_out = {{"not wholly in the window", 2}};
  serving.tokens = 2400;
  serving.span_ns = 2'000'000'000;
  serving.ttft = DurationQuantiles{24, 12'300'000, 18'100'000, 19'200'000};
  serving.tpot = DurationQuantiles{24, 9'620'000, 9'910'000, 11'400'000};
  serving.latency = DurationQuantiles{24, 972'000'000, 990'000'000, 999'000'000};
  CHECK(section(report, "serving") ==
        "serving 24 requests: TTFT median 12.30 ms, p95 18.10 ms, p99 19.20 ms; TPOT\n"
        "        median 9.62 ms, p95 9.91 ms, p99 11.40 ms\n"
        "        latency median 972.0 ms, p95 990.0 ms, p99 999.0 ms; 2,400 tokens in\n"
        "        2.0 s, 1200.0 tokens/s\n"
        "        left out: 2 not wholly in the window\n");
}

TEST_CASE("of few requests no percentiles, and doubts in words") {
  Report report;
  Serving& serving = report.serving;
  serving.requests = serving.judged = 1;
  serving.ttft = serving.latency = DurationQuantiles{1, 850, 850, 850};
  serving.ttft_by_prefill = 1;
  serving.ended_before_gpu = 1;
  CHECK(section(report, "serving") ==
        "serving 1 request: TTFT median 850 ns\n"
        "        latency median 850 ns\n"
        "        TTFT of 1 request is the end of its prefill: no range token in it\n"
        "        1 of the ranges ends before the GPU work launched in it: these are times\n"
        "        of the host\n");
}

TEST_CASE("what the program printed") {
  Report report;
  report.metrics = {{"tok_s", "x", 3, 20.5, 10, 30}};
  CHECK(section(report, "metric") ==
        "metric  tok_s 20.5, the last of 3 that the program printed, 10 to 30\n");
  report.metrics = {{"tok_s", "x", 1, 20.5, 20.5, 20.5}};
  CHECK(section(report, "metric") == "metric  tok_s 20.5, as the program printed it\n");
  report.metrics[0].value.reset();
  report.metrics[0].pattern = "([0-9]+) tok";
  CHECK(section(report, "metric") ==
        "metric  tok_s not found in the program's output (([0-9]+) tok)\n");
}

TEST_CASE("without requests and metrics neither has a line") {
  CHECK(section({}, "serving").empty());
  CHECK(section({}, "metric").empty());
}

}  // namespace
}  // namespace gprofml::test
