// Payloads by the rules of nvToolsExtPayload.h, and layouts that make no sense. What real programs
// say is tested by test/recording/test_nvtx_full.py.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "libprofile/capture/nvtx_payload.hpp"
#include "libprofile/spool/format.hpp"

namespace {

using gprofml::profile::PayloadField;
using gprofml::profile::PayloadLayout;
using gprofml::profile::PayloadLayouts;
using gprofml::profile::PayloadRole;
using gprofml::profile::PayloadValue;

constexpr std::uint32_t kStatic = 1, kDynamic = 2, kUnion = 3;
constexpr std::uint64_t kFixed = 1 << 4, kZero = 2 << 4, kIndex = 3 << 4;
constexpr std::uint64_t kInt8 = 11, kInt32 = 15, kUInt16 = 14, kUInt64 = 18, kChar = 1,
                        kString = 75;
constexpr std::uint64_t kId = 1 << 24;

PayloadField field(std::string name, std::uint64_t type, std::uint64_t flags = 0,
                   std::uint64_t detail = 0, std::uint64_t offset = 0) {
  PayloadField made;
  made.name = std::move(name);
  made.type = type;
  made.flags = flags;
  made.detail = detail;
  made.offset = offset;
  return made;
}

PayloadLayout layout(std::uint32_t type, std::vector<PayloadField> fields,
                     std::uint64_t static_bytes = 0, std::uint32_t pack = 0) {
  PayloadLayout made;
  made.type = type;
  made.fields = std::move(fields);
  made.static_bytes = static_bytes;
  made.pack_align = pack;
  return made;
}

template <class... Numbers>
std::string bytes(Numbers... numbers) {
  return {static_cast<char>(numbers)...};
}

/// "key=text" of all values, and how many failed.
std::string decoded(const PayloadLayouts& layouts, std::uint64_t id, const std::string& data,
                    bool expand = false) {
  std::vector<PayloadValue> values;
  const std::int64_t failed = layouts.decode(0, id, data, expand, values);
  std::string text;
  for (const PayloadValue& value : values) text += value.key + "=" + value.text + ";";
  return failed == 0 ? text : text + "failed " + std::to_string(failed);
}

std::string decoded(PayloadLayout of, const std::string& data) {
  PayloadLayouts layouts;
  layouts.set(0, kId, std::move(of));
  return decoded(layouts, kId, data);
}

}  // namespace

TEST_CASE("fields without offsets are aligned as the compiler would, or packed") {
  const std::vector<PayloadField> fields{field("a", kInt8), field("b", kInt32),
                                         field("c", kUInt16)};
  CHECK(decoded(layout(kStatic, fields), bytes(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)) ==
        "a=1;b=2;c=3;");
  CHECK(decoded(layout(kStatic, fields, 7, 1), bytes(1, 2, 0, 0, 0, 3, 0)) == "a=1;b=2;c=3;");
}

TEST_CASE("arrays have a length, end with zero or say it in another field") {
  CHECK(decoded(layout(kStatic, {field("a", kUInt16, kFixed, 2)}), bytes(1, 0, 2, 0)) ==
        "a=[1, 2];");
  CHECK(decoded(layout(kDynamic, {field("a", kUInt16, kZero), field("b", kInt8)}),
                bytes(5, 0, 6, 0, 0, 0, 7)) == "a=[5, 6];b=7;");
  CHECK(decoded(
            layout(kDynamic, {field("n", kInt32), field("a", kInt8, kIndex, 0), field("b", kInt8)}),
            bytes(2, 0, 0, 0, -1, -2, 9)) == "n=2;a=[-1, -2];b=9;");
  // A length in two dimensions is their product.
  CHECK(
      decoded(layout(kDynamic, {field("shape", kUInt16, kFixed, 2), field("a", kInt8, kIndex, 0)}),
              bytes(2, 0, 3, 0, 1, 2, 3, 4, 5, 6)) == "shape=[2, 3];a=[1, 2, 3, 4, 5, 6];");
  CHECK(decoded(layout(kStatic, {field("a", kChar, kFixed, 4)}), std::string("ab\0d", 4)) ==
        "a=ab;");
  CHECK(decoded(layout(kStatic, {field("a", kString, 0, 4), field("b", kInt8)}),
                std::string("abcd\x05", 5)) == "a=abcd;b=5;");
}

TEST_CASE("layouts nest; their sizes follow from their fields where they are not said") {
  PayloadLayouts layouts;
  layouts.set(0, kId + 1, layout(kStatic, {field("x", kInt32), field("y", kInt8)}));
  layouts.set(0, kId, layout(kStatic, {field("p", kId + 1, kFixed, 2), field("z", kInt8)}));
  CHECK(decoded(layouts, kId, bytes(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5)) ==
        "p[0].x=1;p[0].y=2;p[1].x=3;p[1].y=4;z=5;");
}

TEST_CASE("layouts belong to their domain") {
  PayloadLayouts layouts;
  layouts.set(7, kId, layout(kStatic, {field("a", kInt8)}));
  CHECK(decoded(layouts, kId, bytes(1)) == "failed 1");
}

