// What a server's requests took: time to first token, time per output token, and their percentiles,
// from the ranges that the program sets around requests, prefill and tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::analysis {

/// The names of the ranges. A range has a name when it is that name or that name and a number:
/// "request", "request 17", "request#17", "request_17", "request:17", "request/17".
struct ServingNames {
  std::string request = "request";
  std::string prefill = "prefill";
  std::string token = "token";
};

/// Durations in ns, over `count` of them.
struct DurationQuantiles {
  std::int64_t count = 0;
  profile::Nanoseconds median_ns = 0;
  profile::Nanoseconds p95_ns = 0;
  profile::Nanoseconds p99_ns = 0;
  bool operator==(const DurationQuantiles&) const = default;
};

struct RequestsLeftOut {
  std::string why;
  std::int64_t count = 0;
  bool operator==(const RequestsLeftOut&) const = default;
};

/// All times are between ends of ranges, thus times of the host.
struct Serving {
  ServingNames names;
  std::int64_t requests = 0;              ///< request ranges in the trace
  std::int64_t judged = 0;                ///< requests - the sum of `left_out`
  std::vector<RequestsLeftOut> left_out;  ///< by count, descending, then by reason
  std::int64_t tokens = 0;                ///< token ranges of the judged requests
  /// From the start of the first judged request to the end of the last, as far as recorded.
  profile::Nanoseconds span_ns = 0;
  std::optional<DurationQuantiles> latency;
  /// From a request's start to the end of its first token; without token ranges in it, to the end
  /// of its prefill.
  std::optional<DurationQuantiles> ttft;
  /// Time between the ends of a request's first token and of its last, an output token behind the
  /// first; rounded to the nearest ns. Of requests of at least two tokens.
  std::optional<DurationQuantiles> tpot;
  std::int64_t ttft_by_prefill = 0;  ///< of the judged, those whose TTFT is the end of a prefill
  /// Token or prefill ranges of the judged requests that end before GPU work launched in them: then
  /// the times say when the host went on, not when a token was there.
  std::int64_t ended_before_gpu = 0;
  std::int64_t ambiguous = 0;  ///< token and prefill ranges that lie in several requests
};

}  // namespace gprofml::analysis
