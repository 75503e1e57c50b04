#include "libprofile/import/window_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "libprofile/import/import.hpp"
#include "libprofile/import/json_text.hpp"

namespace gprofml::profile {
namespace {

constexpr std::size_t kHeaderChunk = std::size_t{64} << 10;
/// Bytes simdjson may read beyond the text; its SIMDJSON_PADDING, asserted where it is used.
constexpr std::size_t kPadding = 64;

}  // namespace

WindowReader::WindowReader(const std::string& path, std::size_t window_bytes)
    : path_(path), window_bytes_(std::max<std::size_t>(window_bytes, 16)), source_(path) {}

std::string WindowReader::place(std::uint64_t byte) const {
  return fmt::format("byte {}{}", byte, source_.compressed() ? " of the inflated data" : "");
}

bool WindowReader::next(Window& window) {
  while (!done_) {
    if (!in_events_) {
      if (!read_header()) break;
    } else if (fill(window)) {
      return true;
    }
  }
  done_ = true;
  return false;
}

/// False: the file is at its end.
bool WindowReader::read_header() {
  if (rest_.empty()) {
    rest_.resize(std::min(window_bytes_, kHeaderChunk));
    rest_.resize(source_.read(rest_.data(), rest_.size()));
    if (rest_.empty()) {
      end_of_file();
      return false;
    }
  }
  const std::size_t taken = header_.consume({rest_.data(), rest_.size()});
  if (header_.state() == HeaderReader::State::invalid) {
    const std::uint64_t byte = source_.position() - rest_.size() + taken - 1;
    const std::string what = fmt::format("{}: {} is expected here", place(byte), header_.problem());
    if (!header_.found_events())
      throw ImportError(fmt::format(
          "{}: {}: this is not a JSON trace; give a Kineto or Chrome trace, or a run.db", path_,
          what));
    cut_off_ = what + ": the file is damaged";
    return false;
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (header_.state() == HeaderReader::State::events) {
    in_events_ = true;
    scanner_ = JsonScanner();
    scanned_ = 0;
  }
  return true;
}

void WindowReader::grow(Window& window, std::size_t wanted) const {
  if (window.bytes.size() < wanted + 2 + kPadding) window.bytes.resize(wanted + 2 + kPadding);
}

/// Fills the window up to the last boundary that fits. False: the array ended with nothing in it.
bool WindowReader::fill(Window& window) {
  std::size_t limit = std::max(window_bytes_, rest_.size());
  grow(window, limit);
  char* text = window.bytes.data() + 1;
  std::memcpy(text, rest_.data(), rest_.size());
  std::size_t size = rest_.size();
  window.offset = source_.position() - size;
  std::size_t boundary = JsonScanner::kNone;
  bool at_end = false;
  for (;;) {
    const JsonScanner::Found found = scanner_.scan({text + scanned_, size - scanned_});
    if (found.array_end != JsonScanner::kNone) {
      boundary = scanned_ + found.array_end;
      in_events_ = false;
      break;
    }
    if (found.last_comma != JsonScanner::kNone) boundary = scanned_ + found.last_comma;
    scanned_ = size;
    if (at_end || (size == limit && boundary != JsonScanner::kNone)) break;
    if (size == limit) {
      if (limit >= kMaxEventBytes)
        throw ImportError(fmt::format(
            "{}: {}: an element of traceEvents is larger than {} MiB: the file is damaged there",
            path_, place(window.offset), kMaxEventBytes >> 20));
      limit = std::min(2 * limit, kMaxEventBytes);
      grow(window, limit);
      text = window.bytes.data() + 1;
    }
    const std::size_t got = source_.read(text + size, limit - size);
    at_end = got < limit - size;
    size += got;
  }
  const bool cut_off = in_events_ && at_end;
  const std::size_t used = boundary == JsonScanner::kNone || cut_off ? size : boundary;
  rest_.assign(text + std::min(used + 1, size), text + size);
  scanned_ = in_events_ ? rest_.size() : 0;
  window.bytes[0] = '[';
  text[used] = ']';
  std::memset(text + used + 1, 0, kPadding);
  window.size = used + 2;
  window.cut_off = cut_off;
  if (cut_off) end_inside_events();
  if (!in_events_ && !cut_off) header_.events_ended();
  return true;
}

void WindowReader::end_inside_events() {
  cut_off_ =
      fmt::format("{}: the file ends before traceEvents is closed", place(source_.position()));
  if (!source_.damage().empty()) cut_off_ += fmt::format(" ({})", source_.damage());
  done_ = true;
}

void WindowReader::end_of_file() {
  if (header_.nothing_seen() && source_.damage().empty())
    throw ImportError(fmt::format("{}: {}: the file is empty; write the trace again", path_,
                                  place(source_.position())));
  if (header_.complete() && source_.damage().empty()) {
    if (header_.found_events()) return;
    std::string keys = fmt::format("{}", fmt::join(header_.first_keys(), ", "));
    repair(keys.data(), keys.size());
    throw ImportError(fmt::format(
        "{}: {}: no traceEvents array, only the keys {}; give a Kineto or Chrome trace, "
        "or a run.db",
        path_, place(source_.position()), keys));
  }
  std::string what = fmt::format("{}: the file {}", place(source_.position()),
                                 header_.complete() ? "is damaged" : "ends inside its header");
  if (!source_.damage().empty()) what += fmt::format(" ({})", source_.damage());
  if (!header_.found_events())
    throw ImportError(fmt::format("{}: {}, before any event; write the trace again", path_, what));
  cut_off_ = what;
}

}  // namespace gprofml::profile
