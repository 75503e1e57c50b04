// The tracepoints of the comparison with LTTng-UST (lttng_ratio.cpp): a kernel with the fields that
// the spool's record has. LTTng includes this file several times, hence its unusual guards.
// clang-format off
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gprofml_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/lttng_kernel.h"

#if !defined(GPROFML_BENCH_LTTNG_KERNEL_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GPROFML_BENCH_LTTNG_KERNEL_H

#include <lttng/tracepoint.h>
#include "bench/lttng_fields.h"

// Name and launch configuration as numbers: as if LTTng had dictionaries, for free.
LTTNG_UST_TRACEPOINT_EVENT(
    gprofml_bench, kernel, LTTNG_UST_TP_ARGS(const struct BenchKernel*, kernel),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int64_t, start_ns, kernel->start_ns)
        lttng_ust_field_integer(int64_t, end_ns, kernel->end_ns)
        lttng_ust_field_integer(uint64_t, graph_node, kernel->graph_node)
        lttng_ust_field_integer(uint32_t, graph, kernel->graph)
        lttng_ust_field_integer(uint32_t, name, kernel->name)
        lttng_ust_field_integer(uint32_t, device, kernel->device)
        lttng_ust_field_integer(uint32_t, context, kernel->context)
        lttng_ust_field_integer(uint32_t, stream, kernel->stream)
        lttng_ust_field_integer(uint32_t, correlation, kernel->correlation)
        lttng_ust_field_integer(uint32_t, launch_config, kernel->launch_config)))

// Name and launch configuration spelled out, as a tracepoint would have them.
LTTNG_UST_TRACEPOINT_EVENT(
    gprofml_bench, kernel_in_full, LTTNG_UST_TP_ARGS(const struct BenchKernel*, kernel),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int64_t, start_ns, kernel->start_ns)
        lttng_ust_field_integer(int64_t, end_ns, kernel->end_ns)
        lttng_ust_field_integer(uint64_t, graph_node, kernel->graph_node)
        lttng_ust_field_integer(uint32_t, graph, kernel->graph)
        lttng_ust_field_string(name, kernel->name_text)
        lttng_ust_field_integer(uint32_t, device, kernel->device)
        lttng_ust_field_integer(uint32_t, context, kernel->context)
        lttng_ust_field_integer(uint32_t, stream, kernel->stream)
        lttng_ust_field_integer(uint32_t, correlation, kernel->correlation)
        lttng_ust_field_array(int32_t, grid, kernel->grid, 3)
        lttng_ust_field_array(int32_t, block, kernel->block, 3)
        lttng_ust_field_array(int32_t, cluster, kernel->cluster, 3)
        lttng_ust_field_integer(int32_t, registers_per_thread, kernel->registers_per_thread)
        lttng_ust_field_integer(int32_t, static_shared_bytes, kernel->static_shared_bytes)
        lttng_ust_field_integer(int32_t, dynamic_shared_bytes, kernel->dynamic_shared_bytes)
        lttng_ust_field_integer(uint32_t, local_bytes_per_thread,
                                kernel->local_bytes_per_thread)))

#endif

#include <lttng/tracepoint-event.h>
