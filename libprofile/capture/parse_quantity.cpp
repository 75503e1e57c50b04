#include "libprofile/capture/parse_quantity.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace gprofml::profile {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::uint64_t kThousand = 1000;
constexpr Unit kTimes[] = {
    {"ns", 1},
    {"us", kThousand},
    {"ms", kThousand* kThousand},
    {"s", kThousand* kThousand* kThousand},
    {"min", 60 * kThousand* kThousand* kThousand},
    {"h", 3600 * kThousand* kThousand* kThousand},
};
constexpr Unit kSizes[] = {
    {"", 1},
    {"B", 1},
    {"kB", kThousand},
    {"MB", kThousand* kThousand},
    {"GB", kThousand* kThousand* kThousand},
    {"TB", kThousand* kThousand* kThousand* kThousand},
    {"KiB", std::uint64_t{1} << 10},
    {"MiB", std::uint64_t{1} << 20},
    {"GiB", std::uint64_t{1} << 30},
    {"TiB", std::uint64_t{1} << 40},
};
constexpr std::uint32_t kWhole = 1'000'000;  // parts per million
constexpr Unit kShares[] = {{"%", kWhole / 100}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes the digits off the front of `text`.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

/// whole * size; nullopt when it exceeds `most`.
std::optional<std::uint64_t> scaled(std::string_view digits, std::uint64_t size,
                                    std::uint64_t most) {
  std::uint64_t number = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (most - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  if (number > most / size) return std::nullopt;
  return number * size;
}

/// The first decimals of a unit: digit by digit, so that nothing is rounded twice.
std::uint64_t fraction(std::string_view decimals, std::uint64_t size) {
  // From the back: (d1 + (d2 + (d3 + …) / 10) / 10) / 10 of the size, exactly but for the cut at
  // the end; twelve decimals of the largest unit are below the smallest.
  constexpr std::size_t kMostDecimals = 12;
  std::uint64_t scale = 1;
  std::uint64_t number = 0;
  for (const char c : decimals.substr(0, kMostDecimals)) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    scale *= 10;
  }
  // 10^12 * 2^40 needs more than 64 bits.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{number} * size / scale);
}

template <std::size_t kUnits>
std::optional<std::uint64_t> parse(std::string_view text, const Unit (&units)[kUnits],
                                   std::uint64_t most) {
  const std::string_view whole = take_digits(text);
  std::string_view decimals;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    decimals = take_digits(text);
    if (decimals.empty()) return std::nullopt;
  }
  if (whole.empty()) return std::nullopt;
  const auto unit = std::find_if(std::begin(units), std::end(units),
                                 [text](const Unit& known) { return known.name == text; });
  if (unit == std::end(units)) return std::nullopt;
  const std::optional<std::uint64_t> number = scaled(whole, unit->size, most);
  if (!number) return std::nullopt;
  const std::uint64_t rest = fraction(decimals, unit->size);
  return rest > most - *number ? std::nullopt : std::optional(*number + rest);
}

}  // namespace

std::optional<Nanoseconds> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Nanoseconds>::max());
  const std::optional<std::uint64_t> parsed = parse(text, kTimes, kMost);
  if (!parsed) return std::nullopt;
  return static_cast<Nanoseconds>(*parsed);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse(text, kSizes, std::numeric_limits<std::uint64_t>::max());
}

std::optional<std::uint32_t> parse_share_ppm(std::string_view text) {
  const std::optional<std::uint64_t> parsed = parse(text, kShares, kWhole);
  if (!parsed) return std::nullopt;
  return static_cast<std::uint32_t>(*parsed);
}

}  // namespace gprofml::profile
