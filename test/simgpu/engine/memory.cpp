#include "test/simgpu/engine/memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>

#include "test/simgpu/engine/migration.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {
namespace {

constexpr std::uint64_t kAlignment = 512;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBase = 0x2000'0000'0000;    // free in every process, also under ASan
constexpr std::uint64_t kStride = 0x0100'0000'0000;  // 1 TiB from one stretch to the next
constexpr std::uint64_t kHostBytes = std::uint64_t{256} << 30U;

/// One reserved stretch of addresses with a first-fit list of its free parts.
class Arena {
 public:
  Arena(std::uint64_t index, std::uint64_t bytes) {
    void* wanted = reinterpret_cast<void*>(kBase + index * kStride);
    void* base = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) {
      free_[reinterpret_cast<std::uint64_t>(base)] = bytes;
    }
  }

  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t wanted = rounded(bytes);
    for (auto part = free_.begin(); part != free_.end(); ++part) {
      if (part->second >= wanted) {
        const auto [base, available] = *part;
        free_.erase(part);
        if (available > wanted) {
          free_[base + wanted] = available - wanted;
        }
        return base;
      }
    }
    return 0;
  }

  void give_back(std::uint64_t base, std::uint64_t bytes) {
    const std::uint64_t size = rounded(bytes);
    clear(base, size);
    auto next = free_.lower_bound(base);
    std::uint64_t end = base + size;
    if (next != free_.end() && next->first == end) {
      end += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == base) {
        previous->second = end - previous->first;
        return;
      }
    }
    free_[base] = end - base;
  }

  static std::uint64_t rounded(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  /// Zero again, and the pages back to the system.
  static void clear(std::uint64_t base, std::uint64_t bytes) {
    const std::uint64_t first_page = (base + kPage - 1) / kPage * kPage;
    const std::uint64_t last_page = (base + bytes) / kPage * kPage;
    if (last_page <= first_page) {
      std::memset(reinterpret_cast<void*>(base), 0, bytes);
      return;
    }
    std::memset(reinterpret_cast<void*>(base), 0, first_page - base);
    madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED);
    std::memset(reinterpret_cast<void*>(last_page), 0, base + bytes - last_page);
  }

  std::map<std::uint64_t, std::uint64_t> free_;  // base to size
};

Arena& device_arena(const Device& device) {
  static auto* arenas = new std::map<std::uint32_t, Arena>;
  return arenas->try_emplace(device.ordinal, device.ordinal + 2, device.model.memory_bytes)
      .first->second;
}

Arena& host_arena(Memory kind) {
  static auto* pinned = new Arena(0, kHostBytes);
  static auto* managed = new Arena(1, kHostBytes);
  return kind == Memory::managed ? *managed : *pinned;
}

std::map<std::uint64_t, Allocation>& allocations() {
  static auto* all = new std::map<std::uint64_t, Allocation>;
  return *all;
}

Allocation& add(std::uint64_t base, std::uint64_t bytes, Memory kind, Context* context) {
  static std::uint64_t count = 0;
  Allocation& made = allocations()[base];
  made.base = base;
  made.bytes = bytes;
  made.kind = kind;
  made.context = context;
  made.device = context != nullptr ? context->device->ordinal : 0;
  made.id = ++count;
  return made;
}

}  // namespace

std::uint64_t allocate_device(Device& device, Context* context, std::uint64_t bytes,
                              MemoryPool* pool) {
  const std::uint64_t size = Arena::rounded(bytes);
  if (bytes == 0 || size < bytes || device.used_bytes + size > device.model.memory_bytes ||
      device.used_bytes + size < size) {
    return 0;
  }
  const std::uint64_t base = device_arena(device).take(bytes);
  if (base != 0) {
    Allocation& made = add(base, bytes, Memory::device, context);
    made.device = device.ordinal;
    made.pool = pool;
    device.used_bytes += size;
    if (pool != nullptr) {
      pool->used += size;
      pool->used_high = std::max(pool->used_high, pool->used);
      pool->reserved = std::max(pool->reserved, pool->used);
      pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    }
  }
  return base;
}

std::uint64_t allocate_variable(Device& device, Context* context, std::uint64_t bytes) {
  const std::uint64_t base = allocate_device(device, context, bytes);
  if (Allocation* made = allocation_at(base); made != nullptr) {
    made->kind = Memory::device_static;
  }
  return base;
}

std::uint64_t allocate_host(Memory kind, Context* context, std::uint64_t bytes, unsigned flags) {
  if (bytes == 0 || Arena::rounded(bytes) < bytes) {
    return 0;
  }
  const std::uint64_t base = host_arena(kind).take(bytes);
  if (base != 0) {
    add(base, bytes, kind, context).flags = flags;
  }
  return base;
}

CUresult register_host(std::uint64_t base, std::uint64_t bytes, Context* context, unsigned flags) {
  if (base == 0 || bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto after = allocations().lower_bound(base);
  if ((after != allocations().end() && after->first < base + bytes) ||
      allocation_of(base) != nullptr) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  Allocation& made = add(base, bytes, Memory::pinned, context);
  made.flags = flags;
  made.registered = true;
  return CUDA_SUCCESS;
}

std::uint64_t rounded_allocation(std::uint64_t bytes) {
  return Arena::rounded(bytes);
}

Allocation* allocation_at(std::uint64_t base) {
  const auto found = allocations().find(base);
  return found != allocations().end() ? &found->second : nullptr;
}

Allocation* allocation_of(std::uint64_t address) {
  auto found = allocations().upper_bound(address);
  if (found == allocations().begin()) {
    return nullptr;
  }
  --found;
  return address - found->first < found->second.bytes ? &found->second : nullptr;
}

void release_allocation(Allocation* allocation) {
  const Allocation gone = *allocation;
  allocations().erase(gone.base);
  if (gone.registered) {
    return;
  }
  if (gone.kind == Memory::device || gone.kind == Memory::device_static) {
    Device& device = process_devices()[gone.device];
    device.used_bytes -= Arena::rounded(gone.bytes);
    device_arena(device).give_back(gone.base, gone.bytes);
    if (gone.pool != nullptr) {
      gone.pool->used -= Arena::rounded(gone.bytes);
      if (gone.pool->used < gone.pool->reserved &&
          gone.pool->release_threshold < gone.pool->reserved) {
        gone.pool->reserved = std::max(gone.pool->used, gone.pool->release_threshold);
      }
    }
  } else {
    forget_migration(gone.base);
    host_arena(gone.kind).give_back(gone.base, gone.bytes);
  }
}

void release_allocations_of(const Context* context) {
  std::vector<std::uint64_t> gone;
  for (const auto& [base, allocation] : allocations()) {
    if (allocation.context == context) {
      gone.push_back(base);
    }
  }
  for (const std::uint64_t base : gone) {
    release_allocation(allocation_at(base));
  }
}

Memory memory_kind(std::uint64_t address) {
  const Allocation* allocation = allocation_of(address);
  return allocation != nullptr ? allocation->kind : Memory::pageable;
}

}  // namespace gprofml::simgpu
