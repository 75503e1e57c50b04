#include "test/synth/shuffle.hpp"

#include <algorithm>
#include <stdexcept>

#include "test/synth/random.hpp"

namespace gprofml::synth {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Steps over JSON text without understanding more of it than strings and nesting.
class Scanner {
 public:
  explicit Scanner(std::string_view json) : json_(json) {}

  std::size_t position() const { return at_; }

  char skip_blanks() {
    at_ = json_.find_first_not_of(kBlanks, at_);
    if (at_ == std::string_view::npos) fail();
    return json_[at_];
  }

  void expect(char c) {
    if (skip_blanks() != c) fail();
    ++at_;
  }

  // The string's content, escapes as they are.
  std::string_view skip_string() {
    expect('"');
    const std::size_t start = at_;
    while (at_ < json_.size() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    if (at_ >= json_.size()) fail();
    return json_.substr(start, at_++ - start);
  }

  // One value of any kind, without the blanks around it.
  std::string_view skip_value() {
    skip_blanks();
    const std::size_t start = at_;
    int depth = 0;
    do {
      const char c = skip_blanks();
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0 && (c == ',' || c == ':')) {
        ++at_;
      } else {
        skip_literal();
      }
    } while (depth > 0);
    return json_.substr(start, at_ - start);
  }

 private:
  void skip_literal() {
    const std::size_t end = std::min(json_.find_first_of(" \t\r\n,:]}[{\"", at_), json_.size());
    if (end == at_) fail();
    at_ = end;
  }

  [[noreturn]] static void fail() {
    throw std::invalid_argument("no well-formed array of trace events in this text");
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

// Leaves the scanner before the '[' of the events.
void find_events(Scanner& scanner) {
  if (scanner.skip_blanks() == '[') return;
  scanner.expect('{');
  while (true) {
    const std::string_view key = scanner.skip_string();
    scanner.expect(':');
    if (key == "traceEvents") return;
    scanner.skip_value();
    scanner.expect(',');
  }
}

}  // namespace

std::vector<std::string_view> kineto_events(std::string_view json) {
  Scanner scanner(json);
  find_events(scanner);
  scanner.expect('[');
  std::vector<std::string_view> events;
  if (scanner.skip_blanks() == ']') return events;
  while (true) {
    events.push_back(scanner.skip_value());
    if (scanner.skip_blanks() == ']') return events;
    scanner.expect(',');
  }
}

std::string shuffle_kineto_events(const std::string& json, std::uint64_t seed) {
  const std::vector<std::string_view> events = kineto_events(json);
  std::vector<std::string_view> shuffled = events;
  Random(seed).shuffle(shuffled);
  std::string result;
  result.reserve(json.size());
  std::size_t copied = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto start = static_cast<std::size_t>(events[i].data() - json.data());
    result.append(json, copied, start - copied);
    result.append(shuffled[i]);
    copied = start + events[i].size();
  }
  result.append(json, copied, std::string::npos);
  return result;
}

}  // namespace gprofml::synth
