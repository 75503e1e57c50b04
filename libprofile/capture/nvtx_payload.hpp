// NVTX payloads: bytes that a program attached to a range or sampled as a counter, and the layouts
// (schemas, enumerations) by which they are to be read.
//
// Layouts and bytes come from the recorded program and are believed in nothing: lengths, offsets,
// references of layouts to each other and themselves. Whatever does not fit is counted and left
// out. The rules are those of NVIDIA's nvToolsExtPayload.h (compatibility ids 0x0103 and 0x0104),
// sizes those of 64-bit Linux.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gprofml::profile {

struct PayloadField {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;    ///< of an enumeration: a value
  std::uint64_t detail = 0;  ///< length, or the field that holds it
  std::uint64_t offset = 0;
  std::string name;
  std::string description;
  std::string unit;
};

struct PayloadLayout {
  std::uint64_t static_bytes = 0;  ///< 0: not said
  std::uint32_t type = 0;          ///< as in spool::PayloadSchema
  std::uint32_t pack_align = 0;    ///< 0: natural alignment
  std::string name;
  std::vector<PayloadField> fields;
};

/// What a value is to the range that it is attached to.
enum class PayloadRole : std::uint8_t { plain, message, category, color, time };

struct PayloadValue {
  std::string key;   ///< names of nested layouts joined by dots: "tensor.shape"
  std::string text;  ///< numbers in decimal, lists as "[1, 2]", addresses and raw bytes as "0x…"
  PayloadRole role = PayloadRole::plain;
  std::optional<double> number;         ///< where it is one
  std::optional<std::int64_t> integer;  ///< where it is one that fits
  const PayloadField* field = nullptr;  ///< nullptr: a payload of a predefined type
};

class PayloadLayouts {
 public:
  /// A layout replaces an earlier one of the same id; of registered strings all hold.
  void set(std::uint32_t domain, std::uint64_t id, PayloadLayout layout);

  /// Appends the values that `bytes` hold to `values`. `expand_arrays`: each number of an array is
  /// a value, "key[3]". Returns how many values could not be read: of layouts that are not known,
  /// are not supported (unions, pointers) or contradict themselves, or that lie beyond the bytes.
  std::int64_t decode(std::uint32_t domain, std::uint64_t schema, std::string_view bytes,
                      bool expand_arrays, std::vector<PayloadValue>& values) const;

  /// nullptr: never registered.
  const PayloadLayout* find(std::uint32_t domain, std::uint64_t id) const;
  const std::string* string_of(std::uint64_t handle) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, PayloadLayout> layouts_;
  std::unordered_map<std::uint64_t, std::string> strings_;  // by handle
};

}  // namespace gprofml::profile
