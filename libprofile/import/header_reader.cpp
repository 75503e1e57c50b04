#include "libprofile/import/header_reader.hpp"

namespace gprofml::profile {
namespace {

constexpr std::size_t kMaxKeyBytes = 256;
constexpr std::size_t kMaxKeys = 256;
constexpr std::size_t kMaxPlainBytes = 4096;
constexpr std::size_t kMaxStructureBytes = std::size_t{4} << 20;
constexpr std::size_t kFirstKeys = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// How much of a value is kept, judged by its key and its first byte.
std::size_t limit_of(const std::string& key, char first) {
  const bool is_structure = first == '{' || first == '[';
  if (!is_structure) return kMaxPlainBytes;
  return key == "deviceProperties" || key == "distributedInfo" ? kMaxStructureBytes : 0;
}

}  // namespace

void HeaderReader::reject(const char* expected) {
  problem_ = expected;
  state_ = State::invalid;
}

std::size_t HeaderReader::consume(std::string_view piece) {
  if (state_ == State::events) state_ = State::running;
  std::size_t taken = 0;
  while (taken < piece.size() && state_ == State::running)
    if (take(piece[taken])) ++taken;
  return taken;
}

void HeaderReader::events_ended() {
  place_ = array_document_ ? Place::after_document : Place::after_value;
}

/// False: `c` ended a plain value and has to be looked at again.
bool HeaderReader::take(char c) {
  if (place_ == Place::in_key) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      end_key();
      return true;
    }
    if (key_.size() < kMaxKeyBytes) key_ += c;
    return true;
  }
  if (place_ == Place::in_value) return in_value(c);
  if (is_blank(c)) return true;
  switch (place_) {
    case Place::document:
      begin_document(c);
      break;
    case Place::key_or_end:
      if (c == '}') {
        place_ = Place::after_document;
        break;
      }
      [[fallthrough]];
    case Place::key:
      if (c != '"') return reject("a key"), true;
      key_.clear();
      place_ = Place::in_key;
      break;
    case Place::colon:
      if (c != ':') return reject("a colon"), true;
      place_ = Place::value;
      break;
    case Place::value:
      begin_value(c);
      break;
    case Place::after_value:
      // A comma before the closing brace is forgiven: hand-edited traces have it.
      if (c == ',')
        place_ = Place::key_or_end;
      else if (c == '}')
        place_ = Place::after_document;
      else
        reject("a comma or a closing brace");
      break;
    default:
      reject("the end of the file");
      break;
  }
  return true;
}

void HeaderReader::begin_document(char c) {
  if (mark_bytes_ < kByteOrderMark.size() && c == kByteOrderMark[mark_bytes_]) {
    ++mark_bytes_;
  } else if (mark_bytes_ != 0 && mark_bytes_ != kByteOrderMark.size()) {
    reject("a brace or a bracket");
  } else if (c == '{') {
    place_ = Place::key_or_end;
  } else if (c == '[') {
    array_document_ = found_events_ = true;
    state_ = State::events;
  } else {
    reject("a brace or a bracket");
  }
}

void HeaderReader::end_key() {
  if (first_keys_.size() < kFirstKeys) first_keys_.push_back(key_);
  place_ = Place::colon;
}

void HeaderReader::begin_value(char c) {
  if (c == '[' && key_ == "traceEvents") {
    if (!found_events_) {
      found_events_ = true;
      state_ = State::events;
      return;
    }
    ++repeated_events_;
  }
  if (c == ',' || c == '}' || c == ']' || c == ':') return reject("a value");
  value_.clear();
  value_limit_ = limit_of(key_, c);
  depth_ = c == '{' || c == '[' ? 1 : 0;
  in_string_ = c == '"';
  place_ = Place::in_value;
  keep(c);
}

void HeaderReader::keep(char c) {
  if (value_limit_ == 0) return;
  if (value_.size() < value_limit_) {
    value_ += c;
  } else {
    value_limit_ = 0;
    value_.clear();
  }
}

bool HeaderReader::in_value(char c) {
  if (in_string_) {
    keep(c);
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = false;
    if (!in_string_ && depth_ == 0) end_value();
    return true;
  }
  if (depth_ == 0 && (c == ',' || c == '}' || is_blank(c))) {
    end_value();
    return false;
  }
  keep(c);
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && --depth_ <= 0) end_value();
  return true;
}

void HeaderReader::end_value() {
  place_ = Place::after_value;
  if (value_limit_ == 0) return;
  if (values_.size() < kMaxKeys || values_.count(key_) != 0) values_[key_] = value_;
}

}  // namespace gprofml::profile
