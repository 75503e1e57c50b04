#include "injection/registrations.hpp"

#include <pthread.h>

namespace gprofml::injection {
namespace {

// A program that registers anew in each step must not eat up its memory.
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

std::atomic<std::size_t> taken{0};
pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
Registration first{};
Registration* last = &first;

bool is_of(const Domain* registered, const Domain& domain) {
  return registered != nullptr && registered->id == domain.id;
}

}  // namespace

void* registration_memory(std::size_t bytes) {
  if (taken.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostBytes) return nullptr;
  return registry_memory(bytes);
}

void publish(Registration& registration) {
  pthread_mutex_lock(&list_lock);
  last->next.store(&registration, std::memory_order_release);
  last = &registration;
  pthread_mutex_unlock(&list_lock);
}

Registration& before_registrations() {
  return first;
}

const CounterRegistration* find_counter(const Domain& domain, std::uint64_t id) {
  const CounterRegistration* found = nullptr;
  for (const Registration* at = first.next.load(std::memory_order_acquire); at != nullptr;
       at = at->next.load(std::memory_order_acquire)) {
    if (at->kind != Registration::Kind::counter || !is_of(at->domain, domain)) continue;
    const auto* counter = static_cast<const CounterRegistration*>(at);
    if (counter->record.id == id) found = counter;
  }
  return found;
}

const SchemaRegistration* find_schema(const Domain& domain, std::uint64_t id) {
  const SchemaRegistration* found = nullptr;
  for (const Registration* at = first.next.load(std::memory_order_acquire); at != nullptr;
       at = at->next.load(std::memory_order_acquire)) {
    if (at->kind != Registration::Kind::schema || !is_of(at->domain, domain)) continue;
    const auto* schema = static_cast<const SchemaRegistration*>(at);
    if (schema->record.id == id) found = schema;
  }
  return found;
}

void reset_registrations_lock() {
  list_lock = PTHREAD_MUTEX_INITIALIZER;
}

}  // namespace gprofml::injection
