// Ring events as the spool's records.
#include <cstring>

#include "injection/open_ranges.hpp"
#include "injection/stack_records.hpp"
#include "injection/system.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {
namespace {

/// Which domains the spool knows. Reset when a recording starts, by the stream it belongs to.
struct KnownDomains {
  const RecordStream* stream = nullptr;
  bool known[kMostDomains] = {};
};
KnownDomains known_domains;

}  // namespace

std::uint32_t domain_id(RecordStream& stream, const Domain& domain) {
  if (known_domains.stream != &stream) {
    std::memset(known_domains.known, 0, sizeof known_domains.known);
    known_domains.stream = &stream;
  }
  if (domain.id != 0 && !known_domains.known[domain.id]) {
    known_domains.known[domain.id] = true;
    spool::Domain record{};
    record.id = domain.id;
    record.name = stream.string(domain.name, domain.name_bytes);
    stream.add(spool::RecordKind::domain, record);
  }
  return domain.id;
}

namespace {

std::uint32_t text_id(RecordStream& stream, const NamedEvent& event) {
  const auto* behind = reinterpret_cast<const char*>(&event + 1);
  if (event.header.text == TextKind::inline_text) return stream.string(behind, event.text_bytes);
  if (event.header.text == TextKind::none) return 0;
  const RegisteredString* registered;
  std::memcpy(&registered, behind, sizeof registered);
  return stream.string(registered->text, registered->bytes);
}

template <class Record>
Record opening(RecordStream& stream, const EventRing& ring, const NamedEvent& event) {
  Record record{};
  record.time_ns = event.time_ns;
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  record.name = text_id(stream, event);
  record.category = event.category;
  return record;
}

template <class Record>
const void* add_opening(RecordStream& stream, spool::RecordKind kind, const Record& record,
                        const EventExtras& extras) {
  if (extras.has_color == 0) return stream.add(kind, record);
  const spool::RangeColor color{extras.color, 0};
  return stream.add(kind, record, &color, sizeof color);
}

void write_named(RecordStream& stream, const EventRing& ring, const NamedEvent& event) {
  const unsigned char* parts = nullptr;
  const EventExtras extras = extras_of(event, parts);
  if (event.header.kind == EventKind::start) {
    auto record = opening<spool::RangeStart>(stream, ring, event);
    record.id = event.range;
    const void* written = add_opening(stream, spool::RecordKind::range_start, record, extras);
    if (OpenRanges* ranges = stream.open_ranges()) {
      ranges->open(written, ring.tid, record.domain, record.id);
    }
  } else {
    const auto record = opening<spool::RangePush>(stream, ring, event);
    const bool is_push = event.header.kind == EventKind::push;
    const void* written = add_opening(
        stream, is_push ? spool::RecordKind::range_push : spool::RecordKind::mark, record, extras);
    OpenRanges* ranges = is_push ? stream.open_ranges() : nullptr;
    if (ranges != nullptr) ranges->open(written, ring.tid, record.domain, 0);
  }
  write_payloads(stream, ring, event, extras, parts);
}

void write_pop(RecordStream& stream, const EventRing& ring, const ClosingEvent& event) {
  spool::RangePop record{};
  record.time_ns = event.time_ns;
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  const void* written = stream.add(spool::RecordKind::range_pop, record);
  if (OpenRanges* ranges = stream.open_ranges()) {
    ranges->close(stream, written, record.tid, record.domain, 0);
  }
}

/// Ends of ranges that another thread has started, whose ring may not have been read yet.
struct DeferredEnds {
  static constexpr std::size_t kRoom = 4096;
  std::size_t count = 0;
  spool::RangeEnd records[kRoom];
};
DeferredEnds deferred_ends;

void add_end(RecordStream& stream, const spool::RangeEnd& record) {
  const void* written = stream.add(spool::RecordKind::range_end, record);
  if (OpenRanges* ranges = stream.open_ranges()) {
    ranges->close(stream, written, record.tid, record.domain, record.id);
  }
}

void write_end(RecordStream& stream, const EventRing& ring, const ClosingEvent& event) {
  spool::RangeEnd record{};
  record.time_ns = event.time_ns;
  record.id = event.range;
  record.tid = ring.tid;
  record.domain = domain_id(stream, *event.domain);
  const bool is_from_elsewhere = !ring.gave_range(event.range);
  if (is_from_elsewhere && deferred_ends.count < DeferredEnds::kRoom) {
    deferred_ends.records[deferred_ends.count++] = record;
  } else {
    add_end(stream, record);
  }
}

void write_graph_node(RecordStream& stream, const EventRing& ring, const GraphNodeEvent& event) {
  spool::GraphNode record{};
  record.time_ns = event.time_ns;
  record.node = event.node;
  record.original_node = event.original_node;
  record.graph = event.graph;
  record.original_graph = event.original_graph;
  record.type = event.type;
  record.tid = ring.tid;
  stream.add(spool::RecordKind::graph_node, record);
  OpenRanges* ranges = event.original_node == 0 ? stream.open_ranges() : nullptr;
  if (ranges != nullptr) ranges->captured(ring.tid);
}

void write_graph_edge(RecordStream& stream, const GraphEdgeEvent& event) {
  spool::GraphEdge record{};
  record.time_ns = event.time_ns;
  record.is_removed = event.is_removed;
  record.source = event.source;
  record.target = event.target;
  stream.add(spool::RecordKind::graph_edge, record);
}

template <class Event>
const Event& as(const EventHeader& header) {
  return reinterpret_cast<const Event&>(header);
}

}  // namespace

void forget_deferred_ends() {
  deferred_ends.count = 0;
}

void write_deferred_ends(RecordStream& stream) {
  for (std::size_t at = 0; at < deferred_ends.count; ++at) {
    add_end(stream, deferred_ends.records[at]);
  }
  deferred_ends.count = 0;
}

void write_event(RecordStream& stream, EventRing& ring, const EventHeader& event) {
  introduce_thread(stream, ring.tid);
  switch (event.kind) {
    case EventKind::push:
    case EventKind::mark:
    case EventKind::start:
      return write_named(stream, ring, as<NamedEvent>(event));
    case EventKind::pop:
      return write_pop(stream, ring, as<ClosingEvent>(event));
    case EventKind::end:
      return write_end(stream, ring, as<ClosingEvent>(event));
    case EventKind::thread_name: {
      const auto& named = as<ThreadNameEvent>(event);
      return name_thread(stream, named.tid, reinterpret_cast<const char*>(&named + 1),
                         named.text_bytes);
    }
    case EventKind::graph_node:
      return write_graph_node(stream, ring, as<GraphNodeEvent>(event));
    case EventKind::graph_edge:
      return write_graph_edge(stream, as<GraphEdgeEvent>(event));
    case EventKind::stack:
      return write_stack(stream, ring, as<StackEvent>(event));
    case EventKind::payload:
      return write_payloads(stream, ring, as<PayloadEvent>(event));
    case EventKind::category_name:
      return write_category(stream, as<CategoryNameEvent>(event));
    case EventKind::counter_sample:
      return write_sample(stream, ring, as<CounterSampleEvent>(event));
    case EventKind::trigger:
    case EventKind::skip:
      return;
  }
}

}  // namespace gprofml::injection
