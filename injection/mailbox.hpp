// Facts and notes from any thread to the writer: a lock-free list over memory set aside at the
// start. They are few; when the memory is used up further ones are dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

struct Message {
  Message* next;
  bool is_fact;  ///< else a note
  std::uint64_t count;
  char key[72];  ///< a note's code
  std::size_t value_bytes;
  char* value;  ///< a note's detail; ends with NUL
};

class Mailbox {
 public:
  void fact(const char* key, const char* value, std::size_t value_bytes);
  void fact(const char* key, const char* value);
  void note(const char* code, const char* detail, std::uint64_t count = 1);

  /// All that came since the last call, oldest first. The writer's alone.
  Message* take_all();

 private:
  void post(bool is_fact, const char* key, const char* value, std::size_t value_bytes,
            std::uint64_t count);

  static constexpr std::size_t kRoom = std::size_t{128} * 1024;
  std::atomic<Message*> newest_{nullptr};
  std::atomic<std::size_t> used_{0};
  alignas(Message) unsigned char room_[kRoom];
};

}  // namespace gprofml::injection
