#include "injection/options.hpp"

#include <cstddef>
#include <cstring>

namespace gprofml::injection {
namespace {

/// A part of the text, not terminated.
struct Piece {
  const char* begin;
  std::size_t size;

  bool is(const char* word) const {
    return std::strlen(word) == size && std::memcmp(begin, word, size) == 0;
  }
};

/// Cuts `rest` at the first `separator`; what is before it is returned, what is behind it stays.
Piece next_piece(Piece& rest, char separator) {
  const void* found = std::memchr(rest.begin, separator, rest.size);
  const std::size_t size =
      found == nullptr ? rest.size
                       : static_cast<std::size_t>(static_cast<const char*>(found) - rest.begin);
  const Piece piece{rest.begin, size};
  const std::size_t taken = found == nullptr ? size : size + 1;
  rest.begin += taken;
  rest.size -= taken;
  return piece;
}

bool read_number(const Piece& piece, std::uint64_t most, std::uint64_t& number) {
  if (piece.size == 0 || piece.size > 20) return false;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < piece.size; ++i) {
    const char digit = piece.begin[i];
    if (digit < '0' || digit > '9') return false;
    if (value > (UINT64_MAX - 9) / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (value > most) return false;
  number = value;
  return true;
}

template <class Integer>
bool read_integer(const Piece& piece, std::uint64_t most, Integer& number) {
  std::uint64_t value = 0;
  if (!read_number(piece, most, value)) return false;
  number = static_cast<Integer>(value);
  return true;
}

bool read_flag(const Piece& piece, bool& flag) {
  if (!piece.is("0") && !piece.is("1")) return false;
  flag = piece.is("1");
  return true;
}

int hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

/// %XX becomes its byte.
bool read_text(const Piece& piece, char (&text)[Options::kLongestName]) {
  std::size_t written = 0;
  char decoded[Options::kLongestName] = {};
  for (std::size_t i = 0; i < piece.size; ++i) {
    if (written + 1 >= Options::kLongestName) return false;
    char byte = piece.begin[i];
    if (byte == '%') {
      if (piece.size - i < 3) return false;
      const int high = hexadecimal(piece.begin[i + 1]);
      const int low = hexadecimal(piece.begin[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0)) return false;
      byte = static_cast<char>(high * 16 + low);
      i += 2;
    }
    decoded[written++] = byte;
  }
  std::memcpy(text, decoded, sizeof decoded);
  return true;
}

bool read_groups(Piece list, std::uint32_t& groups) {
  std::uint32_t read = 0;
  while (list.size > 0) {
    const Piece name = next_piece(list, ',');
    std::uint32_t bit = 0;
    for (const spool::GroupName& known : spool::kGroupNames) {
      if (name.is(known.name)) bit = known.bit;
    }
    if (bit == 0) return false;
    read |= bit;
  }
  groups = read;
  return read != 0;
}

bool read_steps(Piece list, Options& options) {
  std::uint32_t numbers[4] = {0, 0, 0, 1};
  std::size_t count = 0;
  while (list.size > 0) {
    if (count == 4 || !read_integer(next_piece(list, ','), 1'000'000'000, numbers[count]))
      return false;
    ++count;
  }
  if (count < 3 || numbers[2] == 0) return false;
  options.steps_wait = numbers[0];
  options.steps_warmup = numbers[1];
  options.steps_active = numbers[2];
  options.steps_repeat = numbers[3];
  return true;
}

/// False: the value cannot be read.
bool take(const Piece& key, const Piece& value, Options& options) {
  constexpr std::uint64_t kMostTime = INT64_MAX;
  if (key.is(spool::kLevelKey)) {
    if (!read_integer(value, spool::kHighestLevel, options.level)) return false;
    options.groups = spool::groups_of_level(options.level);
    return true;
  }
  if (key.is(spool::kKindsKey)) return read_groups(value, options.groups);
  if (key.is(spool::kGraphsKey)) {
    if (!value.is("whole") && !value.is("nodes")) return false;
    options.groups = value.is("whole") ? options.groups & ~spool::kGraphNodes
                                       : options.groups | spool::kGraphNodes;
    return true;
  }
  if (key.is(spool::kPythonKey)) return read_flag(value, options.python);
  if (key.is(spool::kRedactKey)) return read_flag(value, options.redact);
  if (key.is(spool::kMostBytesKey)) return read_integer(value, UINT64_MAX, options.most_bytes);
  if (key.is(spool::kBudgetKey)) return read_integer(value, 1'000'000, options.budget_ppm);
  if (key.is(spool::kPausedKey)) return read_flag(value, options.paused);
  if (key.is(spool::kProfilerApiKey)) return read_flag(value, options.profiler_api);
  if (key.is(spool::kDelayKey)) return read_integer(value, kMostTime, options.delay_ns);
  if (key.is(spool::kDurationKey)) return read_integer(value, kMostTime, options.duration_ns);
  if (key.is(spool::kKeepLastKey)) return read_integer(value, kMostTime, options.keep_last_ns);
  if (key.is(spool::kRangeKey)) return read_text(value, options.range);
  if (key.is(spool::kRangeIndexKey)) return read_integer(value, kMostTime, options.range_index);
  if (key.is(spool::kStepsKey)) return read_steps(value, options);
  if (key.is(spool::kStepKey)) return read_text(value, options.step);
  return true;  // of a newer launcher
}

}  // namespace

void read_options(const char* text, Options& options,
                  void (*complain)(const char* key, void* argument), void* argument) {
  options = Options{};
  if (text == nullptr) return;
  Piece rest{text, std::strlen(text)};
  while (rest.size > 0) {
    Piece value = next_piece(rest, ';');
    const Piece key = next_piece(value, '=');
    if (key.size == 0 || take(key, value, options)) continue;
    char name[64] = {};
    std::memcpy(name, key.begin, key.size < sizeof name ? key.size : sizeof name - 1);
    if (complain != nullptr) complain(name, argument);
  }
}

}  // namespace gprofml::injection
