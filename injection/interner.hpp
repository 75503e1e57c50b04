// Text to number, number to nothing: the dictionaries of the spool as its writer sees them.
//
// An open-addressed table over text copied into mapped memory. When the text outgrows its limit
// (a program that numbers its ranges makes a new name each time) the table is emptied and starts
// over: numbers go on, a name may then be written twice, memory stays bounded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

std::uint64_t hash_bytes(const void* data, std::size_t bytes);

class Interner {
 public:
  /// The number of `bytes`; `is_new` when nobody has asked for it since the table was emptied.
  /// Numbers start at `first`. 0 with `is_new` unset when there is no memory.
  std::uint32_t intern(const void* data, std::size_t bytes, bool& is_new);

  explicit Interner(std::uint32_t first) : next_(first) {}

 private:
  struct Entry {
    std::uint64_t hash;
    const unsigned char* bytes;  ///< nullptr: free
    std::uint32_t size;
    std::uint32_t id;
  };

  bool make_room(std::size_t bytes);
  bool grow();
  void clear();
  Entry* find(std::uint64_t hash, const void* data, std::size_t bytes) const;

  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t count_ = 0;
  unsigned char* text_ = nullptr;
  std::size_t text_used_ = 0;
  std::uint32_t next_;
};

}  // namespace gprofml::injection
