// A CUPTI of version 12.6 for the recorder's tests: shorter records than today's, no
// cuptiSubscribe_v2, and faults by the environment variable OLD_CUPTI_FAULT. It is not a model of
// CUPTI (that is test/simgpu); it hands over a fixed set of records when the program asks it to.
//
//   taken       another tool has subscribed         no_copies  copies cannot be enabled
//   hang        a forced flush never returns        incomplete the buffer ends in half a record
//   withhold    only a forced flush hands anything over
//   no_filter   calls cannot be enabled one by one  (compiled in: OLD_CUPTI_WITHOUT_FILTER)
#include <cupti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_CallbackFunc subscriber;
static void* subscriber_data;
static uint8_t* buffer;
static size_t buffer_size;
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char enabled_kinds[CUPTI_ACTIVITY_KIND_COUNT];
static unsigned char enabled_calls[2][16];

static int fault(const char* name) {
  const char* set = getenv("OLD_CUPTI_FAULT");
  return set != NULL && strcmp(set, name) == 0;
}

static pid_t loaded_by;
__attribute__((constructor)) static void on_load(void) { loaded_by = getpid(); }

/// CUPTI must not be called in a forked child.
static void expect_no_fork(const char* function) {
  if (getpid() != loaded_by) fprintf(stderr, "%s is called in a forked child\n", function);
}

SHOWN CUptiResult cuptiGetVersion(uint32_t* version) {
  expect_no_fork(__func__);
  *version = 24;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  expect_no_fork(__func__);
  *text = result == CUPTI_ERROR_NOT_COMPATIBLE ? "CUPTI_ERROR_NOT_COMPATIBLE" : "some error";
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiGetTimestamp(uint64_t* time_ns) {
  expect_no_fork(__func__);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                 void* data) {
  expect_no_fork(__func__);
  if (fault("taken")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (fault("no_driver")) return CUPTI_ERROR_UNKNOWN;
  *handle = (CUpti_SubscriberHandle)&subscriber;
  subscriber = callback;
  subscriber_data = data;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                      CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  expect_no_fork(__func__);
  (void)enable, (void)handle, (void)domain, (void)id;
  return CUPTI_SUCCESS;
}

static const char* const kNames[2][5] = {
    {NULL, "cuInit", "cuLaunchKernel_ptsz", "cuCtxGetCurrent", "cuMemFree_v2"},
    {NULL, "cudaGetDevice_v3020", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_ptsz_v7000",
     "cudaPeekAtLastError_v3020"}};

SHOWN CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                       const char** name) {
  const int row = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (id == 0 || id >= 5) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = kNames[row][id];
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

SHOWN CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  expect_no_fork(__func__);
  *id = (uint32_t)(uintptr_t)graph;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  expect_no_fork(__func__);
  *id = (uint64_t)(uintptr_t)node;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                            void* value) {
  expect_no_fork(__func__);
  (void)attribute, (void)size, (void)value;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                                 CUpti_BuffersCallbackCompleteFunc on_complete) {
  expect_no_fork(__func__);
  request = on_request;
  complete = on_complete;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  expect_no_fork(__func__);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY && fault("no_copies")) return CUPTI_ERROR_NOT_COMPATIBLE;
  enabled_kinds[kind] = 1;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  enabled_kinds[kind] = 0;
  return CUPTI_SUCCESS;
}

#ifndef OLD_CUPTI_WITHOUT_FILTER
SHOWN CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
  enabled_calls[0][id] = enable;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  enabled_calls[1][id] = enable;
  return CUPTI_SUCCESS;
}
#endif

SHOWN CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                    size_t* dropped) {
  static size_t once = 7;
  (void)context, (void)stream;
  *dropped = once;
  once = 0;
  return CUPTI_SUCCESS;
}

enum { kUnknownKind = 1000, kUnknownBytes = 48 };

static size_t size_of(CUpti_ActivityKind kind) {
  switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP3);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset3);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return sizeof(CUpti_ActivityCudaEvent);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(CUpti_ActivityOverhead);
    case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(CUpti_ActivityDevice4);
    case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(CUpti_ActivityContext);
    case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(CUpti_ActivityMemory3);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return sizeof(CUpti_ActivityMemoryPool);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(CUpti_ActivityUnifiedMemoryCounter2);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return sizeof(CUpti_ActivityGraphTrace);
    case kUnknownKind: return kUnknownBytes;
    default: return 0;
  }
}

