// What CUPTI's and CUDA's numbers mean, as far as spools store them. The numbers are those of
// cupti_activity.h and cuda.h; CUDA 12 and 13 agree on all.
#pragma once

#include <cstdint>
#include <string>

#include "libprofile/trace/columns.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

CopyKind copy_kind_of(std::uint8_t cupti_kind);
MemoryKind memory_kind_of(std::uint8_t cupti_kind);
SyncKind sync_kind_of(std::uint32_t cupti_type);
StreamKind stream_kind_of(std::uint32_t cupti_flag);
PoolOperation pool_operation_of(std::uint32_t cupti_type);
MigrationKind migration_kind_of(std::uint32_t cupti_counter);
/// Of a memory operation: false is one that gives out.
bool is_release(std::uint32_t cupti_type);

/// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)": the names that other tools write, which
/// libprofile/import reads.
std::string copy_name(std::uint8_t cupti_kind, std::uint8_t source_memory,
                      std::uint8_t target_memory);
std::string fill_name(std::uint8_t memory);

/// "driver compiler", "CUPTI buffer flush" …
std::string overhead_name(std::uint32_t cupti_kind);

/// CUgraphNodeType as a word: "kernel", "memcpy" …
std::string graph_node_type_name(std::uint32_t cuda_type);

}  // namespace gprofml::profile
