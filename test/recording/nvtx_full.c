/* Says through NVTX all that it can say: categories, colours, payloads of every kind, counters. No
   CUDA. What it says is what test_nvtx_full.py expects to find; "hostile" says nonsense. */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxEventAttributes_t named(const char* text) {
  nvtxEventAttributes_t made;
  memset(&made, 0, sizeof made);
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text;
  return made;
}

static nvtxPayloadSchemaEntry_t entry(const char* name, uint64_t type, uint64_t offset) {
  nvtxPayloadSchemaEntry_t made;
  memset(&made, 0, sizeof made);
  made.name = name;
  made.type = type;
  made.offset = offset;
  return made;
}

static uint64_t schema(nvtxDomainHandle_t domain, uint64_t type, nvtxPayloadSchemaEntry_t* entries,
                       size_t count, size_t bytes, uint64_t id) {
  nvtxPayloadSchemaAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  attributes.type = type;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = bytes;
  attributes.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

static void attach(nvtxEventAttributes_t* attributes, nvtxPayloadData_t* data, int count) {
  attributes->payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes->reserved0 = count;
  attributes->payload.ullValue = (uint64_t)(uintptr_t)data;
}

static void push_pop(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  nvtxDomainRangePushEx(domain, attributes);
  nvtxDomainRangePop(domain);
}

static void categories_and_colors(nvtxDomainHandle_t domain) {
  nvtxNameCategoryA(3, "loading");
  nvtxNameCategoryW(4, L"sch\u00f6n");
  nvtxDomainNameCategoryA(domain, 3, "attention");
  nvtxEventAttributes_t range = named("default category 3");
  range.category = 3;
  range.colorType = NVTX_COLOR_ARGB;
  range.color = 0xff00ff80;
  push_pop(NULL, &range);
  range = named("default category 4");
  range.category = 4;
  push_pop(NULL, &range);
  range = named("domain category 3");
  range.category = 3;
  range.colorType = NVTX_COLOR_ARGB;
  range.color = 0;
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &range));
  range = named("never named");
  range.category = 77;
  nvtxDomainMarkEx(domain, &range);
  range = named("named later");
  range.category = 9;
  push_pop(domain, &range);
  nvtxDomainNameCategoryA(domain, 9, "late");
}

static void plain_payloads(void) {
  nvtxEventAttributes_t range = named("int32");
  range.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  range.payload.iValue = -7;
  push_pop(NULL, &range);
  range = named("uint32");
  range.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  range.payload.uiValue = 4000000000u;
  push_pop(NULL, &range);
  range = named("int64");
  range.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  range.payload.llValue = -9007199254740993;
  nvtxMarkEx(&range);
  range = named("uint64");
  range.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  range.payload.ullValue = 18446744073709551615u;
  nvtxRangeEnd(nvtxRangeStartEx(&range));
  range = named("float");
  range.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  range.payload.fValue = 0.25f;
  push_pop(NULL, &range);
  range = named("double");
  range.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  range.payload.dValue = 1e-3;
  push_pop(NULL, &range);
}

typedef struct {
  uint16_t layer;
  float rate[3];
} Inner;

typedef struct {
  uint64_t request;
  int8_t small;
  int32_t mode;
  uint32_t bits;
  char name[8];
  Inner inner[2];
  nvtxStringHandle_t handle;
} Outer;

static uint64_t mode_enum(nvtxDomainHandle_t domain) {
  const nvtxPayloadEnum_t entries[] = {{"prefill", 1, 0}, {"decode", 2, 0}};
  nvtxPayloadEnumAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  attributes.entries = entries;
  attributes.numEntries = 2;
  attributes.sizeOfEnum = 4;
  return nvtxPayloadEnumRegister(domain, &attributes);
}

static uint64_t bits_enum(nvtxDomainHandle_t domain) {
  const nvtxPayloadEnum_t entries[] = {{"read", 1, 1}, {"write", 2, 1}, {"evict", 4, 1}};
  nvtxPayloadEnumAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  attributes.entries = entries;
  attributes.numEntries = 3;
  attributes.sizeOfEnum = 4;
  attributes.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 500;
  return nvtxPayloadEnumRegister(domain, &attributes);
}

