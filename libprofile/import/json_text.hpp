// Small helpers on JSON text: what a string token says, what a number token holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gprofml::profile {

/// The inside of a string token, escapes as written: `"a\n"` with blanks behind gives `a\n`.
/// nullopt: not a string.
std::optional<std::string_view> string_content(std::string_view token);

/// What a string content means. Escapes JSON does not know, and halves of surrogate pairs, stay as
/// they are written: a name must not be lost for a backslash.
std::string unescaped(std::string_view content);

/// A whole number that fits 64 bits; nullopt: anything else.
std::optional<std::int64_t> integer_of(std::string_view token);

/// The same without a sign, up to 2^64 - 1: addresses.
std::optional<std::uint64_t> unsigned_of(std::string_view token);

/// A token without the blanks that follow it.
std::string_view trimmed(std::string_view token);

/// Makes text that JSON forbids readable, byte for byte, so offsets stay: control characters become
/// blanks, bytes that are not UTF-8 become question marks.
void repair(char* text, std::size_t size);

}  // namespace gprofml::profile
