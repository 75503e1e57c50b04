// What the extension modules of NVTX call: payloads with layouts of their own, and counters.
#include <cstdio>
#include <cstring>

#include "injection/nvtx_payloads.hpp"
#include "injection/recorder.hpp"
#include "injection/registrations.hpp"
#include "injection/utf8.hpp"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

namespace gprofml::injection {
namespace {

constexpr std::size_t kLongestEntryName = 200;
constexpr std::size_t kLongestDescription = 1000;
constexpr int kMostSemantics = 16;
// The toolkit's header shifts an int by 32 here.
constexpr std::uint64_t kBeginAndInterval = std::uint64_t{1} << 32;
constexpr std::uint64_t kEndAndInterval = std::uint64_t{2} << 32;

void count_registration_lost() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->registrations_lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_samples_lost(std::size_t count) {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->samples_lost.fetch_add(count, std::memory_order_relaxed);
  }
}

/// The program's own id, or one of ours where it leaves the choice to us.
std::uint64_t id_or_new(std::uint64_t id) {
  static std::atomic<std::uint64_t> next{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};
  return id != 0 ? id : next.fetch_add(1, std::memory_order_relaxed);
}

const RegisteredString* kept(const char* text, std::size_t most) {
  return text == nullptr ? nullptr : make_registered_string(text, utf8_length(text, most));
}

template <class Semantics>
const Semantics* find_semantics(const nvtxSemanticsHeader_t* header, std::uint16_t id) {
  for (int at = 0; header != nullptr && at < kMostSemantics; ++at, header = header->next) {
    if (header->semanticId == id && header->structSize >= sizeof(Semantics)) {
      return reinterpret_cast<const Semantics*>(header);
    }
  }
  return nullptr;
}

/// "bytes", or "1/1024 bytes" where the values are to be scaled.
const RegisteredString* unit_of(const nvtxSemanticsCounter_t* counter) {
  if (counter == nullptr || counter->unit == nullptr) return nullptr;
  if (counter->unitScaleNumerator == counter->unitScaleDenominator) {
    return kept(counter->unit, kLongestEntryName);
  }
  char text[kLongestEntryName + 48];
  const auto unit_bytes = static_cast<int>(utf8_length(counter->unit, kLongestEntryName));
  const auto numerator = static_cast<unsigned long long>(counter->unitScaleNumerator);
  const auto denominator = static_cast<unsigned long long>(counter->unitScaleDenominator);
  if (denominator == 1) {
    std::snprintf(text, sizeof text, "%llu %.*s", numerator, unit_bytes, counter->unit);
  } else {
    std::snprintf(text, sizeof text, "%llu/%llu %.*s", numerator, denominator, unit_bytes,
                  counter->unit);
  }
  return kept(text, sizeof text);
}

// --- layouts -----------------------------------------------------------------------------------

SchemaRegistration* new_schema(const Domain& domain, const char* name, std::size_t entries) {
  auto* schema = new_registration<SchemaRegistration>(Registration::Kind::schema, &domain);
  if (schema == nullptr) return nullptr;
  schema->entries =
      static_cast<spool::PayloadEntry*>(registration_memory(entries * sizeof(spool::PayloadEntry)));
  schema->texts = static_cast<SchemaRegistration::Texts*>(
      registration_memory(entries * sizeof(SchemaRegistration::Texts)));
  if (schema->entries == nullptr || schema->texts == nullptr) return nullptr;
  schema->name = kept(name, kLongestEntryName);
  schema->record.entries = static_cast<std::uint32_t>(entries);
  return schema;
}

std::size_t entries_to_keep(const void* entries, std::size_t count) {
  if (entries == nullptr) return 0;
  if (count <= kMostSchemaEntries) return count;
  count_registration_lost();
  return kMostSchemaEntries;
}

void describe_entry(const nvtxPayloadSchemaEntry_t& entry, spool::PayloadEntry& target,
                    SchemaRegistration::Texts& texts) {
  target.flags = entry.flags;
  target.type = entry.type;
  target.detail = entry.arrayOrUnionDetail;
  target.offset = entry.offset;
  texts.name = kept(entry.name, kLongestEntryName);
  texts.description = kept(entry.description, kLongestDescription);
  texts.unit = unit_of(
      find_semantics<nvtxSemanticsCounter_t>(entry.semantics, NVTX_SEMANTIC_ID_COUNTERS_V1));
}

std::uint64_t schema_register(nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t* given) {
  if (given == nullptr) return 0;
  const auto has = [given](std::uint64_t field) { return (given->fieldMask & field) != 0; };
  const std::uint64_t id =
      id_or_new(has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? given->schemaId : 0);
  const bool has_entries = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) &&
                           has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
  const std::size_t count = has_entries ? entries_to_keep(given->entries, given->numEntries) : 0;
  const Domain& domain = domain_of(handle);
  SchemaRegistration* schema =
      new_schema(domain, has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? given->name : nullptr, count);
  if (schema == nullptr) {
    count_registration_lost();
    return id;
  }
  spool::PayloadSchema& record = schema->record;
  record.id = id;
  record.type = static_cast<std::uint32_t>(given->type);
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)) record.flags = given->flags;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) {
    record.static_bytes = given->payloadStaticSize;
  }
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) {
    record.pack_align = static_cast<std::uint32_t>(given->packAlign);
  }
  for (std::size_t at = 0; at < count; ++at) {
    describe_entry(given->entries[at], schema->entries[at], schema->texts[at]);
  }
  publish(*schema);
  return id;
}

