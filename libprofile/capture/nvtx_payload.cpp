#include "libprofile/capture/nvtx_payload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "libprofile/spool/format.hpp"

namespace gprofml::profile {
namespace {

// nvToolsExtPayload.h, whose names these are; the header is not needed to build.
enum Type : std::uint64_t {
  kChar = 1,
  kUChar = 2,
  kShort = 3,
  kUShort = 4,
  kInt = 5,
  kUInt = 6,
  kLong = 7,
  kULong = 8,
  kLongLong = 9,
  kULongLong = 10,
  kInt8 = 11,
  kUInt8 = 12,
  kInt16 = 13,
  kUInt16 = 14,
  kInt32 = 15,
  kUInt32 = 16,
  kInt64 = 17,
  kUInt64 = 18,
  kFloat = 19,
  kDouble = 20,
  kLongDouble = 21,
  kSize = 22,
  kAddress = 23,
  kWChar = 24,
  kChar8 = 25,
  kChar16 = 26,
  kChar32 = 27,
  kByte = 32,
  kInt128 = 33,
  kUInt128 = 34,
  kFloat16 = 42,
  kFloat32 = 43,
  kFloat64 = 44,
  kFloat128 = 45,
  kBf16 = 50,
  kTf32 = 52,
  kCategory = 68,
  kColor = 69,
  kScope = 70,
  kPid32 = 71,
  kPid64 = 72,
  kTid32 = 73,
  kTid64 = 74,
  kCString = 75,
  kCStringUtf8 = 76,
  kCStringUtf16 = 77,
  kCStringUtf32 = 78,
  kStringHandle = 80,
  kReferenced = 1022,
  kRaw = 1023,
};

constexpr std::uint64_t kIndirect = 1 << 1 | 1 << 2 | 1 << 3;  // pointers and offsets
enum class Extent : std::uint64_t {
  scalar,
  fixed,
  zero_terminated,
  length_in_field,
  length_in_payload
};
Extent extent_of(std::uint64_t flags) {
  return static_cast<Extent>(flags >> 4 & 7);
}
constexpr std::uint64_t kMessage = 1;
constexpr std::uint64_t kTimestamp = 2;

constexpr std::uint32_t kStatic = 1;
constexpr std::uint32_t kDynamic = 2;

// Bounds on what a payload may cost: a layout may refer to others many times over.
constexpr int kDeepest = 8;
constexpr int kMostSteps = 100'000;
constexpr std::size_t kMostValues = 512;
constexpr std::size_t kMostBytes = 64 * 1024;

struct Shape {
  std::size_t bytes = 0;
  std::size_t align = 1;
};

std::optional<Shape> shape_of_type(std::uint64_t type) {
  const auto same = [](std::size_t bytes) { return Shape{bytes, bytes}; };
  switch (type) {
    case kChar:
    case kUChar:
    case kInt8:
    case kUInt8:
    case kChar8:
    case kByte:
    case kCString:
    case kCStringUtf8:
      return same(1);
    case kShort:
    case kUShort:
    case kInt16:
    case kUInt16:
    case kChar16:
    case kFloat16:
    case kBf16:
    case kCStringUtf16:
      return same(2);
    case kInt:
    case kUInt:
    case kInt32:
    case kUInt32:
    case kFloat:
    case kFloat32:
    case kTf32:
    case kWChar:
    case kChar32:
    case kCategory:
    case kColor:
    case kPid32:
    case kTid32:
    case kCStringUtf32:
      return same(4);
    case kLong:
    case kULong:
    case kLongLong:
    case kULongLong:
    case kInt64:
    case kUInt64:
    case kDouble:
    case kFloat64:
    case kSize:
    case kAddress:
    case kScope:
    case kPid64:
    case kTid64:
    case kStringHandle:
      return same(8);
    case kLongDouble:
    case kInt128:
    case kUInt128:
    case kFloat128:
      return same(16);
    default:
      return std::nullopt;
  }
}

bool is_string(std::uint64_t type) {
  return type >= kCString && type <= kCStringUtf32;
}

/// Types of which an array is text.
bool is_character(std::uint64_t type) {
  return type == kChar || type == kChar8 || type == kChar16 || type == kChar32 || type == kWChar ||
         is_string(type);
}

std::uint64_t unsigned_at(std::string_view bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

std::int64_t signed_at(std::string_view bytes) {
  const std::uint64_t value = unsigned_at(bytes);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 8));
  return unused >= 64 ? 0 : static_cast<std::int64_t>(value << unused) >> static_cast<int>(unused);
}

template <class Number>
Number number_at(std::string_view bytes) {
  Number value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

double half_at(std::string_view bytes) {
  const auto bits = static_cast<unsigned>(unsigned_at(bytes));
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

float bf16_at(std::string_view bytes) {
  const auto bits = static_cast<std::uint32_t>(unsigned_at(bytes)) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text = "0x";
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// As one number, the first byte being its lowest.
std::string hexadecimal_number(std::string_view bytes) {
  return hexadecimal(std::string(bytes.rbegin(), bytes.rend()));
}

void append_utf8(std::uint32_t code, std::string& text) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | (code >> shift & 63)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// The length of the UTF-8 character at the start of `bytes`; 0: there is none.
std::size_t character_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t length = at(0) < 0x80    ? 1
                             : at(0) < 0xc2  ? 0
                             : at(0) < 0xe0  ? 2
                             : at(0) < 0xf0  ? 3
                             : at(0) <= 0xf4 ? 4
                                             : 0;
  if (length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond the last character.
  if (length == 3 && ((at(0) == 0xe0 && at(1) < 0xa0) || (at(0) == 0xed && at(1) >= 0xa0)))
    return 0;
  if (length == 4 && ((at(0) == 0xf0 && at(1) < 0x90) || (at(0) == 0xf4 && at(1) >= 0x90)))
    return 0;
  return length;
}

/// Text up to its zero, made UTF-8; `width` is bytes a unit.
std::string text_of(std::string_view bytes, std::size_t width) {
  std::string text;
  std::uint32_t high = 0;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    const auto unit = static_cast<std::uint32_t>(unsigned_at(bytes.substr(at, width)));
    if (unit == 0) break;
    if (width == 1) {
      const std::size_t length = character_length(bytes.substr(at));
      if (length == 0) {
        append_utf8(0xfffd, text);
      } else {
        text.append(bytes.substr(at, length));
        at += length - 1;
      }
    } else if (width == 2 && unit >= 0xd800 && unit < 0xdc00) {
      high = unit;
    } else if (width == 2 && high != 0 && unit >= 0xdc00 && unit < 0xe000) {
      append_utf8(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00), text);
      high = 0;
    } else {
      append_utf8(unit, text);
    }
  }
  return text;
}

/// One decoding: walks a payload by its layout and collects what it finds.
class Decoder {
 public:
  Decoder(const PayloadLayouts& layouts, std::uint32_t domain, bool expand_arrays,
          std::vector<PayloadValue>& values)
      : layouts_(layouts), domain_(domain), expand_arrays_(expand_arrays), values_(values) {}

  void whole(std::uint64_t schema, std::string_view bytes) {
    if (schema == kReferenced) return;  // only others point into it, and pointers are not followed
    if (schema == kRaw) return add({"payload", hexadecimal(bytes), {}, {}, {}, nullptr});
    if (shape_of_type(schema) && !is_string(schema)) {
      const std::size_t one = shape_of_type(schema)->bytes;
      if (bytes.size() < one) return fail();
      PayloadField field;
      field.type = schema;
      if (bytes.size() >= 2 * one) {
        field.flags = static_cast<std::uint64_t>(Extent::fixed) << 4;
        field.detail = bytes.size() / one;
      }
      const std::size_t before = values_.size();
      elements(field, "payload", bytes.substr(0, bytes.size() / one * one), one, nullptr);
      for (std::size_t at = before; at < values_.size(); ++at) values_[at].field = nullptr;
      return;
    }
    if (is_string(schema)) {
      return add({"payload", text_of(bytes, shape_of_type(schema)->bytes), {}, {}, {}, nullptr});
    }
    const PayloadLayout* layout = layouts_.find(domain_, schema);
    if (layout == nullptr) return fail();
    if (layout->type == spool::kEnumeration) {
      return add({"payload", enumerated(*layout, bytes), {}, {}, {}, nullptr});
    }
    structure(*layout, "", bytes, 0);
  }

  std::int64_t failed() const { return failed_; }

 private:
  void fail() { ++failed_; }

  bool step() {
    if (++steps_ <= kMostSteps) return true;
    if (steps_ == kMostSteps + 1) fail();
    return false;
  }

  void add(PayloadValue value) {
    if (values_.size() < kMostValues) {
      values_.push_back(std::move(value));
    } else {
      fail();
    }
  }

  // --- sizes

  /// Bytes and alignment of one value of a field's type; nullopt: not known beforehand.
  std::optional<Shape> shape_of(const PayloadField& field, int depth) {
    if ((field.flags & kIndirect) != 0 || is_pointer(field)) return Shape{8, 8};
    if (const auto known = shape_of_type(field.type)) return known;
    const PayloadLayout* layout = layouts_.find(domain_, field.type);
    if (layout == nullptr) return std::nullopt;
    if (layout->type == spool::kEnumeration) {
      const std::size_t bytes = layout->static_bytes;
      if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return std::nullopt;
      return Shape{bytes, bytes};
    }
    return shape_of(*layout, depth + 1);
  }

  std::optional<Shape> shape_of(const PayloadLayout& layout, int depth) {
    if (depth > kDeepest) return std::nullopt;
    Shape whole{0, 1};
    bool is_known = layout.type == kStatic;
    for (const PayloadField& field : layout.fields) {
      if (!step()) return std::nullopt;
      const auto one = shape_of(field, depth);
      std::size_t count = 1;
      if (extent_of(field.flags) == Extent::fixed || (is_string(field.type) && field.detail > 0)) {
        count = static_cast<std::size_t>(std::min<std::uint64_t>(field.detail, kMostBytes));
      } else if (extent_of(field.flags) != Extent::scalar) {
        is_known = false;
      }
      if (!one) {
        is_known = false;
        continue;
      }
      const std::size_t align = packed(one->align, layout);
      whole.align = std::max(whole.align, align);
      const std::size_t start = field.offset != 0
                                    ? std::min<std::uint64_t>(field.offset, kMostBytes)
                                    : aligned(whole.bytes, align);
      whole.bytes = std::max(whole.bytes, start + std::min(kMostBytes, count * one->bytes));
    }
    if (layout.static_bytes != 0) {
      whole.bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(layout.static_bytes, kMostBytes));
      return whole;
    }
    if (!is_known) return std::nullopt;
    whole.bytes = aligned(whole.bytes, whole.align);
    return whole;
  }

  static std::size_t packed(std::size_t align, const PayloadLayout& layout) {
    return layout.pack_align == 0 ? align : std::min<std::size_t>(align, layout.pack_align);
  }
  static std::size_t aligned(std::size_t at, std::size_t align) {
    return align < 2 ? at : (at + align - 1) / align * align;
  }

  /// A string without a length is the address of one.
  static bool is_pointer(const PayloadField& field) {
    return is_string(field.type) && extent_of(field.flags) == Extent::scalar && field.detail == 0;
  }

  // --- layouts

  static std::string joined(const std::string& prefix, const PayloadField& field,
                            std::size_t number) {
    const std::string name = field.name.empty() ? fmt::format("field_{}", number) : field.name;
    return prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
  }

  /// The bytes that the structure takes; nullopt: where it ends is not known.
  std::optional<std::size_t> structure(const PayloadLayout& layout, const std::string& prefix,
                                       std::string_view bytes, int depth) {
    if (depth > kDeepest || (layout.type != kStatic && layout.type != kDynamic)) {
      fail();
      if (layout.static_bytes == 0 || layout.static_bytes > bytes.size()) return std::nullopt;
      return layout.static_bytes;
    }
    std::size_t at = 0;
    bool is_at_known = true;
    std::vector<std::uint64_t> lengths(layout.fields.size(), 0);
    for (std::size_t number = 0; number < layout.fields.size(); ++number) {
      if (!step()) return std::nullopt;
      const PayloadField& field = layout.fields[number];
      const auto one = shape_of(field, depth);
      if (field.offset != 0 || number == 0) {
        if (field.offset > bytes.size()) {
          fail();
          continue;
        }
        at = static_cast<std::size_t>(field.offset);
        is_at_known = true;
      } else if (is_at_known) {
        at = aligned(at, packed(one ? one->align : alignment_of(field, depth), layout));
      }
      if (!is_at_known || at > bytes.size()) {
        fail();
        continue;
      }
      const std::string key = joined(prefix, field, number);
      const auto end = this->field(layout, number, key, one, bytes, at, lengths, depth);
      is_at_known = end.has_value();
      if (end) at = *end;
    }
    if (layout.type == kStatic && layout.static_bytes != 0 && layout.static_bytes <= bytes.size()) {
      return layout.static_bytes;
    }
    if (layout.type == kStatic) {
      // With the padding at its end, as in an array of it.
      const auto whole = shape_of(layout, depth);
      if (whole && whole->bytes <= bytes.size()) return whole->bytes;
    }
    if (!is_at_known) return std::nullopt;
    return at;
  }

  /// Of something whose size is not known.
  std::size_t alignment_of(const PayloadField& field, int depth) {
    std::size_t align = 1;
    const PayloadLayout* layout = layouts_.find(domain_, field.type);
    if (layout == nullptr || depth > kDeepest) return align;
    for (const PayloadField& inner : layout->fields) {
      if (!step()) return align;
      const auto shape = shape_of(inner, depth + 1);
      align = std::max(align, packed(shape ? shape->align : 1, *layout));
    }
    return align;
  }

  /// Decodes the field that begins `at`; where it ends, nullopt: not known.
  std::optional<std::size_t> field(const PayloadLayout& layout, std::size_t number,
                                   const std::string& key, std::optional<Shape> one,
                                   std::string_view bytes, std::size_t at,
                                   std::vector<std::uint64_t>& lengths, int depth) {
    const PayloadField& field = layout.fields[number];
    const std::string_view rest = bytes.substr(at);
    if ((field.flags & kIndirect) != 0 || is_pointer(field)) {
      fail();
      if (rest.size() < 8) return std::nullopt;
      add({key, fmt::format("0x{:x}", unsigned_at(rest.substr(0, 8))), {}, {}, {}, &field});
      return at + 8;
    }
    const PayloadLayout* inner =
        shape_of_type(field.type) ? nullptr : layouts_.find(domain_, field.type);
    if (!shape_of_type(field.type) && inner == nullptr) {
      return unknown(layout, number, key, bytes, at);
    }
    const bool is_structure = inner != nullptr && inner->type != spool::kEnumeration;
    const auto count = count_of(field, one, rest, lengths);
    if (!count) {
      fail();
      return std::nullopt;
    }
    if (is_structure) return structures(field, *inner, key, bytes, at, *count, depth);
    if (!one || *count > rest.size() / one->bytes) {
      fail();
      return std::nullopt;
    }
    const std::string_view data = rest.substr(0, static_cast<std::size_t>(*count) * one->bytes);
    lengths[number] = length_in(field, data, one->bytes);
    elements(field, key, data, one->bytes, inner);
    std::size_t end = at + data.size();
    if (extent_of(field.flags) == Extent::zero_terminated) end += one->bytes;
    return std::min(end, bytes.size());
  }

  /// Nobody registered the type: all that is known is where the next field begins.
  std::optional<std::size_t> unknown(const PayloadLayout& layout, std::size_t number,
                                     const std::string& key, std::string_view bytes,
                                     std::size_t at) {
    fail();
    std::size_t end = bytes.size();
    const bool is_last = number + 1 == layout.fields.size();
    if (!is_last) {
      const std::uint64_t next = layout.fields[number + 1].offset;
      if (next <= at || next > bytes.size()) return std::nullopt;
      end = static_cast<std::size_t>(next);
    }
    add({key, hexadecimal_number(bytes.substr(at, end - at)), {}, {}, {}, &layout.fields[number]});
    return end;
  }

  std::optional<std::uint64_t> count_of(const PayloadField& field, std::optional<Shape> one,
                                        std::string_view rest,
                                        const std::vector<std::uint64_t>& lengths) const {
    switch (extent_of(field.flags)) {
      case Extent::scalar:
        return is_string(field.type) ? field.detail : 1;
      case Extent::fixed:
        return field.detail;
      case Extent::length_in_field:
        if (field.detail >= lengths.size()) return std::nullopt;
        return lengths[static_cast<std::size_t>(field.detail)];
      case Extent::zero_terminated: {
        if (!one || one->bytes == 0) return std::nullopt;
        std::uint64_t count = 0;
        for (std::size_t at = 0; at + one->bytes <= rest.size(); at += one->bytes, ++count) {
          const std::string_view element = rest.substr(at, one->bytes);
          const bool is_zero =
              std::all_of(element.begin(), element.end(), [](char byte) { return byte == 0; });
          if (is_zero) return count;
        }
        return count;
      }
      case Extent::length_in_payload:
        break;
    }
    return std::nullopt;
  }

  /// What the field says where it is the length of another: a number, or the product of several.
  static std::uint64_t length_in(const PayloadField& field, std::string_view data,
                                 std::size_t one) {
    if (is_character(field.type) || one > 8) return 0;
    std::uint64_t product = 1;
    for (std::size_t at = 0; at < data.size(); at += one) {
      const std::uint64_t value = unsigned_at(data.substr(at, one));
      if (value != 0 && product > kMostBytes) return kMostBytes + 1;
      product *= std::min<std::uint64_t>(value, kMostBytes + 1);
    }
    return product;
  }

  std::optional<std::size_t> structures(const PayloadField& field, const PayloadLayout& inner,
                                        const std::string& key, std::string_view bytes,
                                        std::size_t at, std::uint64_t count, int depth) {
    const bool is_array = extent_of(field.flags) != Extent::scalar;
    for (std::uint64_t element = 0; element < count; ++element) {
      if (!step()) return std::nullopt;
      const auto taken = structure(inner, is_array ? fmt::format("{}[{}]", key, element) : key,
                                   bytes.substr(at), depth + 1);
      if (!taken || *taken > bytes.size() - at) return std::nullopt;
      at += *taken;
    }
    return at;
  }

  // --- values

  PayloadRole role_of(const PayloadField& field) const {
    const std::uint64_t event = field.flags >> 10 & 3;
    if (event == kMessage) return PayloadRole::message;
    if (event == kTimestamp) return PayloadRole::time;
    if (field.type == kCategory) return PayloadRole::category;
    if (field.type == kColor) return PayloadRole::color;
    return PayloadRole::plain;
  }

  void elements(const PayloadField& field, const std::string& key, std::string_view data,
                std::size_t one, const PayloadLayout* enumeration) {
    PayloadValue value;
    value.key = key;
    value.role = role_of(field);
    value.field = &field;
    const bool is_array = extent_of(field.flags) != Extent::scalar;
    if (is_string(field.type) || (is_array && is_character(field.type))) {
      value.text = text_of(data, one);
      return add(std::move(value));
    }
    if (!is_array) {
      set_scalar(field, data, enumeration, value);
      return add(std::move(value));
    }
    if (expand_arrays_) {
      for (std::size_t at = 0; at < data.size() && step(); at += one) {
        PayloadValue element = value;
        element.key = fmt::format("{}[{}]", key, at / one);
        set_scalar(field, data.substr(at, one), enumeration, element);
        add(std::move(element));
      }
      return;
    }
    value.text.assign(1, '[');
    for (std::size_t at = 0; at < data.size() && step(); at += one) {
      PayloadValue element;
      set_scalar(field, data.substr(at, one), enumeration, element);
      if (at > 0) value.text += ", ";
      value.text += element.text;
    }
    value.text += "]";
    add(std::move(value));
  }

  template <class Number>
  static void set_number(Number number, PayloadValue& value) {
    value.text = fmt::format("{}", number);
    value.number = static_cast<double>(number);
  }

  void set_scalar(const PayloadField& field, std::string_view data,
                  const PayloadLayout* enumeration, PayloadValue& value) {
    if (enumeration != nullptr) {
      value.text = enumerated(*enumeration, data);
      value.integer = signed_at(data);
      value.number = static_cast<double>(*value.integer);
      return;
    }
    switch (field.type) {
      case kChar:
      case kChar8:
      case kChar16:
      case kChar32:
      case kWChar:
        value.text = text_of(data, data.size());
        return;
      case kShort:
      case kInt:
      case kLong:
      case kLongLong:
      case kInt8:
      case kInt16:
      case kInt32:
      case kInt64:
        value.integer = signed_at(data);
        return set_number(*value.integer, value);
      case kFloat:
      case kFloat32:
      case kTf32:
        return set_number(number_at<float>(data), value);
      case kDouble:
      case kFloat64:
        return set_number(number_at<double>(data), value);
      case kLongDouble:
        return set_number(static_cast<double>(number_at<long double>(data)), value);
      case kFloat16:
        return set_number(half_at(data), value);
      case kBf16:
        return set_number(bf16_at(data), value);
      case kAddress:
        value.text = fmt::format("0x{:x}", unsigned_at(data));
        return;
      case kColor:
        value.text = fmt::format("0x{:08X}", unsigned_at(data));
        value.integer = static_cast<std::int64_t>(unsigned_at(data));
        return;
      case kByte:
      case kInt128:
      case kUInt128:
      case kFloat128:
        value.text = hexadecimal_number(data);
        return;
      case kStringHandle: {
        const std::string* text = layouts_.string_of(unsigned_at(data));
        if (text == nullptr) return fail();
        value.text = *text;
        return;
      }
      default: {
        const std::uint64_t number = unsigned_at(data);
        set_number(number, value);
        if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          value.integer = static_cast<std::int64_t>(number);
        }
      }
    }
  }

