// What programs register with NVTX before they use it: layouts of payloads, enumerations, counters.
//
//   oldest ──► … ──► newest        each is published once, complete, and never changes
//
// Registering is rare and may lock and take memory. The writer follows the list and writes what is
// new before it writes an event, so that a registration stands in the spool before its first use.
// Nothing is ever given back: an event that is not written yet may need it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injection/names.hpp"
#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

struct Registration {
  enum class Kind : std::uint8_t { schema, counter, string };

  std::atomic<Registration*> next;
  Kind kind;
  const Domain* domain;  ///< of a string: none
};

/// A schema or an enumeration. Fields that name Strings are empty in `record` and `entries`: the
/// texts stand beside.
struct SchemaRegistration : Registration {
  struct Texts {
    const RegisteredString* name;
    const RegisteredString* description;
    const RegisteredString* unit;
  };
  const RegisteredString* name;
  spool::PayloadSchema record;
  spool::PayloadEntry* entries;
  Texts* texts;  ///< one an entry
};

struct CounterRegistration : Registration {
  const RegisteredString* name;
  const RegisteredString* description;
  const RegisteredString* unit;
  spool::Counter record;
  std::uint64_t time_domain;  ///< of time stamps that the program gives; 0: not said
};

struct StringRegistration : Registration {
  const RegisteredString* text;
};

/// Entries of a schema beyond these are left out.
inline constexpr std::size_t kMostSchemaEntries = 256;

/// Memory for a registration, zeroed; nullptr when registrations have taken too much already.
void* registration_memory(std::size_t bytes);
template <class Made>
Made* new_registration(Registration::Kind kind, const Domain* domain) {
  auto* made = static_cast<Made*>(registration_memory(sizeof(Made)));
  if (made == nullptr) return nullptr;
  made->kind = kind;
  made->domain = domain;
  return made;
}

void publish(Registration& registration);

/// Stands before the first registration.
Registration& before_registrations();

/// The counter or schema with this id, of the last registration of it; nullptr: none.
const CounterRegistration* find_counter(const Domain& domain, std::uint64_t id);
const SchemaRegistration* find_schema(const Domain& domain, std::uint64_t id);

/// In a forked child, whose parent's other threads may have been registering.
void reset_registrations_lock();

}  // namespace gprofml::injection
