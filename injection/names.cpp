#include "injection/names.hpp"

#include <pthread.h>

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

// Each arena is twice as large as the one before, so that few hold all there will ever be.
constexpr std::size_t kFirstArenaBytes = 256 * 1024;
constexpr std::size_t kMostArenas = 24;
constexpr std::uint64_t kDomainMagic = 0x9d3c6f51a2e80b47;
constexpr std::uint64_t kStringMagic = 0x5be1947d30c8f2a9;

struct Arena {
  std::uintptr_t begin;
  std::size_t bytes;
};
// Append-only: an entry is complete before it counts, and never changes.
Arena arenas[kMostArenas];
std::atomic<std::size_t> arena_count{0};

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
std::size_t arena_used = 0;  ///< of the newest one
std::uint32_t next_domain = 1;

/// Memory that is never given back. Called with the lock held; `bytes` is far below an arena.
void* allocate(std::size_t bytes) {
  bytes = (bytes + 7) & ~std::size_t{7};
  std::size_t count = arena_count.load(std::memory_order_relaxed);
  if (count == 0 || arena_used + bytes > arenas[count - 1].bytes) {
    if (count == kMostArenas) return nullptr;
    const std::size_t arena_bytes = kFirstArenaBytes << count;
    void* fresh = map_memory(arena_bytes);
    if (fresh == nullptr) return nullptr;
    arenas[count] = {reinterpret_cast<std::uintptr_t>(fresh), arena_bytes};
    arena_used = 0;
    arena_count.store(++count, std::memory_order_release);
  }
  void* memory = reinterpret_cast<void*>(arenas[count - 1].begin + arena_used);
  arena_used += bytes;
  return memory;
}

/// Has the address in it: no text that a program registers reads like the begin of an object.
std::uint64_t seal_at(const void* object, std::uint64_t magic) {
  return reinterpret_cast<std::uintptr_t>(object) ^ magic;
}

template <class Object>
const Object* find(const void* handle, std::uint64_t magic) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  if (address % alignof(Object) != 0) return nullptr;
  // Newest first: it is at least as large as all others together.
  for (std::size_t at = arena_count.load(std::memory_order_acquire); at-- > 0;) {
    const Arena& arena = arenas[at];
    if (address - arena.begin > arena.bytes - sizeof(Object)) continue;
    const auto* object = static_cast<const Object*>(handle);
    const bool is_one = object->seal.load(std::memory_order_acquire) == seal_at(handle, magic);
    return is_one ? object : nullptr;
  }
  return nullptr;
}

}  // namespace

Domain default_domain{{0}, 0, 0, {}};

Domain* make_domain(const char* name, std::size_t bytes) {
  pthread_mutex_lock(&registry_lock);
  auto* domain = static_cast<Domain*>(allocate(sizeof(Domain) + bytes));
  if (domain != nullptr) {
    domain->id = next_domain++;
    domain->name_bytes = static_cast<std::uint32_t>(bytes);
    if (bytes > 0) std::memcpy(domain->name, name, bytes);
    domain->seal.store(seal_at(domain, kDomainMagic), std::memory_order_release);
  }
  pthread_mutex_unlock(&registry_lock);
  return domain;
}

RegisteredString* make_registered_string(const char* text, std::size_t bytes) {
  pthread_mutex_lock(&registry_lock);
  auto* string = static_cast<RegisteredString*>(allocate(sizeof(RegisteredString) + bytes));
  if (string != nullptr) {
    string->bytes = static_cast<std::uint32_t>(bytes);
    if (bytes > 0) std::memcpy(string->text, text, bytes);
    string->seal.store(seal_at(string, kStringMagic), std::memory_order_release);
  }
  pthread_mutex_unlock(&registry_lock);
  return string;
}

const Domain* find_domain(const void* handle) {
  return find<Domain>(handle, kDomainMagic);
}

const RegisteredString* find_registered_string(const void* handle) {
  return find<RegisteredString>(handle, kStringMagic);
}

void* registry_memory(std::size_t bytes) {
  pthread_mutex_lock(&registry_lock);
  void* memory = allocate(bytes);
  pthread_mutex_unlock(&registry_lock);
  return memory;
}

void reset_name_registry_lock() {
  registry_lock = PTHREAD_MUTEX_INITIALIZER;
}

}  // namespace gprofml::injection