  std::string enumerated(const PayloadLayout& enumeration, std::string_view data) {
    steps_ = static_cast<int>(std::min<std::size_t>(
        kMostSteps, static_cast<std::size_t>(steps_) + enumeration.fields.size()));
    const std::uint64_t value = unsigned_at(data);
    const std::uint64_t mask =
        data.size() >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * data.size()) - 1;
    for (const PayloadField& entry : enumeration.fields) {
      if ((entry.type & mask) == value) return entry.name;
    }
    std::string text;
    std::uint64_t left = value;
    for (const PayloadField& entry : enumeration.fields) {
      const std::uint64_t bits = entry.type & mask;
      if (entry.flags == 0 || bits == 0 || (value & bits) != bits || (left & bits) == 0) continue;
      if (!text.empty()) text += "|";
      text += entry.name;
      left &= ~bits;
    }
    if (left == 0 && !text.empty()) return text;
    return fmt::format("{}", signed_at(data));
  }

  const PayloadLayouts& layouts_;
  std::uint32_t domain_;
  bool expand_arrays_;
  std::vector<PayloadValue>& values_;
  std::int64_t failed_ = 0;
  int steps_ = 0;
};

}  // namespace

void PayloadLayouts::set(std::uint32_t domain, std::uint64_t id, PayloadLayout layout) {
  if (id != spool::kRegisteredStrings) {
    layouts_[{domain, id}] = std::move(layout);
    return;
  }
  for (PayloadField& field : layout.fields) strings_[field.type] = std::move(field.name);
}

const std::string* PayloadLayouts::string_of(std::uint64_t handle) const {
  const auto found = strings_.find(handle);
  return found == strings_.end() ? nullptr : &found->second;
}

const PayloadLayout* PayloadLayouts::find(std::uint32_t domain, std::uint64_t id) const {
  const auto found = layouts_.find({domain, id});
  return found == layouts_.end() ? nullptr : &found->second;
}

std::int64_t PayloadLayouts::decode(std::uint32_t domain, std::uint64_t schema,
                                    std::string_view bytes, bool expand_arrays,
                                    std::vector<PayloadValue>& values) const {
  Decoder decoder(*this, domain, expand_arrays, values);
  decoder.whole(schema, bytes.substr(0, kMostBytes));
  return decoder.failed();
}

}  // namespace gprofml::profile
