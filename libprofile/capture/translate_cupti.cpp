#include "libprofile/capture/translate_cupti.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace gprofml::profile {
namespace {

struct NamedCopyKind {
  CopyKind kind;
  std::string_view name;
};

// By CUpti_ActivityMemcpyKind.
constexpr std::array<NamedCopyKind, 11> kCopyKinds{{{CopyKind::unknown, "Unknown"},
                                                    {CopyKind::host_to_device, "HtoD"},
                                                    {CopyKind::device_to_host, "DtoH"},
                                                    {CopyKind::host_to_array, "HtoA"},
                                                    {CopyKind::array_to_host, "AtoH"},
                                                    {CopyKind::array_to_array, "AtoA"},
                                                    {CopyKind::array_to_device, "AtoD"},
                                                    {CopyKind::device_to_array, "DtoA"},
                                                    {CopyKind::device_to_device, "DtoD"},
                                                    {CopyKind::host_to_host, "HtoH"},
                                                    {CopyKind::peer_to_peer, "PtoP"}}};

struct NamedMemoryKind {
  MemoryKind kind;
  std::string_view name;
};

// By CUpti_ActivityMemoryKind.
constexpr std::array<NamedMemoryKind, 8> kMemoryKinds{{{MemoryKind::unknown, "Unknown"},
                                                       {MemoryKind::pageable, "Pageable"},
                                                       {MemoryKind::pinned, "Pinned"},
                                                       {MemoryKind::device, "Device"},
                                                       {MemoryKind::array, "Array"},
                                                       {MemoryKind::managed, "Managed"},
                                                       {MemoryKind::device_static, "Device Static"},
                                                       {MemoryKind::managed, "Managed Static"}}};

// By CUpti_ActivitySynchronizationType.
constexpr std::array<SyncKind, 5> kSyncKinds{SyncKind::unknown, SyncKind::event,
                                             SyncKind::stream_wait_event, SyncKind::stream,
                                             SyncKind::context};

// By CUpti_ActivityStreamFlag.
constexpr std::array<StreamKind, 4> kStreamKinds{StreamKind::unknown, StreamKind::blocking,
                                                 StreamKind::non_blocking, StreamKind::null_stream};

// By CUpti_ActivityMemoryPoolOperationType.
constexpr std::array<PoolOperation, 4> kPoolOperations{
    PoolOperation::unknown, PoolOperation::created, PoolOperation::destroyed,
    PoolOperation::trimmed};

// By CUpti_ActivityUnifiedMemoryCounterKind.
constexpr std::array<MigrationKind, 9> kMigrations{
    MigrationKind::unknown,    MigrationKind::host_to_device, MigrationKind::device_to_host,
    MigrationKind::cpu_fault,  MigrationKind::gpu_fault,      MigrationKind::thrashing,
    MigrationKind::throttling, MigrationKind::remote_map,     MigrationKind::device_to_device};

// CUpti_ActivityOverheadKind counts in its upper half, but for the driver's compiler.
constexpr std::uint32_t kDriverCompiler = 1;
constexpr std::array<std::string_view, 9> kOverheads{
    "unknown",          "CUPTI buffer flush",    "CUPTI instrumentation", "CUPTI resource",
    "module loading",   "lazy function loading", "command buffer full",   "activity buffer request",
    "UVM activity init"};

// By CUgraphNodeType.
constexpr std::array<std::string_view, 14> kGraphNodeTypes{"kernel",
                                                           "memcpy",
                                                           "memset",
                                                           "host",
                                                           "graph",
                                                           "empty",
                                                           "wait_event",
                                                           "event_record",
                                                           "semaphores_signal",
                                                           "semaphores_wait",
                                                           "mem_alloc",
                                                           "mem_free",
                                                           "batch_mem_op",
                                                           "conditional"};

/// The entry of a table; its first where the number is none we know.
template <typename Table>
const auto& entry(const Table& table, std::uint32_t number) {
  return table[number < table.size() ? number : 0];
}

}  // namespace

CopyKind copy_kind_of(std::uint8_t cupti_kind) {
  return entry(kCopyKinds, cupti_kind).kind;
}

MemoryKind memory_kind_of(std::uint8_t cupti_kind) {
  return entry(kMemoryKinds, cupti_kind).kind;
}

SyncKind sync_kind_of(std::uint32_t cupti_type) {
  return entry(kSyncKinds, cupti_type);
}

StreamKind stream_kind_of(std::uint32_t cupti_flag) {
  return entry(kStreamKinds, cupti_flag);
}

PoolOperation pool_operation_of(std::uint32_t cupti_type) {
  return entry(kPoolOperations, cupti_type);
}

MigrationKind migration_kind_of(std::uint32_t cupti_counter) {
  return entry(kMigrations, cupti_counter);
}

bool is_release(std::uint32_t cupti_type) {
  constexpr std::uint32_t kRelease = 2;  // CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
  return cupti_type == kRelease;
}

std::string copy_name(std::uint8_t cupti_kind, std::uint8_t source_memory,
                      std::uint8_t target_memory) {
  return fmt::format("Memcpy {} ({} -> {})", entry(kCopyKinds, cupti_kind).name,
                     entry(kMemoryKinds, source_memory).name,
                     entry(kMemoryKinds, target_memory).name);
}

std::string fill_name(std::uint8_t memory) {
  return fmt::format("Memset ({})", entry(kMemoryKinds, memory).name);
}

std::string overhead_name(std::uint32_t cupti_kind) {
  if (cupti_kind == kDriverCompiler) return "driver compiler";
  const std::uint32_t number = cupti_kind >> 16;
  const bool known = (cupti_kind & 0xffffU) == 0 && number < kOverheads.size();
  return known ? std::string(kOverheads[number]) : fmt::format("kind {}", cupti_kind);
}

std::string graph_node_type_name(std::uint32_t cuda_type) {
  return cuda_type < kGraphNodeTypes.size() ? std::string(kGraphNodeTypes[cuda_type])
                                            : fmt::format("type {}", cuda_type);
}

}  // namespace gprofml::profile
