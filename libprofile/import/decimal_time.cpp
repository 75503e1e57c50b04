#include "libprofile/import/decimal_time.hpp"

#include <cstdint>
#include <string>

#include "libprofile/import/digits.hpp"

namespace gprofml::profile {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A JSON number taken apart: digits * 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits;  // without leading zeros; empty: zero
  std::int64_t exponent = 0;
};

class DecimalReader {
 public:
  explicit DecimalReader(std::string_view text) : text_(text) {}

  std::optional<Decimal> read() {
    result_.negative = take('-');
    const std::size_t whole = at_;
    if (take_digits(0) == 0 || (text_[whole] == '0' && at_ - whole > 1)) return std::nullopt;
    if (take('.') && take_digits(1) == 0) return std::nullopt;
    if ((take('e') || take('E')) && !take_exponent()) return std::nullopt;
    if (at_ != text_.size()) return std::nullopt;
    return result_;
  }

 private:
  // Far beyond any exponent that leaves a time in range, far below overflow.
  static constexpr std::int64_t kExponentLimit = 1'000'000'000;

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::size_t take_digits(int decimals_each) {
    const std::size_t first = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (!result_.digits.empty() || text_[at_] != '0') result_.digits += text_[at_];
      result_.exponent -= decimals_each;
    }
    return at_ - first;
  }

  bool take_exponent() {
    const bool negative = take('-');
    if (!negative) take('+');
    const std::size_t first = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
      if (value < kExponentLimit) value = value * 10 + (text_[at_] - '0');
    result_.exponent += negative ? -value : value;
    return at_ > first;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Decimal result_;
};

/// The integer part of digits * 10^-dropped, rounded half to even. At most 19 digits remain.
std::uint64_t rounded(const std::string& digits, std::size_t dropped) {
  if (dropped > digits.size()) return 0;
  const std::size_t kept = digits.size() - dropped;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kept; ++i)
    value = value * 10 + static_cast<std::uint64_t>(digits[i] - '0');
  if (dropped == 0 || digits[kept] < '5') return value;
  const bool above_half =
      digits[kept] > '5' || digits.find_first_not_of('0', kept + 1) != std::string::npos;
  return above_half || value % 2 == 1 ? value + 1 : value;
}

std::optional<Nanoseconds> scaled(Decimal decimal) {
  if (decimal.digits.empty()) return 0;
  const std::int64_t exponent = decimal.exponent + 3;
  const std::int64_t whole_digits = static_cast<std::int64_t>(decimal.digits.size()) + exponent;
  if (whole_digits > 19) return std::nullopt;
  if (whole_digits < 0) return 0;
  std::uint64_t value = 0;
  if (exponent >= 0) {
    decimal.digits.append(static_cast<std::size_t>(exponent), '0');
    value = rounded(decimal.digits, 0);
  } else {
    value = rounded(decimal.digits, static_cast<std::size_t>(-exponent));
  }
  if (value > static_cast<std::uint64_t>(kLargestTime)) return std::nullopt;
  const auto magnitude = static_cast<Nanoseconds>(value);
  return decimal.negative ? -magnitude : magnitude;
}

/// Up to 16 digits and three decimals, which is nearly every time stamp; nullopt: something else.
std::optional<Nanoseconds> plain(std::string_view text) {
  constexpr std::size_t kMaxWhole = 16;
  constexpr Nanoseconds kUnit[] = {0, 100, 10, 1};
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.size() > kMaxWhole || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
  const auto microseconds = few_digits(whole);
  if (!microseconds || *microseconds > kLargestTime / 1000 - 1) return std::nullopt;
  if (point == std::string_view::npos) return *microseconds * 1000;
  const std::string_view decimals = text.substr(point + 1);
  const auto fraction = few_digits(decimals);
  if (!fraction || decimals.size() > 3) return std::nullopt;
  return *microseconds * 1000 + *fraction * kUnit[decimals.size()];
}

}  // namespace

std::optional<Nanoseconds> nanoseconds_of_microseconds(std::string_view microseconds) {
  if (const auto value = plain(microseconds)) return value;
  const auto decimal = DecimalReader(microseconds).read();
  return decimal ? scaled(*decimal) : std::nullopt;
}

}  // namespace gprofml::profile
