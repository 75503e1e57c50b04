#include "libanalysis/report/quantity.hpp"

#include <fmt/format.h>

#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string with_unit(profile::Nanoseconds ns, std::int64_t quantum_ns, int decimals,
                      std::string_view unit) {
  return fmt::format("{}{}{}", fixed(to_units(ns, {1, quantum_ns}), decimals), kGlue, unit);
}

}  // namespace

TimeUnit unit_for(profile::Nanoseconds largest_ns) {
  if (largest_ns < 10 * kUs) return {"ns", 1, 0};
  if (largest_ns < 10 * kMs) return {"us", kUs / 10, 1};
  if (largest_ns < 100 * kMs) return {"ms", kMs / 100, 2};
  if (largest_ns < 1000 * kSecond) return {"ms", kMs / 10, 1};
  return {"s", kSecond / 10, 1};
}

TimeUnit fine_unit_for(profile::Nanoseconds largest_ns) {
  if (largest_ns < 10 * kUs) return {"ns", 1, 0};
  if (largest_ns < 5 * kMs) return {"us", kUs / 10, 1};
  if (largest_ns < 1000 * kSecond) return {"ms", kMs / 100, 2};
  return {"s", kSecond / 100, 2};
}

std::string fixed(std::int64_t units, int decimals) {
  std::int64_t power = 1;
  for (int i = 0; i < decimals; ++i) power *= 10;
  const std::int64_t whole = units / power;
  std::string text = whole < 10'000 ? fmt::format("{}", whole) : grouped(whole);
  if (decimals > 0) text += fmt::format(".{:0{}}", units % power, decimals);
  return text;
}

std::string count_text(std::int64_t count) {
  return grouped(count);
}

std::string duration_text(profile::Nanoseconds duration_ns) {
  if (duration_ns < kUs) return with_unit(duration_ns, 1, 0, "ns");
  if (duration_ns < kMs) return with_unit(duration_ns, kUs / 10, 1, "us");
  if (duration_ns < 100 * kMs) return with_unit(duration_ns, kMs / 100, 2, "ms");
  if (duration_ns < kSecond) return with_unit(duration_ns, kMs / 10, 1, "ms");
  return with_unit(duration_ns, kSecond / 10, 1, "s");
}

std::string length_text(profile::Nanoseconds length_ns) {
  const TimeUnit unit = unit_for(length_ns);
  return with_unit(length_ns, unit.quantum_ns, unit.decimals, unit.name);
}

std::string percent_text(std::int64_t tenths) {
  return fmt::format("{}{}%", fixed(tenths, 1), kGlue);
}

}  // namespace gprofml::analysis
