#include "libprofile/capture/nvtx_counters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace gprofml::profile {
namespace {

// nvToolsExtCounters.h, nvToolsExtSemanticsCounters.h
constexpr std::uint64_t kNoValueZero = 0;
constexpr std::uint64_t kNoValueUnchanged = 1;
constexpr std::uint64_t kDelta = 2;
constexpr std::uint64_t kDeltaSinceStart = 3;
constexpr std::uint64_t kNormalised = 1 << 1;

/// What the flags say that a reader of the values must know.
std::string with_meaning(std::string description, std::uint64_t flags) {
  const auto say = [&](const char* what) {
    if (!description.empty()) description += "; ";
    description += what;
  };
  const std::uint64_t value_type = flags >> 4 & 3;
  if (value_type == kDelta) say("each value is the change since the sample before");
  if (value_type == kDeltaSinceStart) say("each value is the change since the first sample");
  if ((flags & kNormalised) != 0) say("values are fixed point numbers, not normalised");
  return description;
}

}  // namespace

void NvtxCounters::describe(std::uint32_t domain, std::uint64_t id, Description description) {
  description.description = with_meaning(std::move(description.description), description.flags);
  descriptions_[{domain, id}] = std::move(description);
  metrics_.erase({domain, id});
}

const NvtxCounters::Description& NvtxCounters::described(const Id& id) {
  const auto [found, is_new] = descriptions_.try_emplace(id);
  // Sampled, never registered.
  if (is_new) found->second.name = fmt::format("counter {}", id.second);
  return found->second;
}

NvtxCounters::Metric& NvtxCounters::metric(const Id& id, const std::string& part,
                                           const PayloadField* field) {
  std::map<std::string, Metric>& of_counter = metrics_[id];
  const auto found = of_counter.find(part);
  if (found != of_counter.end()) return found->second;
  const Description& counter = described(id);
  CounterMetric made;
  made.name = trace_.intern(part.empty() ? counter.name : fmt::format("{}.{}", counter.name, part));
  const bool has_unit = field != nullptr && !field->unit.empty();
  const bool has_description = field != nullptr && !field->description.empty();
  made.unit = trace_.intern(has_unit ? field->unit : counter.unit);
  made.description = trace_.intern(has_description ? field->description : counter.description);
  trace_.counter_metrics.push_back(made);
  const auto row = static_cast<RowIndex>(trace_.counter_metrics.size() - 1);
  return of_counter.emplace(part, Metric{row, 0, false}).first->second;
}

bool NvtxCounters::add(Metric& metric, Nanoseconds time_ns, double value) {
  if (std::isnan(value)) return false;  // a database has no such number
  CounterSampleColumns& samples = trace_.counter_samples;
  samples.time_ns.push_back(time_ns);
  samples.metric.push_back(metric.row);
  samples.device.push_back(kNoRow);
  samples.process.push_back(0);
  samples.value.push_back(value);
  metric.last = value;
  metric.has_last = true;
  return true;
}

std::int64_t NvtxCounters::no_value(const Id& id, const spool::CounterSample& record) {
  auto& known = metrics_[id];
  if (known.empty() && record.value == kNoValueZero) metric(id, "", nullptr);
  for (auto& [part, metric] : known) {
    if (record.value == kNoValueZero) {
      add(metric, record.time_ns, 0);
    } else if (record.value == kNoValueUnchanged && metric.has_last) {
      add(metric, record.time_ns, metric.last);
    }
  }
  return 0;
}

std::int64_t NvtxCounters::add_bytes(const Id& id, const spool::CounterSample& record,
                                     std::string_view data) {
  values_.clear();
  std::int64_t failed = layouts_.decode(id.first, described(id).schema, data, true, values_);
  Nanoseconds time_ns = record.time_ns;
  for (const PayloadValue& value : values_) {
    if (value.role == PayloadRole::time && value.integer) time_ns = *value.integer;
  }
  for (const PayloadValue& value : values_) {
    if (value.role == PayloadRole::time || !value.number) continue;
    const std::string part = value.field == nullptr ? std::string() : value.key;
    if (!add(metric(id, part, value.field), time_ns, *value.number)) ++failed;
  }
  return failed;
}

std::int64_t NvtxCounters::sample(const spool::CounterSample& record, std::string_view data) {
  const Id id{record.domain, record.counter};
  switch (record.form) {
    case spool::SampleForm::int64:
      add(metric(id, "", nullptr), record.time_ns,
          static_cast<double>(static_cast<std::int64_t>(record.value)));
      return 0;
    case spool::SampleForm::float64: {
      double value;
      std::memcpy(&value, &record.value, sizeof value);
      return add(metric(id, "", nullptr), record.time_ns, value) ? 0 : 1;
    }
    case spool::SampleForm::bytes:
      return add_bytes(id, record, data);
    case spool::SampleForm::no_value:
      return no_value(id, record);
  }
  return 1;
}

}  // namespace gprofml::profile
