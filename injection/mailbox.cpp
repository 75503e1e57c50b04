#include "injection/mailbox.hpp"

#include <cstring>

namespace gprofml::injection {

void Mailbox::fact(const char* key, const char* value, std::size_t value_bytes) {
  post(true, key, value, value_bytes, 0);
}

void Mailbox::fact(const char* key, const char* value) {
  fact(key, value, std::strlen(value));
}

void Mailbox::note(const char* code, const char* detail, std::uint64_t count) {
  post(false, code, detail, std::strlen(detail), count);
}

void Mailbox::post(bool is_fact, const char* key, const char* value, std::size_t value_bytes,
                   std::uint64_t count) {
  const std::size_t bytes =
      (sizeof(Message) + value_bytes + alignof(Message)) & ~(alignof(Message) - 1);
  if (bytes > kRoom) return;
  const std::size_t at = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (at > kRoom - bytes) return;
  auto* message = reinterpret_cast<Message*>(room_ + at);
  message->is_fact = is_fact;
  message->count = count;
  std::strncpy(message->key, key, sizeof message->key - 1);
  message->value = reinterpret_cast<char*>(message + 1);
  message->value_bytes = value_bytes;
  std::memcpy(message->value, value, value_bytes);
  message->value[value_bytes] = '\0';
  message->next = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(message->next, message, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

Message* Mailbox::take_all() {
  Message* newest = newest_.exchange(nullptr, std::memory_order_acquire);
  Message* oldest = nullptr;
  while (newest != nullptr) {
    Message* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

}  // namespace gprofml::injection
