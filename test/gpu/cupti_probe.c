// An injection library that asks CUPTI one question about itself, chosen by GPU_CHECK_PROBE, and
// writes the answer as a JSON object to GPU_CHECK_ANSWER when the program ends:
//
//   driver_kind  records of driver calls and kernels, none of runtime calls: has every kernel of a
//                runtime program the record of its launch?
//   withhold     kernels, with cuptiActivityFlushAll(0) each 100 ms: how old is a record when it
//                comes?
//   late_graph   kernels, enabled GPU_CHECK_AFTER_MS after the start, when the program's graphs are
//                instantiated already: do their kernels name their nodes?
//
// CUPTI is the one that the program has loaded, else GPU_CHECK_CUPTI.
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

enum { kBufferBytes = 1 << 20, kMostIds = 1 << 22, kMostDelays = 1 << 20, kFlushMs = 100 };

#define FUNCTIONS(X)              \
  X(Subscribe)                    \
  X(GetTimestamp)                 \
  X(GetResultString)              \
  X(ActivityRegisterCallbacks)    \
  X(ActivityEnable)               \
  X(ActivityGetNextRecord)        \
  X(ActivityGetNumDroppedRecords) \
  X(ActivityFlushAll)

static struct {
#define MEMBER(name) __typeof__(&cupti##name) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;

static const char* question;
static char error[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char call_ids[kMostIds / 8], kernel_ids[kMostIds / 8];
static uint64_t kernels, calls, with_node, without_node, without_time, dropped, ids_beyond;
static uint64_t* delays;
static size_t delay_count;
static int stopping;

static int is(const char* name) {
  return strcmp(question, name) == 0;
}

static void mark(unsigned char* ids, uint32_t id) {
  if (id < kMostIds) {
    ids[id / 8] |= (unsigned char)(1u << id % 8);
  } else {
    ++ids_beyond;
  }
}

static void request(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = aligned_alloc(8, kBufferBytes);
  *size = *buffer != NULL ? kBufferBytes : 0;
  *most = 0;
}

static void take_kernel(const CUpti_ActivityKernel5* kernel, uint64_t now) {
  ++kernels;
  mark(kernel_ids, kernel->correlationId);
  if (kernel->graphNodeId != 0) {
    ++with_node;
  } else {
    ++without_node;
  }
  if (kernel->end == 0) {
    ++without_time;
  } else if (delay_count < kMostDelays) {
    delays[delay_count++] = now > kernel->end ? now - kernel->end : 0;
  }
}

static void complete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                     size_t valid) {
  (void)size;
  uint64_t now = 0;
  cupti.GetTimestamp(&now);
  CUpti_Activity* record = NULL;
  pthread_mutex_lock(&lock);
  while (cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      take_kernel((const CUpti_ActivityKernel5*)record, now);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
      ++calls;
      mark(call_ids, ((const CUpti_ActivityAPI*)record)->correlationId);
    }
  }
  pthread_mutex_unlock(&lock);
  size_t lost = 0;
  if (cupti.ActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  free(buffer);
}

static int succeeded(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return 1;
  const char* text = "no text";
  cupti.GetResultString(result, &text);
  snprintf(error, sizeof error, "%s: %s", what, text);
  return 0;
}

static void rest_ms(long milliseconds) {
  const struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&rest, NULL);
}

static void* beside(void* unused) {
  (void)unused;
  if (is("late_graph")) {
    const char* after = getenv("GPU_CHECK_AFTER_MS");
    rest_ms(after != NULL ? atol(after) : 1000);
    succeeded(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enable kernels late");
  }
  while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
    rest_ms(kFlushMs);
    cupti.ActivityFlushAll(0);
  }
  return NULL;
}

static int by_size(const void* left, const void* right) {
  const uint64_t a = *(const uint64_t*)left, b = *(const uint64_t*)right;
  return a < b ? -1 : a > b;
}

static uint64_t quantile(size_t permille) {
  return delay_count == 0 ? 0 : delays[(delay_count - 1) * permille / 1000];
}

static void answer(void) {
  __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
  // Before the forced flush: what comes only by force was withheld.
  pthread_mutex_lock(&lock);
  const uint64_t unforced = kernels;
  qsort(delays, delay_count, sizeof *delays, by_size);
  const uint64_t median = quantile(500), p99 = quantile(990), most = quantile(1000);
  pthread_mutex_unlock(&lock);
  cupti.ActivityFlushAll(1);
  const char* path = getenv("GPU_CHECK_ANSWER");
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  uint64_t unmatched = 0;
  for (size_t id = 0; id < kMostIds; ++id) {
    const unsigned bit = 1u << id % 8;
    if ((kernel_ids[id / 8] & bit) != 0 && (call_ids[id / 8] & bit) == 0) ++unmatched;
  }
  fprintf(file,
          "{\"error\": \"%s\", \"kernels\": %llu, \"driver_records\": %llu, "
          "\"launches_without_record\": %llu, \"kernels_with_node\": %llu, "
          "\"kernels_without_node\": %llu, \"without_time\": %llu, \"dropped\": %llu, "
          "\"ids_beyond\": %llu, \"kernels_before_forced_flush\": %llu, "
          "\"delay_median_ns\": %llu, \"delay_p99_ns\": %llu, \"delay_most_ns\": %llu, "
          "\"flush_period_ns\": %llu}\n",
          error, (unsigned long long)kernels, (unsigned long long)calls,
          (unsigned long long)unmatched, (unsigned long long)with_node,
          (unsigned long long)without_node, (unsigned long long)without_time,
          (unsigned long long)dropped, (unsigned long long)ids_beyond, (unsigned long long)unforced,
          (unsigned long long)median, (unsigned long long)p99, (unsigned long long)most,
          kFlushMs * 1000000ULL);
  fclose(file);
}

static int open_cupti(void) {
  void* handle = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) handle = dlopen("libcupti.so.12", RTLD_LAZY | RTLD_NOLOAD);
  const char* path = getenv("GPU_CHECK_CUPTI");
  if (handle == NULL && path != NULL && *path != '\0') handle = dlopen(path, RTLD_LAZY);
  if (handle == NULL) {
    snprintf(error, sizeof error, "no CUPTI");
    return 0;
  }
#define FIND(name) *(void**)&cupti.name = dlsym(handle, "cupti" #name);
  FUNCTIONS(FIND)
#undef FIND
  return cupti.Subscribe != NULL && cupti.ActivityEnable != NULL;
}

static void ignore(void* data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* info) {
  (void)data, (void)domain, (void)id, (void)info;
}

static void start(void) {
  static CUpti_SubscriberHandle subscriber;
  pthread_t thread;
  if (!open_cupti()) return;
  if (!succeeded(cupti.Subscribe(&subscriber, ignore, NULL), "subscribe")) return;
  if (!succeeded(cupti.ActivityRegisterCallbacks(request, complete), "register")) return;
  if (!is("late_graph") &&
      !succeeded(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enable kernels")) {
    return;
  }
  if (is("driver_kind")) {
    succeeded(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER), "enable driver calls");
  }
  if (pthread_create(&thread, NULL, beside, NULL) == 0) pthread_detach(thread);
}

SHOWN int InitializeInjection(void) {
  question = getenv("GPU_CHECK_PROBE");
  delays = calloc(kMostDelays, sizeof *delays);
  if (question == NULL || delays == NULL) return 1;
  start();
  if (cupti.ActivityFlushAll != NULL) atexit(answer);
  return 1;
}
