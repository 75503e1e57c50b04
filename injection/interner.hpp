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
  struct Interned {
    std::uint32_t id;
    bool is_new;       ///< nobody has asked for it since the table was emptied
    const char* text;  ///< kept until the table is emptied, a NUL behind it
  };
  /// The number of `bytes`. Numbers start at `first`, which is not 0; all zero when there is no
  /// memory.
  Interned intern(const void* data, std::size_t bytes);

  /// How often the table was emptied.
  std::uint32_t generation() const { return generation_; }

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
  std::uint32_t generation_ = 0;
};

}  // namespace gprofml::injection