std::uint64_t enum_register(nvtxDomainHandle_t handle, const nvtxPayloadEnumAttr_t* given) {
  if (given == nullptr) return 0;
  const auto has = [given](std::uint64_t field) { return (given->fieldMask & field) != 0; };
  const std::uint64_t id =
      id_or_new(has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) ? given->schemaId : 0);
  const bool has_entries =
      has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) && has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
  const std::size_t count = has_entries ? entries_to_keep(given->entries, given->numEntries) : 0;
  SchemaRegistration* schema = new_schema(
      domain_of(handle), has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) ? given->name : nullptr, count);
  if (schema == nullptr) {
    count_registration_lost();
    return id;
  }
  schema->record.id = id;
  schema->record.type = spool::kEnumeration;
  schema->record.static_bytes =
      has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? given->sizeOfEnum : sizeof(int);
  for (std::size_t at = 0; at < count; ++at) {
    const nvtxPayloadEnum_t& entry = given->entries[at];
    schema->entries[at].type = entry.value;
    schema->entries[at].flags = entry.isFlag != 0;
    schema->texts[at].name = kept(entry.name, kLongestEntryName);
  }
  publish(*schema);
  return id;
}

// --- events ------------------------------------------------------------------------------------

void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  const Domain& known = domain_of(domain);
  mark_with(known, Extras(known, data, count));
}
int range_push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                       std::size_t count) {
  const Domain& known = domain_of(domain);
  return push_with(known, Extras(known, data, count));
}
int range_pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  const Domain& known = domain_of(domain);
  return pop_with(known, Extras(known, data, count));
}
nvtxRangeId_t range_start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                                  std::size_t count) {
  const Domain& known = domain_of(domain);
  return start_with(known, Extras(known, data, count));
}
void range_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t range,
                       const nvtxPayloadData_t* data, std::size_t count) {
  const Domain& known = domain_of(domain);
  end_with(known, range, Extras(known, data, count));
}

// Scopes and time domains are not recorded; a program gets ids to go on with.
std::uint64_t scope_register(nvtxDomainHandle_t, const nvtxScopeAttr_t* given) {
  return given == nullptr ? 0 : id_or_new(given->scopeId);
}
std::uint64_t time_domain_register(nvtxDomainHandle_t, const nvtxTimeDomainAttr_t* given) {
  return given == nullptr ? 0 : id_or_new(given->timeDomainId);
}
std::int64_t timestamp_get() {
  return now_ns();
}

// --- counters ----------------------------------------------------------------------------------

std::uint64_t counter_register(nvtxDomainHandle_t handle, const nvtxCounterAttr_t* given) {
  if (given == nullptr || given->structSize < sizeof *given) return 0;
  const std::uint64_t id = id_or_new(given->counterId);
  const Domain& domain = domain_of(handle);
  auto* counter = new_registration<CounterRegistration>(Registration::Kind::counter, &domain);
  if (counter == nullptr) {
    count_registration_lost();
    return id;
  }
  const auto* semantics =
      find_semantics<nvtxSemanticsCounter_t>(given->semantics, NVTX_SEMANTIC_ID_COUNTERS_V1);
  const auto* time =
      find_semantics<nvtxSemanticsTime_t>(given->semantics, NVTX_SEMANTIC_ID_TIME_V1);
  counter->record.id = id;
  counter->record.schema = given->schemaId;
  counter->record.flags = semantics == nullptr ? 0 : semantics->flags;
  counter->time_domain = time == nullptr ? 0 : time->timeDomainId;
  counter->name = kept(given->name, kLongestEntryName);
  counter->description = kept(given->description, kLongestDescription);
  counter->unit = unit_of(semantics);
  publish(*counter);
  return id;
}

