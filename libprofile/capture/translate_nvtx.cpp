// What the program said through NVTX: ranges, their payloads, categories, counters.
#include <cstring>
#include <utility>

#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {
namespace {

/// The colour behind a record, where it has one.
template <typename Record>
std::int64_t color_behind(const RecordView& view) {
  struct Colored {
    Record record;
    spool::RangeColor color;
  };
  const auto colored = view.as<Colored>();
  return colored ? std::int64_t{colored->color.argb} : kUnknown;
}

}  // namespace

NvtxRanges::Place ProcessTranslator::place_of(std::uint32_t tid, std::uint32_t domain) {
  return {thread_row(tid), domain, domain_name_of(domain)};
}

StringId ProcessTranslator::domain_name_of(std::uint32_t domain) {
  if (domain == 0) return 0;
  const StringId name = domains_.find(domain);
  if (name != kNoRow) return name;
  ++facts_.missing_names;
  return 0;
}

template <typename Record>
NvtxRanges::Beginning ProcessTranslator::beginning_of(const RecordView& view,
                                                      const Record& record) {
  saw(record.time_ns);
  return {name_of(record.name), record.time_ns, record.category, color_behind<Record>(view)};
}

void ProcessTranslator::take_push(const RecordView& view) {
  const auto record = view.as<spool::RangePush>();
  if (!record) {
    ++facts_.malformed_records;
    return;
  }
  const NvtxRanges::Place place = place_of(record->tid, record->domain);
  ranges_.push(place, beginning_of(view, *record));
}

void ProcessTranslator::take_mark(const RecordView& view) {
  const auto record = view.as<spool::Mark>();
  if (!record) {
    ++facts_.malformed_records;
    return;
  }
  const NvtxRanges::Place place = place_of(record->tid, record->domain);
  ranges_.mark(place, beginning_of(view, *record));
}

void ProcessTranslator::take(const spool::RangePop& record) {
  saw(record.time_ns);
  ranges_.pop(place_of(record.tid, record.domain), record.time_ns);
}

void ProcessTranslator::take_start(const RecordView& view) {
  const auto record = view.as<spool::RangeStart>();
  if (!record) {
    ++facts_.malformed_records;
    return;
  }
  const NvtxRanges::Place place = place_of(record->tid, record->domain);
  ranges_.start(place, record->id, beginning_of(view, *record));
}

void ProcessTranslator::take(const spool::RangeEnd& record) {
  saw(record.time_ns);
  ranges_.end(record.id, record.time_ns);
}

// --- what is said once -----------------------------------------------------------------------

void ProcessTranslator::take(const spool::Category& record) {
  ranges_.name_category(record.domain, record.id, name_of(record.name));
}

void ProcessTranslator::take_schema(const RecordView& view) {
  const auto record = view.as<spool::PayloadSchema>();
  const auto entries = record
                           ? view.text(sizeof(spool::PayloadSchema),
                                       std::size_t{record->entries} * sizeof(spool::PayloadEntry))
                           : std::nullopt;
  if (!entries) {
    ++facts_.malformed_records;
    return;
  }
  const auto text = [this](std::uint32_t string) {
    return std::string(trace_.text(name_of(string)));
  };
  PayloadLayout layout{
      record->static_bytes, record->type, record->pack_align, text(record->name), {}};
  layout.fields.reserve(record->entries);
  for (std::uint32_t at = 0; at < record->entries; ++at) {
    spool::PayloadEntry entry;
    std::memcpy(&entry, entries->data() + at * sizeof entry, sizeof entry);
    layout.fields.push_back({entry.flags, entry.type, entry.detail, entry.offset, text(entry.name),
                             text(entry.description), text(entry.unit)});
  }
  layouts_.set(record->domain, record->id, std::move(layout));
}

void ProcessTranslator::take(const spool::Counter& record) {
  const std::string domain(trace_.text(domain_name_of(record.domain)));
  const std::string name(trace_.text(name_of(record.name)));
  counters_.describe(record.domain, record.id,
                     {record.schema, record.flags, domain.empty() ? name : domain + "/" + name,
                      std::string(trace_.text(name_of(record.description))),
                      std::string(trace_.text(name_of(record.unit)))});
}

// --- values ----------------------------------------------------------------------------------

void ProcessTranslator::take_payload(const RecordView& view) {
  const auto record = view.as<spool::Payload>();
  const auto data = record ? view.text(sizeof(spool::Payload), record->data_bytes) : std::nullopt;
  if (!data) {
    ++facts_.malformed_records;
    return;
  }
  payload_values_.clear();
  facts_.undecoded_values +=
      layouts_.decode(record->domain, record->schema, *data, false, payload_values_);
  const NvtxRanges::Place place = place_of(record->tid, record->domain);
  for (const PayloadValue& value : payload_values_) {
    const NvtxRanges::Value added{trace_.intern(value.key), trace_.intern(value.text), value.role,
                                  value.integer.value_or(kUnknown)};
    bool has_range = true;
    switch (record->of) {
      case spool::PayloadOf::open_push:
        has_range = ranges_.add_to_push(place, added);
        break;
      case spool::PayloadOf::last_mark:
        has_range = ranges_.add_to_mark(added);
        break;
      case spool::PayloadOf::started:
        ranges_.add_to_started(record->range, added);
        break;
      default:
        has_range = false;
    }
    if (!has_range) ++facts_.undecoded_values;
  }
}

void ProcessTranslator::take_sample(const RecordView& view) {
  const auto record = view.as<spool::CounterSample>();
  const auto data =
      record ? view.text(sizeof(spool::CounterSample), record->data_bytes) : std::nullopt;
  if (!data) {
    ++facts_.malformed_records;
    return;
  }
  saw(record->time_ns);
  facts_.undecoded_values += counters_.sample(*record, *data);
}

}  // namespace gprofml::profile
