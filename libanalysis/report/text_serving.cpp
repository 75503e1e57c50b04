// Serving and metrics: what the requests took, and what the program said of itself.
#include <fmt/format.h>

#include <cmath>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/text_sections.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis::detail {
namespace {

constexpr std::int64_t kFewestForPercentiles = 5;
constexpr std::size_t kIndent = 8;  // below "serving ", "metric  "

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{}{}{}", count_text(count), kGlue, count == 1 ? one : many);
}

std::string quantiles_text(const char* what, const DurationQuantiles& quantiles) {
  std::string text = fmt::format("{} median {}", what, duration_text(quantiles.median_ns));
  if (quantiles.count > kFewestForPercentiles) {
    text += fmt::format(", p95 {}, p99 {}", duration_text(quantiles.p95_ns),
                        duration_text(quantiles.p99_ns));
  }
  return text;
}

/// In tenths; exact, since a double would do for counts alone.
std::string tokens_a_second(const Serving& serving) {
  const double tenths =
      1e10 * static_cast<double>(serving.tokens) / static_cast<double>(serving.span_ns);
  return fmt::format("{}{}tokens/s", fixed(std::llround(tenths), 1), kGlue);
}

std::string line(const std::string& text) {
  return wrap(text, std::string(kIndent, ' '), kIndent);
}

std::string doubts(const Serving& serving) {
  std::string out;
  std::string left_out;
  for (const RequestsLeftOut& part : serving.left_out) {
    left_out +=
        fmt::format("{}{} {}", left_out.empty() ? "" : "; ", count_text(part.count), part.why);
  }
  if (!left_out.empty()) out += line("left out: " + left_out);
  if (serving.ttft_by_prefill > 0) {
    out += line(fmt::format("TTFT of {} is the end of its prefill: no range {} in it",
                            counted(serving.ttft_by_prefill, "request", "requests"),
                            printable(serving.names.token)));
  }
  if (serving.ended_before_gpu > 0) {
    out += line(
        fmt::format("{} before the GPU work launched in {}: these are times of the host",
                    counted(serving.ended_before_gpu, "of the ranges ends", "of the ranges end"),
                    serving.ended_before_gpu == 1 ? "it" : "them"));
  }
  return out;
}

std::string number_text(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace

std::string serving_section(const Report& report) {
  const Serving& serving = report.serving;
  if (serving.requests == 0) return "";
  std::string text = counted(serving.judged, "request", "requests");
  if (serving.ttft) text += ": " + quantiles_text("TTFT", *serving.ttft);
  if (serving.tpot) text += "; " + quantiles_text("TPOT", *serving.tpot);
  std::string out = wrap(text, "serving ", kIndent);
  if (serving.latency) {
    text = quantiles_text("latency", *serving.latency);
    if (serving.tokens > 0 && serving.span_ns > 0) {
      text += fmt::format("; {} in {}, {}", counted(serving.tokens, "token", "tokens"),
                          duration_text(serving.span_ns), tokens_a_second(serving));
    }
    out += line(text);
  }
  return out + doubts(serving);
}

std::string metric_section(const Report& report) {
  std::string out;
  for (const ProgramMetric& metric : report.metrics) {
    std::string text = printable(metric.name) + " ";
    if (!metric.value) {
      text += fmt::format("not found in the program's output ({})",
                          shorten_middle(printable(metric.pattern), 40));
    } else if (metric.count == 1) {
      text += number_text(*metric.value) + ", as the program printed it";
    } else {
      text += fmt::format("{}, the last of {} that the program printed, {} to {}",
                          number_text(*metric.value), count_text(metric.count),
                          number_text(metric.min), number_text(metric.max));
    }
    out += wrap(text, "metric  ", kIndent);
  }
  return out;
}

}  // namespace gprofml::analysis::detail
