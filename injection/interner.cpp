#include "injection/interner.hpp"

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr std::size_t kTextBytes = 32u << 20;  // reserved; pages cost memory as they are used
constexpr std::size_t kFirstCapacity = 4096;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t product = a * b;
  return product ^ (product >> 32);
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
  while (bytes >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    hash = mix(hash ^ word, 0xd6e8feb86659fd93u);
    at += 8;
    bytes -= 8;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, at, bytes);
  return mix(hash ^ rest, 0xa0761d6478bd642fu) | 1u;
}

Interner::Entry* Interner::find(std::uint64_t hash, const void* data, std::size_t bytes) const {
  std::size_t slot = hash & (capacity_ - 1);
  for (;; slot = (slot + 1) & (capacity_ - 1)) {
    Entry& entry = entries_[slot];
    if (entry.bytes == nullptr) return &entry;
    if (entry.hash == hash && entry.size == bytes && std::memcmp(entry.bytes, data, bytes) == 0) {
      return &entry;
    }
  }
}

bool Interner::grow() {
  const std::size_t before = capacity_;
  Entry* old = entries_;
  const std::size_t capacity = before == 0 ? kFirstCapacity : before * 2;
  auto* entries = static_cast<Entry*>(map_memory(capacity * sizeof(Entry)));
  if (entries == nullptr) return false;
  entries_ = entries;
  capacity_ = capacity;
  for (std::size_t slot = 0; slot < before; ++slot) {
    if (old[slot].bytes != nullptr) {
      *find(old[slot].hash, old[slot].bytes, old[slot].size) = old[slot];
    }
  }
  if (old != nullptr) unmap_memory(old, before * sizeof(Entry));
  return true;
}

void Interner::clear() {
  std::memset(entries_, 0, capacity_ * sizeof(Entry));
  count_ = 0;
  text_used_ = 0;
  ++generation_;
}

bool Interner::make_room(std::size_t bytes) {
  if (text_ == nullptr) text_ = static_cast<unsigned char*>(map_memory(kTextBytes));
  if (text_ == nullptr || bytes > kTextBytes) return false;
  if (capacity_ != 0 && text_used_ + bytes > kTextBytes) clear();
  return count_ * 2 < capacity_ || grow();
}

Interner::Interned Interner::intern(const void* data, std::size_t bytes) {
  if (!make_room(bytes + 1)) return {};
  const std::uint64_t hash = hash_bytes(data, bytes);
  Entry* entry = find(hash, data, bytes);
  const bool is_new = entry->bytes == nullptr;
  if (is_new) {
    unsigned char* copy = text_ + text_used_;
    std::memcpy(copy, data, bytes);
    copy[bytes] = 0;
    text_used_ += bytes + 1;
    *entry = {hash, copy, static_cast<std::uint32_t>(bytes), next_++};
    ++count_;
  }
  return {entry->id, is_new, reinterpret_cast<const char*>(entry->bytes)};
}

}  // namespace gprofml::injection
