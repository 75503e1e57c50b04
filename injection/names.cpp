#include "injection/names.hpp"

#include <pthread.h>

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned char* block = nullptr;
std::size_t block_used = kBlockBytes;
std::uint32_t next_domain = 1;

/// Memory that is never given back. Called with the lock held; `bytes` is far below a block.
void* allocate(std::size_t bytes) {
  bytes = (bytes + 7) & ~std::size_t{7};
  if (block_used + bytes > kBlockBytes) {
    auto* fresh = static_cast<unsigned char*>(map_memory(kBlockBytes));
    if (fresh == nullptr) return nullptr;
    block = fresh;
    block_used = 0;
  }
  void* memory = block + block_used;
  block_used += bytes;
  return memory;
}

}  // namespace

Domain default_domain{0, 0, {}};

Domain* make_domain(const char* name, std::size_t bytes) {
  pthread_mutex_lock(&registry_lock);
  auto* domain = static_cast<Domain*>(allocate(sizeof(Domain) + bytes));
  if (domain != nullptr) {
    domain->id = next_domain++;
    domain->name_bytes = static_cast<std::uint32_t>(bytes);
    std::memcpy(domain->name, name, bytes);
  }
  pthread_mutex_unlock(&registry_lock);
  return domain;
}

RegisteredString* make_registered_string(const char* text, std::size_t bytes) {
  pthread_mutex_lock(&registry_lock);
  auto* string = static_cast<RegisteredString*>(allocate(sizeof(RegisteredString) + bytes));
  if (string != nullptr) {
    string->bytes = static_cast<std::uint32_t>(bytes);
    std::memcpy(string->text, text, bytes);
  }
  pthread_mutex_unlock(&registry_lock);
  return string;
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