SHOWN CUptiResult cuptiActivityGetNextRecord(uint8_t* data, size_t valid, CUpti_Activity** record) {
  expect_no_fork(__func__);
  uint8_t* at = data;
  if (*record != NULL) at = (uint8_t*)*record + size_of((*record)->kind);
  if (at >= data + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (size_of(((CUpti_Activity*)at)->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = (CUpti_Activity*)at;
  return CUPTI_SUCCESS;
}

SHOWN CUptiResult cuptiActivityFlushAll(uint32_t flags) {
  expect_no_fork(__func__);
  if (fault("hang") && flags == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) {
    for (;;) pause();
  }
  // With the lock: who flushes while another thread does must find the buffer handed over.
  if (fault("withhold") && flags != CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) return CUPTI_SUCCESS;
  pthread_mutex_lock(&lock);
  if (buffer != NULL) complete(NULL, 0, buffer, buffer_size, used);
  buffer = NULL;
  used = 0;
  pthread_mutex_unlock(&lock);
  return CUPTI_SUCCESS;
}

/// Room for a record, with something behind it that must not be taken for a longer record.
static void* add(CUpti_ActivityKind kind) {
  size_t most;
  if (buffer == NULL) request(&buffer, &buffer_size, &most);
  for (size_t at = used; at < used + size_of(kind); ++at) {
    if (buffer[at] != 0) fprintf(stderr, "a buffer is not zeroed\n");
  }
  CUpti_Activity* record = (CUpti_Activity*)(buffer + used);
  used += size_of(kind);
  record->kind = kind;
  return record;
}

static void add_kernel(const char* name, uint32_t correlation) {
  CUpti_ActivityKernel9* kernel = add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel->start = 1000 + correlation;
  kernel->end = 1500 + correlation;
  kernel->deviceId = 1;
  kernel->contextId = 2;
  kernel->streamId = 7;
  kernel->correlationId = correlation;
  kernel->name = name;
  kernel->gridX = 10, kernel->gridY = 11, kernel->gridZ = 12;
  kernel->blockX = 128, kernel->blockY = 2, kernel->blockZ = 1;
  kernel->clusterX = 4, kernel->clusterY = 5, kernel->clusterZ = 6;
  kernel->registersPerThread = 64;
  kernel->staticSharedMemory = 256;
  kernel->dynamicSharedMemory = 512;
  kernel->localMemoryPerThread = 32;
  kernel->graphNodeId = 0x100000002u;
  kernel->graphId = 3;
}

static void add_call(CUpti_ActivityKind kind, uint32_t id, uint32_t correlation) {
  const int row = kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  if (!enabled_kinds[kind] && !enabled_calls[row][id]) return;
  CUpti_ActivityAPI* call = add(kind);
  call->cbid = id;
  call->start = 100 + correlation;
  call->end = 200 + correlation;
  call->threadId = (uint32_t)getpid();
  call->correlationId = correlation;
  call->returnValue = 1;
}

static void add_copies(void) {
  CUpti_ActivityMemcpy5* copy = add(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy->srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy->bytes = 5000000000u;
  copy->start = 3000, copy->end = 4000;
  copy->deviceId = 1, copy->contextId = 2, copy->streamId = 8, copy->correlationId = 21;
  copy->graphNodeId = 31, copy->graphId = 32;
  CUpti_ActivityMemcpyPtoP3* peer = add(CUPTI_ACTIVITY_KIND_MEMCPY2);
  peer->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer->bytes = 77;
  peer->start = 3001, peer->end = 4001;
  peer->deviceId = 1, peer->contextId = 2, peer->streamId = 9, peer->correlationId = 22;
  peer->srcDeviceId = 4, peer->dstDeviceId = 5;
  peer->graphNodeId = 33, peer->graphId = 34;
  CUpti_ActivityMemset3* fill = add(CUPTI_ACTIVITY_KIND_MEMSET);
  fill->value = 0xab;
  fill->bytes = 99;
  fill->start = 3002, fill->end = 4002;
  fill->deviceId = 1, fill->contextId = 2, fill->streamId = 10, fill->correlationId = 23;
  fill->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  fill->flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  fill->graphNodeId = 35, fill->graphId = 36;
}

static void add_places(void) {
  CUpti_ActivityDevice4* device = add(CUPTI_ACTIVITY_KIND_DEVICE);
  device->id = 1;
  device->name = "Old device";
  memset(&device->uuid, 0x5a, sizeof device->uuid);
  memset(&device->migUuid, 0xc3, sizeof device->migUuid);
  device->isMigEnabled = 1;
  device->globalMemorySize = 80000000000u;
  device->numMultiprocessors = 132;
  device->computeCapabilityMajor = 9;
  CUpti_ActivityContext* context = add(CUPTI_ACTIVITY_KIND_CONTEXT);
  context->contextId = 2, context->deviceId = 1, context->nullStreamId = 7;
  CUpti_ActivityStream* stream = add(CUPTI_ACTIVITY_KIND_STREAM);
  stream->contextId = 2, stream->streamId = 8, stream->priority = (uint32_t)-5;
  stream->flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, stream->correlationId = 24;
}

static void add_waits(void) {
  CUpti_ActivitySynchronization* sync = add(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync->type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  sync->start = 5000, sync->end = 5001;
  sync->correlationId = 25, sync->contextId = 2, sync->streamId = 8, sync->cudaEventId = 40;
  CUpti_ActivityCudaEvent* event = add(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event->correlationId = 26, event->contextId = 2, event->streamId = 9, event->eventId = 40;
  CUpti_ActivityOverhead* overhead = add(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead->overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead->objectId.pt.processId = 1, overhead->objectId.pt.threadId = 4711;
  overhead->start = 6000, overhead->end = 6001;
}

/// What the levels above and below the default ask for.
static void add_what_is_not_default(void) {
  if (enabled_kinds[CUPTI_ACTIVITY_KIND_MEMORY2]) {
    CUpti_ActivityMemory3* memory = add(CUPTI_ACTIVITY_KIND_MEMORY2);
    memory->memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    memory->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory->correlationId = 27, memory->address = 0xf000000000000010u, memory->bytes = 5000000001u;
    memory->timestamp = 7000, memory->deviceId = 1, memory->contextId = 2, memory->streamId = 8;
    memory->isAsync = 1;
    memory->memoryPoolConfig.address = 0xabc0;
    memory->memoryPoolConfig.pool.size = 6000000000u;
    memory->memoryPoolConfig.utilizedSize = 5500000000u;
  }
  if (enabled_kinds[CUPTI_ACTIVITY_KIND_MEMORY_POOL]) {
    CUpti_ActivityMemoryPool* pool = add(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
    pool->memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
    pool->correlationId = 28, pool->deviceId = 1, pool->address = 0xabc0;
    pool->size = 4096, pool->releaseThreshold = 1024, pool->timestamp = 7100;
  }
  if (enabled_kinds[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER]) {
    CUpti_ActivityUnifiedMemoryCounter2* moved = add(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    moved->counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
    moved->value = 65536, moved->start = 7200, moved->end = 7300, moved->address = 0x7000;
    moved->srcId = 1, moved->dstId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID, moved->flags = 3;
  }
  if (enabled_kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) {
    CUpti_ActivityGraphTrace* graph = add(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    graph->correlationId = 29, graph->start = 7400, graph->end = 7500;
    graph->deviceId = 1, graph->graphId = 60, graph->contextId = 2, graph->streamId = 9;
  }
}

SHOWN void old_cupti_tell_graph(void) {
  CUpti_GraphData graph;
  memset(&graph, 0, sizeof graph);
  CUpti_ResourceData data = {NULL, {NULL}, &graph};
  graph.graph = (CUgraph)(uintptr_t)50;
  graph.node = (CUgraphNode)(uintptr_t)51;
  graph.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
             &data);
  graph.dependency = (CUgraphNode)(uintptr_t)52;
  subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE,
             CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &data);
  graph.originalGraph = graph.graph;
  graph.originalNode = graph.node;
  graph.graph = (CUgraph)(uintptr_t)60;
  graph.node = (CUgraphNode)(uintptr_t)61;
  subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
             &data);
}

/// What the program asks for: one of everything.
SHOWN void old_cupti_run(void) {
  static char name[64] = "_Z5firstv";
  if (request == NULL) return;
  pthread_mutex_lock(&lock);
  add_places();
  add_kernel(name, 11);
  add_kernel("_Z6secondv", 12);
  add_copies();
  for (uint32_t id = 1; id < 5; ++id) {
    add_call(CUPTI_ACTIVITY_KIND_RUNTIME, id, 300 + id);
    add_call(CUPTI_ACTIVITY_KIND_DRIVER, id, 400 + id);
  }
  add_waits();
  add_what_is_not_default();
  add((CUpti_ActivityKind)kUnknownKind);
  pthread_mutex_unlock(&lock);
  cuptiActivityFlushAll(0);
  old_cupti_tell_graph();
}

/// The address of a kernel's name is used again after its module has gone.
SHOWN void old_cupti_run_again(void) {
  static char name[64];
  if (request == NULL) return;
  for (int round = 0; round < 3; ++round) {
    pthread_mutex_lock(&lock);
    snprintf(name, sizeof name, "_Z%dkernel%dv", 7, round);
    add_kernel(name, 13 + (uint32_t)round);
    if (fault("incomplete") && round == 2) {
      used += 64;  // zeros: a record that has not been filled in
    }
    pthread_mutex_unlock(&lock);
    if (round < 2) cuptiActivityFlushAll(0);
    CUpti_ResourceData data = {NULL, {NULL}, NULL};
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE,
               CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
  }
}

SHOWN void old_cupti_launch(void) {
  pthread_mutex_lock(&lock);
  if (request != NULL) add_kernel("_Z4latev", 20);
  pthread_mutex_unlock(&lock);
}

SHOWN void old_cupti_break(void) {
  CUpti_StateData state;
  memset(&state, 0, sizeof state);
  state.notification.result = CUPTI_ERROR_NOT_COMPATIBLE;
  state.notification.message = "out of order";
  subscriber(subscriber_data, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &state);
}
