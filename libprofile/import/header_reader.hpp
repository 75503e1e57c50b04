// Everything of a trace file that is not an event: the keys beside traceEvents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::profile {

/// Reads the top level of a JSON file byte by byte, up to the array of events and again after it.
/// Values of the few keys an import uses, and all short plain values, are kept as JSON text; the
/// rest is passed over without being stored, however large or deep it is.
class HeaderReader {
 public:
  enum class State {
    running,  ///< wants more bytes
    events,   ///< the byte before was the bracket that opens the array of events
    invalid,  ///< the last byte consumed cannot stand there: see `problem`
  };

  /// Takes bytes from `piece` until the state changes; returns how many it took.
  std::size_t consume(std::string_view piece);

  /// To be called when the array of events has been closed.
  void events_ended();

  State state() const { return state_; }
  /// What was expected instead of the byte that made the state invalid.
  const char* problem() const { return problem_; }
  /// The top-level value is complete (only blanks may follow).
  bool complete() const { return place_ == Place::after_document; }
  bool nothing_seen() const { return place_ == Place::document; }
  bool found_events() const { return found_events_; }
  /// Further arrays of events; they are passed over, as a repeated key is no part of the format.
  std::int64_t repeated_events() const { return repeated_events_; }

  /// JSON text of the kept values by key; of a repeated key the last.
  const std::map<std::string, std::string>& values() const { return values_; }
  /// The first keys of the top level, to tell a user what the file holds instead.
  const std::vector<std::string>& first_keys() const { return first_keys_; }

 private:
  enum class Place {
    document,
    key_or_end,
    key,
    in_key,
    colon,
    value,
    in_value,
    after_value,
    after_document
  };

  bool take(char c);
  void begin_document(char c);
  void begin_value(char c);
  bool in_value(char c);
  void end_key();
  void end_value();
  void keep(char c);
  void reject(const char* expected);

  State state_ = State::running;
  Place place_ = Place::document;
  const char* problem_ = "";
  bool array_document_ = false;
  bool found_events_ = false;
  std::int64_t repeated_events_ = 0;
  std::size_t mark_bytes_ = 0;  // of a byte order mark
  std::string key_;
  std::string value_;
  std::size_t value_limit_ = 0;  // 0: the value is not kept
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  std::map<std::string, std::string> values_;
  std::vector<std::string> first_keys_;
};

}  // namespace gprofml::profile
