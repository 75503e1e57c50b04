// NVTX domains and registered strings: objects whose address is the handle that the program keeps.
// They live until the process ends, since a handle may stand in an event that is not written yet.
// A program may hand in anything as a handle, so handles are looked up before they are followed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

struct Domain {
  std::atomic<std::uint64_t> seal;  ///< what find_domain() knows it by, set last
  std::uint32_t id;                 ///< 0: the default domain
  std::uint32_t name_bytes;
  char name[1];  ///< as long as it is
};

struct RegisteredString {
  std::atomic<std::uint64_t> seal;  ///< what find_registered_string() knows it by, set last
  std::uint32_t bytes;
  char text[1];  ///< as long as it is
};

/// Push/pop nesting is followed for this many domains; events of further ones count as lost.
inline constexpr std::uint32_t kMostDomains = 1024;

extern Domain default_domain;

/// nullptr when there is no memory.
Domain* make_domain(const char* name, std::size_t bytes);
RegisteredString* make_registered_string(const char* text, std::size_t bytes);

/// What the handle stands for; nullptr when it is none that the functions above have returned.
/// Takes no lock, and follows the handle only into memory of ours.
const Domain* find_domain(const void* handle);
const RegisteredString* find_registered_string(const void* handle);

/// Zeroed memory that lives as long; `bytes` is far below 256 KiB.
void* registry_memory(std::size_t bytes);

/// In a forked child, whose parent's other threads may have held the registry's lock.
void reset_name_registry_lock();

}  // namespace gprofml::injection