void put_sample(const Domain& domain, std::int64_t time_ns, std::uint64_t counter,
                spool::SampleForm form, std::uint64_t value, const void* data = nullptr,
                std::size_t data_bytes = 0) {
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  const std::size_t bytes = sizeof(CounterSampleEvent) + ((data_bytes + 7) & ~std::size_t{7});
  auto* event = domain.id >= kMostDomains || data_bytes > kMostPayloadBytes
                    ? nullptr
                    : ring->reserve(bytes, ring->headroom_to_open());
  if (event == nullptr) return count_samples_lost(1);
  auto& sample = *static_cast<CounterSampleEvent*>(event);
  sample.header = {static_cast<std::uint32_t>(bytes), EventKind::counter_sample, TextKind::none};
  sample.time_ns = time_ns;
  sample.counter = counter;
  sample.domain = &domain;
  sample.value = value;
  sample.form = static_cast<std::uint32_t>(form);
  sample.bytes = static_cast<std::uint32_t>(data_bytes);
  if (data_bytes > 0) std::memcpy(&sample + 1, data, data_bytes);
  ring->commit(bytes);
  after_commit(*ring);
}

void sample_int64(nvtxDomainHandle_t domain, std::uint64_t counter, std::int64_t value) {
  put_sample(domain_of(domain), now_ns(), counter, spool::SampleForm::int64,
             static_cast<std::uint64_t>(value));
}
void sample_float64(nvtxDomainHandle_t domain, std::uint64_t counter, double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  put_sample(domain_of(domain), now_ns(), counter, spool::SampleForm::float64, bits);
}
void sample_bytes(nvtxDomainHandle_t domain, std::uint64_t counter, const void* values,
                  std::size_t bytes) {
  if (values == nullptr || bytes == 0) return;
  put_sample(domain_of(domain), now_ns(), counter, spool::SampleForm::bytes, 0, values, bytes);
}
void sample_no_value(nvtxDomainHandle_t domain, std::uint64_t counter, std::uint8_t reason) {
  put_sample(domain_of(domain), now_ns(), counter, spool::SampleForm::no_value, reason);
}

/// When the samples of a batch were taken.
class BatchTimes {
 public:
  BatchTimes(const nvtxCounterBatch_t& batch, std::size_t samples)
      : times_(batch.timestamps), samples_(samples), now_(now_ns()) {
    const std::size_t count = batch.timestamps == nullptr ? 0 : batch.timestampsSize / 8;
    const std::uint64_t pair = batch.flags & (kBeginAndInterval | kEndAndInterval);
    ends_ = pair == kEndAndInterval;
    is_pair_ = pair != 0 && count >= 2;
    is_known_ = count == 0 || is_pair_ || (pair == 0 && count >= samples);
  }

  bool known() const { return is_known_; }
  bool given() const { return times_ != nullptr; }
  std::int64_t at(std::size_t sample) const {
    if (times_ == nullptr) return now_;
    if (!is_pair_) return times_[sample];
    const std::uint64_t steps = ends_ ? sample - (samples_ - 1) : sample;
    // Unsigned: a program may say anything.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(times_[0]) +
                                     steps * static_cast<std::uint64_t>(times_[1]));
  }

 private:
  const std::int64_t* times_;
  std::size_t samples_;
  std::int64_t now_;
  bool ends_ = false;
  bool is_pair_ = false;
  bool is_known_ = false;
};

/// Whether time stamps of this domain are on our clock.
bool is_our_time(std::uint64_t time_domain) {
  return time_domain == NVTX_TIMESTAMP_TYPE_NONE ||
         time_domain == NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED ||
         time_domain == NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME;
}

