// What a kernel's tracepoint is given, and the tracepoints as functions: plain C on LTTng's side.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct BenchKernel {
  int64_t start_ns, end_ns;
  uint64_t graph_node;
  uint32_t graph, name, device, context, stream, correlation, launch_config;
  const char* name_text;
  int32_t grid[3], block[3], cluster[3];
  int32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes;
  uint32_t local_bytes_per_thread;
};

void trace_kernel(const struct BenchKernel* kernel);
void trace_kernel_in_full(const struct BenchKernel* kernel);

#ifdef __cplusplus
}
#endif
