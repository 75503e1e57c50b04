// Payloads, counters, categories and what was registered, as the spool's records.
#include <cstring>

#include "injection/open_ranges.hpp"
#include "injection/registrations.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {
namespace {

std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

std::uint32_t text_id(RecordStream& stream, const RegisteredString* text) {
  return text == nullptr ? 0 : stream.string(text->text, text->bytes);
}

/// How far a spool has been told what was registered. Reset when a recording starts, by the stream
/// it belongs to.
struct Told {
  const RecordStream* stream = nullptr;
  const Registration* last = nullptr;
  const Registration* last_string = nullptr;
  bool strings_matter = false;  ///< some schema has handles of registered strings in it
};
Told told;

void write_schema(RecordStream& stream, const SchemaRegistration& schema) {
  // A schema and its strings may not share a chunk, so the entries are put together beforehand.
  static spool::PayloadEntry entries[kMostSchemaEntries];
  spool::PayloadSchema record = schema.record;
  record.domain = domain_id(stream, *schema.domain);
  record.name = text_id(stream, schema.name);
  for (std::uint32_t at = 0; at < record.entries; ++at) {
    const SchemaRegistration::Texts& texts = schema.texts[at];
    entries[at] = schema.entries[at];
    entries[at].name = text_id(stream, texts.name);
    entries[at].description = text_id(stream, texts.description);
    entries[at].unit = text_id(stream, texts.unit);
    if (record.type != spool::kEnumeration && entries[at].type == spool::kRegisteredStrings) {
      told.strings_matter = true;
    }
  }
  stream.add(spool::RecordKind::payload_schema, record, entries,
             record.entries * sizeof(spool::PayloadEntry));
}

void write_counter(RecordStream& stream, const CounterRegistration& counter) {
  spool::Counter record = counter.record;
  record.domain = domain_id(stream, *counter.domain);
  record.name = text_id(stream, counter.name);
  record.description = text_id(stream, counter.description);
  record.unit = text_id(stream, counter.unit);
  stream.add(spool::RecordKind::counter, record);
}

void write_handle(RecordStream& stream, const StringRegistration& string) {
  spool::PayloadSchema record{};
  record.id = spool::kRegisteredStrings;
  record.static_bytes = sizeof(void*);
  record.type = spool::kEnumeration;
  record.entries = 1;
  spool::PayloadEntry entry{};
  entry.type = reinterpret_cast<std::uintptr_t>(string.text);
  entry.name = text_id(stream, string.text);
  stream.add(spool::RecordKind::payload_schema, record, &entry, sizeof entry);
}

const Registration* next_of(const Registration* at) {
  return at->next.load(std::memory_order_acquire);
}

/// Most programs have registered strings and never a payload that names one.
void write_handles(RecordStream& stream) {
  while (const Registration* next = next_of(told.last_string)) {
    if (next->kind == Registration::Kind::string) {
      write_handle(stream, *static_cast<const StringRegistration*>(next));
    }
    told.last_string = next;
  }
}

void write_parts(RecordStream& stream, const unsigned char* at, std::size_t count,
                 spool::Payload record) {
  for (std::size_t part_number = 0; part_number < count; ++part_number) {
    PayloadPart part;
    std::memcpy(&part, at, sizeof part);
    at += sizeof part;
    record.schema = part.schema;
    record.data_bytes = part.bytes;
    record.whole_bytes = part.whole_bytes;
    const void* written = stream.add(spool::RecordKind::payload, record, at, part.bytes);
    OpenRanges* ranges = record.of == spool::PayloadOf::last_mark ? nullptr : stream.open_ranges();
    if (ranges != nullptr) ranges->payload(written, record.tid, record.domain, record.range);
    at += padded(part.bytes);
  }
}

}  // namespace

void write_registrations(RecordStream& stream) {
  if (told.stream != &stream) {
    told = {&stream, &before_registrations(), &before_registrations(), false};
  }
  while (const Registration* next = next_of(told.last)) {
    if (next->kind == Registration::Kind::schema) {
      write_schema(stream, *static_cast<const SchemaRegistration*>(next));
    } else if (next->kind == Registration::Kind::counter) {
      write_counter(stream, *static_cast<const CounterRegistration*>(next));
    }
    told.last = next;
  }
  if (told.strings_matter) write_handles(stream);
}

EventExtras extras_of(const NamedEvent& event, const unsigned char*& parts) {
  EventExtras extras{};
  if (event.header.has_extras == 0) return extras;
  const auto* behind =
      reinterpret_cast<const unsigned char*>(&event + 1) + padded(event.text_bytes);
  std::memcpy(&extras, behind, sizeof extras);
  parts = behind + sizeof extras;
  return extras;
}

void write_payloads(RecordStream& stream, const EventRing& ring, const NamedEvent& event,
                    const EventExtras& extras, const unsigned char* parts) {
  if (extras.parts == 0) return;
  write_registrations(stream);
  spool::Payload record{};
  record.of = event.header.kind == EventKind::start  ? spool::PayloadOf::started
              : event.header.kind == EventKind::mark ? spool::PayloadOf::last_mark
                                                     : spool::PayloadOf::open_push;
  record.range = event.range;
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  write_parts(stream, parts, extras.parts, record);
}

void write_payloads(RecordStream& stream, const EventRing& ring, const PayloadEvent& event) {
  EventExtras extras;
  const auto* behind = reinterpret_cast<const unsigned char*>(&event + 1);
  std::memcpy(&extras, behind, sizeof extras);
  write_registrations(stream);
  spool::Payload record{};
  record.of = event.range == 0 ? spool::PayloadOf::open_push : spool::PayloadOf::started;
  record.range = event.range;
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  write_parts(stream, behind + sizeof extras, extras.parts, record);
}

void write_category(RecordStream& stream, const CategoryNameEvent& event) {
  spool::Category record{};
  record.domain = domain_id(stream, *event.domain);
  record.id = event.category;
  record.name = stream.string(reinterpret_cast<const char*>(&event + 1), event.text_bytes);
  stream.add(spool::RecordKind::category, record);
}

void write_sample(RecordStream& stream, const EventRing& ring, const CounterSampleEvent& event) {
  write_registrations(stream);
  spool::CounterSample record{};
  record.time_ns = event.time_ns;
  record.counter = event.counter;
  record.value = event.value;
  record.form = static_cast<spool::SampleForm>(event.form);
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  record.data_bytes = event.bytes;
  stream.add(spool::RecordKind::counter_sample, record, &event + 1, event.bytes);
}

void write_nvtx_losses(Recorder& recorder) {
  const auto note = [&recorder](std::atomic<std::uint64_t>& counter, const char* code,
                                const char* detail) {
    const std::uint64_t count = counter.exchange(0, std::memory_order_relaxed);
    if (count > 0) recorder.stream.note(code, detail, count);
  };
  note(recorder.unknown_handles, "unknown_nvtx_handles",
       "handles passed to NVTX that it never gave: the default domain and no name in their place");
  note(recorder.payloads_cut, "payloads_cut",
       "NVTX payloads longer than 4 KiB, more than 16 at once or of unknown size: cut or left out");
  note(recorder.samples_lost, "counter_samples_lost",
       "samples of NVTX counters that came faster than they could be written, or whose layout or "
       "time is not known");
  note(
      recorder.registrations_lost, "nvtx_registrations_lost",
      "NVTX schemas, counters or strings beyond what the recorder keeps (8 MiB in all, 256 entries "
      "in a schema)");
}

}  // namespace gprofml::injection