void batch_submit(nvtxDomainHandle_t handle, const nvtxCounterBatch_t* batch) {
  if (batch == nullptr || batch->counters == nullptr || batch->countersSize == 0) return;
  const Domain& domain = domain_of(handle);
  const CounterRegistration* counter = find_counter(domain, batch->counterId);
  std::size_t sample_bytes = 0;
  if (counter != nullptr) {
    sample_bytes = size_of_type(counter->record.schema);
    if (sample_bytes == 0) {
      const SchemaRegistration* schema = find_schema(domain, counter->record.schema);
      if (schema != nullptr) sample_bytes = schema->record.static_bytes;
    }
  }
  if (sample_bytes == 0 || sample_bytes > batch->countersSize) return count_samples_lost(1);
  const std::size_t samples = batch->countersSize / sample_bytes;
  const BatchTimes times(*batch, samples);
  if (!times.known() || (times.given() && !is_our_time(counter->time_domain))) {
    return count_samples_lost(samples);
  }
  const auto* data = static_cast<const unsigned char*>(batch->counters);
  for (std::size_t at = 0; at < samples; ++at) {
    put_sample(domain, times.at(at), batch->counterId, spool::SampleForm::bytes, 0,
               data + at * sample_bytes, sample_bytes);
  }
}

// --- taking over the slots ---------------------------------------------------------------------

struct Slot {
  std::size_t id;
  std::intptr_t function;
};

template <class Function>
Slot slot(std::size_t id, Function* function) {
  return {id, reinterpret_cast<std::intptr_t>(function)};
}

template <std::size_t kCount>
void fill(const nvtxExtModuleInfo_t& module, const Slot (&slots)[kCount]) {
  if (module.segmentsCount == 0 || module.segments == nullptr) return;
  const nvtxExtModuleSegment_t& segment = module.segments[0];
  if (segment.functionSlots == nullptr) return;
  for (const Slot& slot : slots) {
    if (slot.id < segment.slotCount) segment.functionSlots[slot.id] = slot.function;
  }
}

/// Ids of compatibility are MAJOR << 8 | MINOR; 0x0103 (NCCL) and 0x0104 (CUDA 13) are laid out
/// alike.
bool is_major_1(std::uint16_t compatibility) {
  return compatibility >> 8 == 1;
}

}  // namespace

void register_handle(const RegisteredString& string) {
  // Not of what registrations may take: a program has as many strings as it likes.
  auto* handle = static_cast<StringRegistration*>(registry_memory(sizeof(StringRegistration)));
  if (handle == nullptr) return count_registration_lost();
  handle->kind = Registration::Kind::string;
  handle->text = &string;
  publish(*handle);
}

void attach_to_extension(const nvtxExtModuleInfo_t& module) {
  if (module.structSize < sizeof module || !is_major_1(module.compatId)) return;
  if (module.moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    fill(module, {slot(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, schema_register),
                  slot(NVTX3EXT_CBID_nvtxPayloadEnumRegister, enum_register),
                  slot(NVTX3EXT_CBID_nvtxMarkPayload, mark_payload),
                  slot(NVTX3EXT_CBID_nvtxRangePushPayload, range_push_payload),
                  slot(NVTX3EXT_CBID_nvtxRangePopPayload, range_pop_payload),
                  slot(NVTX3EXT_CBID_nvtxRangeStartPayload, range_start_payload),
                  slot(NVTX3EXT_CBID_nvtxRangeEndPayload, range_end_payload),
                  slot(NVTX3EXT_CBID_nvtxTimestampGet, timestamp_get),
                  slot(NVTX3EXT_CBID_nvtxTimeDomainRegister, time_domain_register),
                  slot(NVTX3EXT_CBID_nvtxScopeRegister, scope_register)});
  } else if (module.moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    fill(module, {slot(NVTX3EXT_CBID_nvtxCounterRegister, counter_register),
                  slot(NVTX3EXT_CBID_nvtxCounterSampleInt64, sample_int64),
                  slot(NVTX3EXT_CBID_nvtxCounterSampleFloat64, sample_float64),
                  slot(NVTX3EXT_CBID_nvtxCounterSample, sample_bytes),
                  slot(NVTX3EXT_CBID_nvtxCounterSampleNoValue, sample_no_value),
                  slot(NVTX3EXT_CBID_nvtxCounterBatchSubmit, batch_submit)});
  }
}

}  // namespace gprofml::injection
