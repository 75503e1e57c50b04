// LTTng's code for the tracepoints of lttng_kernel.h.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/lttng_kernel.h"

void trace_kernel(const struct BenchKernel* kernel) {
  lttng_ust_tracepoint(gprofml_bench, kernel, kernel);
}

void trace_kernel_in_full(const struct BenchKernel* kernel) {
  lttng_ust_tracepoint(gprofml_bench, kernel_in_full, kernel);
}