static void structures(nvtxDomainHandle_t domain) {
  nvtxPayloadSchemaEntry_t inner[] = {entry("layer", NVTX_PAYLOAD_ENTRY_TYPE_UINT16, 0),
                                      entry("rate", NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, 0)};
  inner[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  inner[1].arrayOrUnionDetail = 3;
  const uint64_t inner_id =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, inner, 2, sizeof(Inner), 0);
  nvtxPayloadSchemaEntry_t outer[] = {
      entry("request", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 0),
      entry("small", NVTX_PAYLOAD_ENTRY_TYPE_INT8, 0),
      entry("mode", mode_enum(domain), 0),
      entry("bits", bits_enum(domain), 0),
      entry("name", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, 0),
      entry("inner", inner_id, 0),
      entry("handle", NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, 0)};
  outer[4].arrayOrUnionDetail = 8;
  outer[5].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  outer[5].arrayOrUnionDetail = 2;
  const uint64_t outer_id =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, outer, 7, sizeof(Outer), 0);
  Outer value;
  memset(&value, 0, sizeof value);
  value.request = 42;
  value.small = -1;
  value.mode = 2;
  value.bits = 5;
  memcpy(value.name, "gpt\xff", 4);
  value.inner[0] = (Inner){7, {0.5f, 1, 2}};
  value.inner[1] = (Inner){8, {3, 4, 5}};
  value.handle = nvtxDomainRegisterStringA(domain, "a registered string");
  nvtxPayloadData_t data[2] = {{outer_id, sizeof value, &value},
                               {NVTX_PAYLOAD_ENTRY_TYPE_INT16, 2, "\x05"}};
  nvtxEventAttributes_t range = named("structure");
  attach(&range, data, 2);
  push_pop(domain, &range);
}

static void dynamic(nvtxDomainHandle_t domain) {
  nvtxPayloadSchemaEntry_t entries[] = {
      entry("n", NVTX_PAYLOAD_ENTRY_TYPE_UINT32, 0),
      entry("positions", NVTX_PAYLOAD_ENTRY_TYPE_UINT16, 0),
      entry("label", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, 0),
      entry("last", NVTX_PAYLOAD_ENTRY_TYPE_UINT8, 0)};
  entries[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
  entries[1].arrayOrUnionDetail = 0;
  entries[2].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED |
                     NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
  const uint64_t id = schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, entries, 4, 0, 0);
  const unsigned char bytes[] = {3, 0, 0, 0, 10, 0, 11, 0, 12, 0, 'h', 'e', 'a', 't', 0, 9};
  nvtxPayloadData_t data = {id, sizeof bytes, bytes};
  nvtxRangePushPayload(domain, &data, 1);
  nvtxPayloadData_t at_end = {NVTX_PAYLOAD_ENTRY_TYPE_INT32, 4, "\x2a\0\0\0"};
  nvtxRangePopPayload(domain, &at_end, 1);
  nvtxMarkPayload(domain, &data, 1);
  const nvtxRangeId_t started = nvtxRangeStartPayload(domain, &data, 1);
  nvtxRangeEndPayload(domain, started, &at_end, 1);
}

static void counters(nvtxDomainHandle_t domain) {
  nvtxSemanticsCounter_t semantics;
  memset(&semantics, 0, sizeof semantics);
  semantics.header.structSize = sizeof semantics;
  semantics.header.semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1;
  semantics.header.version = NVTX_COUNTER_SEMANTIC_VERSION;
  semantics.unit = "tokens";
  semantics.unitScaleNumerator = semantics.unitScaleDenominator = 1;
  nvtxCounterAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.structSize = sizeof attributes;
  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  attributes.name = "queue";
  attributes.description = "what waits";
  attributes.semantics = &semantics.header;
  const uint64_t queue = nvtxCounterRegister(domain, &attributes);
  nvtxCounterSampleInt64(domain, queue, 5);
  nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_UNCHANGED);
  nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_ZERO);
  nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  const int64_t value = -3;
  nvtxCounterSample(domain, queue, &value, sizeof value);
  memset(&attributes, 0, sizeof attributes);
  attributes.structSize = sizeof attributes;
  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
  attributes.name = "loss";
  attributes.counterId = NVTX_COUNTER_ID_STATIC_START + 1;
  const uint64_t loss = nvtxCounterRegister(NULL, &attributes);
  nvtxCounterSampleFloat64(NULL, loss, 0.125);
  const double values[] = {1.5, 2.5, 3.5};
  const int64_t times[] = {nvtxTimestampGet(), nvtxTimestampGet() + 1000, nvtxTimestampGet() + 2000};
  nvtxCounterBatch_t batch;
  memset(&batch, 0, sizeof batch);
  batch.counterId = loss;
  batch.counters = values;
  batch.countersSize = sizeof values;
  batch.timestamps = times;
  batch.timestampsSize = sizeof times;
  nvtxCounterBatchSubmit(NULL, &batch);
  nvtxPayloadSchemaEntry_t group[] = {entry("used", NVTX_PAYLOAD_ENTRY_TYPE_UINT32, 0),
                                      entry("rate", NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, 0)};
  group[0].semantics = &semantics.header;
  group[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  group[1].arrayOrUnionDetail = 2;
  attributes.counterId = 0;
  attributes.name = "cache";
  attributes.schemaId = schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, group, 2, 12, 0);
  const uint64_t cache = nvtxCounterRegister(domain, &attributes);
  const struct {
    uint32_t used;
    float rate[2];
  } sample = {17, {0.5f, 0.75f}};
  nvtxCounterSample(domain, cache, &sample, sizeof sample);
}