TEST_CASE("single values, text and lists of predefined types") {
  const PayloadLayouts none;
  CHECK(decoded(none, kInt32, bytes(-1, -1, -1, -1)) == "payload=-1;");
  CHECK(decoded(none, kUInt64, std::string(8, '\xff')) == "payload=18446744073709551615;");
  CHECK(decoded(none, 19, bytes(0, 0, 0x20, 0x41)) == "payload=10;");
  CHECK(decoded(none, 42, bytes(0, 0x3e)) == "payload=1.5;");   // half
  CHECK(decoded(none, 50, bytes(0x40, 0x40)) == "payload=3;");  // bfloat16
  CHECK(decoded(none, kUInt16, bytes(1, 0, 2, 0)) == "payload=[1, 2];");
  CHECK(decoded(none, kUInt16, bytes(1, 0, 2, 0), true) == "payload[0]=1;payload[1]=2;");
  CHECK(decoded(none, 77, bytes(0x3d, 0xd8, 0x00, 0xde)) == "payload=\U0001F600;");
  CHECK(decoded(none, kString, bytes('a', 0xc3, 'b', 0xed, 0xa0, 0x80)) ==
        "payload=a\ufffdb\ufffd\ufffd\ufffd;");
  CHECK(decoded(none, 1023, bytes(0, 0xab)) == "payload=0x00ab;");
  CHECK(decoded(none, kInt32, bytes(1)) == "failed 1");
}

TEST_CASE("enumerations have names, sets of bits several") {
  PayloadLayouts layouts;
  layouts.set(0, kId + 1,
              layout(gprofml::spool::kEnumeration,
                     {field("read", 1, 1), field("write", 2, 1), field("none", 0)}, 1));
  layouts.set(0, kId, layout(kStatic, {field("a", kId + 1)}));
  CHECK(decoded(layouts, kId, bytes(0)) == "a=none;");
  CHECK(decoded(layouts, kId, bytes(3)) == "a=read|write;");
  CHECK(decoded(layouts, kId, bytes(9)) == "a=9;");
}

TEST_CASE("a value of a type that nobody registered is shown as bytes up to the next field") {
  CHECK(decoded(layout(kStatic, {field("a", kId + 5), field("b", kInt8, 0, 0, 4)}),
                bytes(2, 1, 0, 0, 7)) == "a=0x00000102;b=7;failed 1");
}

TEST_CASE("what makes no sense is counted and harms nothing") {
  CHECK(decoded(layout(kUnion, {field("a", kInt32)}, 4), bytes(1, 2, 3, 4)) == "failed 1");
  CHECK(decoded(layout(kStatic, {field("a", kInt32, 0, 0, ~std::uint64_t{0})}), "x") == "failed 1");
  CHECK(decoded(layout(kStatic, {field("a", kInt32, kFixed, ~std::uint64_t{0})}), "xxxx") ==
        "failed 1");
  CHECK(decoded(layout(kStatic, {field("a", kInt32, kIndex, 17)}), "xxxx") == "failed 1");
  CHECK(decoded(layout(kStatic, {field("a", kInt32, 1 << 1)}), std::string(8, '\x01')) ==
        "a=0x101010101010101;failed 1");
  CHECK(decoded(layout(kStatic, {field("self", kId), field("self", kId, kFixed, 1 << 30)}),
                std::string(64, 'x'))
            .find("failed") != std::string::npos);
}

TEST_CASE("roles: message, time, category and colour") {
  PayloadLayouts layouts;
  layouts.set(0, kId,
              layout(kStatic, {field("m", kString, 1 << 10, 2), field("t", kInt8, 2 << 10),
                               field("c", 68), field("argb", 69)}));
  std::vector<PayloadValue> values;
  CHECK(layouts.decode(0, kId, bytes('h', 'i', 4, 0, 3, 0, 0, 0, 1, 2, 3, 4), false, values) == 0);
  REQUIRE(values.size() == 4);
  CHECK(values[0].role == PayloadRole::message);
  CHECK(values[1].role == PayloadRole::time);
  CHECK(values[2].role == PayloadRole::category);
  CHECK(values[2].integer == 3);
  CHECK(values[3].role == PayloadRole::color);
  CHECK(values[3].text == "0x04030201");
}

TEST_CASE("any layouts and any bytes are decoded within bounds") {
  std::mt19937_64 random(20260302);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto any_type = [&]() -> std::uint64_t {
    return below(3) == 0 ? kId + below(6) : below(2) == 0 ? below(82) : below(1030);
  };
  const auto any_number = [&]() -> std::uint64_t {
    switch (below(5)) {
      case 0:
        return random();
      case 1:
        return below(70'000);
      default:
        return below(8);
    }
  };
  for (int round = 0; round < 2000; ++round) {
    PayloadLayouts layouts;
    for (std::uint64_t id = kId; id < kId + 6; ++id) {
      std::vector<PayloadField> fields(below(7));
      for (PayloadField& made : fields) {
        made = field(below(4) == 0 ? "" : "f", any_type(), below(2) == 0 ? 0 : any_number() << 4,
                     any_number(), below(3) == 0 ? any_number() : 0);
      }
      const std::uint32_t types[] = {
          kStatic, kStatic, kDynamic, kDynamic, kUnion, 0, gprofml::spool::kEnumeration};
      layouts.set(0, id,
                  layout(types[below(7)], fields, below(3) == 0 ? any_number() : 0,
                         static_cast<std::uint32_t>(below(3) == 0 ? any_number() : 0)));
    }
    std::string data(below(300), '\0');
    for (char& byte : data) byte = static_cast<char>(below(3) == 0 ? random() : below(4));
    std::vector<PayloadValue> values;
    const std::int64_t failed = layouts.decode(0, any_type(), data, below(2) == 0, values);
    CHECK(failed >= 0);
    CHECK(values.size() <= 512);
    for (const PayloadValue& value : values) CHECK(value.text.size() <= 32 * 1024);
  }
}
