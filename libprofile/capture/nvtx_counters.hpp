// NVTX counters: what was registered, and its samples as rows of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libprofile/capture/nvtx_payload.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Collects the counter samples of one process, row 0 of the trace. A group of counters becomes a
/// metric for each number in its layout, "GROUP.NUMBER"; a metric of a domain other than the
/// default one is called "DOMAIN/NAME", since two domains may have counters of one name.
class NvtxCounters {
 public:
  NvtxCounters(Trace& trace, const PayloadLayouts& layouts) : trace_(trace), layouts_(layouts) {}

  struct Description {
    std::uint64_t schema = 0;
    std::uint64_t flags = 0;  ///< NVTX_COUNTER_FLAG_*
    std::string name;         ///< with its domain
    std::string description;
    std::string unit;
  };
  void describe(std::uint32_t domain, std::uint64_t id, Description description);

  /// `data` is what stands behind the record. Returns the values that could not be read.
  std::int64_t sample(const spool::CounterSample& record, std::string_view data);

 private:
  struct Metric {
    RowIndex row;
    double last;
    bool has_last;
  };
  using Id = std::pair<std::uint32_t, std::uint64_t>;  // domain and number

  const Description& described(const Id& id);
  Metric& metric(const Id& id, const std::string& part, const PayloadField* field);
  bool add(Metric& metric, Nanoseconds time_ns, double value);
  std::int64_t no_value(const Id& id, const spool::CounterSample& record);
  std::int64_t add_bytes(const Id& id, const spool::CounterSample& record, std::string_view data);

  Trace& trace_;
  const PayloadLayouts& layouts_;
  std::map<Id, Description> descriptions_;
  std::map<Id, std::map<std::string, Metric>> metrics_;  // by part of a group, "" for the whole
  std::vector<PayloadValue> values_;                     // of one sample
};

}  // namespace gprofml::profile