static void hostile(nvtxDomainHandle_t domain) {
  /* Layouts that contain themselves and each other, of absurd lengths, of types nobody knows. */
  const uint64_t self = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1;
  nvtxPayloadSchemaEntry_t entries[] = {
      entry("self", self, 0), entry("again", self, 0), entry("far", 5, UINT64_MAX),
      entry("unknown", 999, 8), entry("index", 5, 0), entry("pointer", 5, 0)};
  entries[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  entries[1].arrayOrUnionDetail = UINT64_MAX;
  entries[4].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
  entries[4].arrayOrUnionDetail = UINT64_MAX;
  entries[5].flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
  schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, 6, SIZE_MAX, self);
  schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, entries, 6, 8, self + 1);
  schema(domain, 12345, NULL, SIZE_MAX, 0, self + 2);
  nvtxPayloadSchemaRegister(domain, NULL);
  nvtxPayloadEnumRegister(domain, NULL);
  nvtxCounterRegister(domain, NULL);
  static unsigned char bytes[100000];
  nvtxPayloadData_t data[] = {{self, 64, bytes},      {self + 1, 8, bytes}, {self + 2, 8, bytes},
                              {self + 3, 8, bytes},   {self, 0, NULL},      {self, 8, NULL},
                              {self, SIZE_MAX, bytes}, {5, SIZE_MAX, bytes}};
  nvtxEventAttributes_t range = named("hostile");
  attach(&range, data, 8);
  push_pop(domain, &range);
  range = named("too many");
  attach(&range, data, 1);
  range.reserved0 = -1;
  push_pop(domain, &range);
  range = named("nothing there");
  attach(&range, NULL, 3);
  push_pop(domain, &range);
  nvtxPayloadData_t large = {NVTX_TYPE_PAYLOAD_SCHEMA_RAW, sizeof bytes, bytes};
  range = named("too long");
  attach(&range, &large, 1);
  push_pop(domain, &range);
  nvtxCounterSampleInt64(domain, 123456, 1);
  nvtxCounterSample(domain, 123457, bytes, sizeof bytes);
  nvtxCounterBatch_t batch;
  memset(&batch, 0, sizeof batch);
  batch.counterId = 123458;
  batch.counters = bytes;
  batch.countersSize = 8;
  nvtxCounterBatchSubmit(domain, &batch);
  for (int round = 0; round < 200000; ++round) {
    schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, 6, 8, 0);
  }
  nvtxRangePopPayload(domain, data, 1);
  nvtxRangeEndPayload(domain, 0, data, 1);
  nvtxRangePushA("after");
  nvtxRangePop();
}

static void* other_thread(void* domain) {
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "worker");
  nvtxEventAttributes_t range = named("on another thread");
  range.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  range.payload.iValue = 1;
  push_pop(domain, &range);
  return NULL;
}

int main(int count, char** arguments) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("model");
  if (count > 1 && strcmp(arguments[1], "hostile") == 0) {
    hostile(domain);
    puts("survived");
    return 5;
  }
  categories_and_colors(domain);
  plain_payloads();
  structures(domain);
  dynamic(domain);
  counters(domain);
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, domain);
  pthread_join(thread, NULL);
  puts("said");
  return 0;
}
