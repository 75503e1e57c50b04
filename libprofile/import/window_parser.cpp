#include "libprofile/import/window_parser.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "libprofile/import/json_text.hpp"

namespace gprofml::profile {
namespace {

namespace od = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= 64, "Window pads by 64 bytes");

using simdjson::error_code;
using simdjson::SUCCESS;

/// The text of a key, escapes as written. Keys of a trace are short and end at the first quote
/// that no backslash precedes.
std::string_view key_text(od::raw_json_string key) {
  const char* first = key.raw();
  const char* last = first;
  while (*last != '"') last += *last == '\\' ? 2 : 1;
  return {first, static_cast<std::size_t>(last - first)};
}

/// The token of a plain value; the text from bracket to bracket of an array, which is a list of
/// three numbers where it is used.
error_code argument(od::value& value, std::string_view& text) {
  text = value.raw_json_token();
  if (text.front() != '[') return text.front() == '{' ? (text = {}, SUCCESS) : SUCCESS;
  od::array array;
  if (const error_code error = value.get_array().get(array)) return error;
  return array.raw_json().get(text);
}

error_code parse_arguments(od::value& value, KinetoEvent& event) {
  od::object object;
  if (const error_code error = value.get_object().get(object)) return error;
  for (auto result : object) {
    od::field field;
    if (const error_code error = std::move(result).get(field)) return error;
    const KinetoArg arg = kineto_arg(key_text(field.key()));
    if (arg == KinetoArg::count) continue;
    std::string_view token;
    if (const error_code error = argument(field.value(), token)) return error;
    event.set_arg(arg, token);
  }
  return SUCCESS;
}

std::string_view* member(KinetoEvent& event, std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &event.phase;
      return key == "ts" ? &event.ts : nullptr;
    case 3:
      if (key == "cat") return &event.category;
      if (key == "pid") return &event.pid;
      if (key == "tid") return &event.tid;
      return key == "dur" ? &event.dur : nullptr;
    case 4:
      return key == "name" ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

error_code parse_event(od::value& value, KinetoEvent& event) {
  od::object object;
  if (const error_code error = value.get_object().get(object)) return error;
  for (auto result : object) {
    od::field field;
    if (const error_code error = std::move(result).get(field)) return error;
    const std::string_view key = key_text(field.key());
    if (std::string_view* target = member(event, key)) {
      *target = field.value().raw_json_token();
    } else if (key == "args" && field.value().raw_json_token().front() == '{') {
      if (const error_code error = parse_arguments(field.value(), event)) return error;
    }
  }
  return SUCCESS;
}

}  // namespace

struct WindowParser::State {
  od::parser parser;
  std::vector<char> element;  // one element, bracketed and padded

  error_code open(const std::vector<char>& text, std::size_t size, od::document& document);
  std::size_t parse_all(const Window& window, EventSink& sink);
  void parse_each(const Window& window, std::size_t from, EventSink& sink);
  void parse_alone(std::string_view text, std::uint64_t byte, EventSink& sink);
  error_code parse_element(KinetoEvent& event);
};

WindowParser::WindowParser() : state_(std::make_unique<State>()) {}
WindowParser::~WindowParser() = default;

void WindowParser::parse(const Window& window, EventSink& sink) {
  const std::size_t parsed = window.cut_off ? 1 : state_->parse_all(window, sink);
  if (parsed < window.size) state_->parse_each(window, parsed, sink);
}

/// Grows the parser in powers of two: windows of slightly different size must not each reallocate.
error_code WindowParser::State::open(const std::vector<char>& text, std::size_t size,
                                     od::document& document) {
  constexpr std::size_t kSmallest = 4096;
  if (parser.capacity() < size)
    if (const error_code error = parser.allocate(std::max(kSmallest, std::bit_ceil(size))))
      return error;
  return parser.iterate(text.data(), size, text.size()).get(document);
}

/// Hands on events until one is not good; returns where that one begins, the window's size when
/// there was none. An event is handed on only when what follows it is sound.
std::size_t WindowParser::State::parse_all(const Window& window, EventSink& sink) {
  od::document document;
  od::array events;
  if (open(window.bytes, window.size, document) || document.get_array().get(events)) return 1;
  std::size_t begin = 1;
  KinetoEvent event;
  od::array_iterator it;
  if (events.begin().get(it)) return begin;
  const od::array_iterator end{};
  while (it != end) {
    od::value value;
    if ((*it).get(value)) return begin;
    const char* text = value.raw_json_token().data();
    begin = static_cast<std::size_t>(text - window.bytes.data());
    event.clear();
    if (*text != '{' || parse_event(value, event)) return begin;
    ++it;
    if (it != end && (*it).error()) return begin;
    if (const std::string_view reason = sink.take(event); !reason.empty())
      sink.bad(window.offset + begin - 1, reason);
  }
  return window.size;
}

/// The elements from byte `from` of the window on, each parsed by itself.
void WindowParser::State::parse_each(const Window& window, std::size_t from, EventSink& sink) {
  JsonScanner scanner;
  const std::string_view text = window.json().substr(0, window.size - 1);
  while (from < text.size()) {
    const std::string_view rest = text.substr(from);
    const std::size_t boundary = scanner.next_boundary(rest);
    const bool complete = boundary != JsonScanner::kNone || !window.cut_off;
    const std::string_view element = rest.substr(0, boundary);
    const std::size_t blanks = element.find_first_not_of(" \t\r\n");
    const bool closed = scanner.depth() == 0 && rest[std::min(blanks, rest.size() - 1)] == '{';
    if (blanks != std::string_view::npos && (complete || closed))
      parse_alone(element.substr(blanks), window.offset + from + blanks - 1, sink);
    if (boundary == JsonScanner::kNone) return;
    from += boundary + 1;
  }
}

error_code WindowParser::State::parse_element(KinetoEvent& event) {
  od::document document;
  od::array array;
  const std::size_t size = element.size() - simdjson::SIMDJSON_PADDING;
  if (const error_code error = open(element, size, document)) return error;
  if (const error_code error = document.get_array().get(array)) return error;
  od::array_iterator it;
  if (const error_code error = array.begin().get(it)) return error;
  const od::array_iterator end{};
  od::value value;
  if (!(it != end)) return simdjson::TAPE_ERROR;
  if (const error_code error = (*it).get(value)) return error;
  if (const error_code error = parse_event(value, event)) return error;
  ++it;
  return it != end ? simdjson::TAPE_ERROR : SUCCESS;
}

void WindowParser::State::parse_alone(std::string_view text, std::uint64_t byte, EventSink& sink) {
  element.assign(text.size() + 2 + simdjson::SIMDJSON_PADDING, ' ');
  element[0] = '[';
  std::memcpy(element.data() + 1, text.data(), text.size());
  element[text.size() + 1] = ']';
  KinetoEvent event;
  error_code error = parse_element(event);
  if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
    repair(element.data() + 1, text.size());
    event.clear();
    error = parse_element(event);
    if (error == SUCCESS) sink.repaired();
  }
  if (error == simdjson::INCORRECT_TYPE) return sink.bad(byte, "it is not an object");
  if (error != SUCCESS) return sink.bad(byte, simdjson::error_message(error));
  if (const std::string_view reason = sink.take(event); !reason.empty()) sink.bad(byte, reason);
}

}  // namespace gprofml::profile
