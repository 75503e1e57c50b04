#include <catch2/catch.hpp>
#include <string>

#include "libprofile/import/json_text.hpp"

using namespace gprofml::profile;

TEST_CASE("string tokens") {
  CHECK(string_content("\"abc\" \n") == "abc");
  CHECK(string_content("\"\"") == "");
  CHECK(string_content("12") == std::nullopt);
  CHECK(string_content("\"") == std::nullopt);
  CHECK(string_content("") == std::nullopt);
}

TEST_CASE("escapes, also the wrong ones") {
  CHECK(unescaped(R"(a\"b\\c\/d\n\t\r\b\f)") == "a\"b\\c/d\n\t\r\b\f");
  CHECK(unescaped(R"(\u0041\u00e9\u20ac\ud83d\ude00)") == "A\u00e9\u20ac\U0001F600");
  CHECK(unescaped(R"(C:\Users\x)") == R"(C:\Users\x)");
  CHECK(unescaped(R"(\ud83d alone, \udc00, \u12, \)") == R"(\ud83d alone, \udc00, \u12, \)");
}

TEST_CASE("whole numbers") {
  CHECK(integer_of("-12 ") == -12);
  CHECK(integer_of("9223372036854775807") == 9223372036854775807);
  for (const char* text : {"9223372036854775808", "1.0", "1e3", "\"1\"", "true", "", "1x", "- 1"})
    CHECK(integer_of(text) == std::nullopt);
  CHECK(unsigned_of("18446744073709551615") == 18446744073709551615u);
  CHECK(unsigned_of("-1") == std::nullopt);
}

TEST_CASE("repair keeps what is UTF-8 and every offset") {
  std::string text =
      "a\x01"
      "b\tc \xC3\xA9 \xF0\x9F\x98\x80 \xFF \xC3( \xED\xA0\x80 \xC0\x80 \xE2\x82";
  const std::size_t size = text.size();
  repair(text.data(), text.size());
  CHECK(text == "a b c \xC3\xA9 \xF0\x9F\x98\x80 ? ?( ??? ?? ??");
  CHECK(text.size() == size);
}
