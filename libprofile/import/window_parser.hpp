// From the text of a window to events, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "libprofile/import/kineto_event.hpp"
#include "libprofile/import/window_reader.hpp"

namespace gprofml::profile {

/// Who gets the events of a window.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Takes an event, whose views end with the call. Empty: fine, else what is wrong with it.
  virtual std::string_view take(const KinetoEvent& event) = 0;
  /// An element that is no usable event; `byte` is its offset in the (inflated) file.
  virtual void bad(std::uint64_t byte, std::string_view reason) = 0;
  /// An element that had to be altered to be JSON (control characters, wrong UTF-8).
  virtual void repaired() = 0;
};

/// Parses windows with simdjson On-Demand: one pass over the window when all is well; from the
/// first element that is not, element by element, so that a bad one costs itself only. Whether an
/// element is good depends on its own text alone.
class WindowParser {
 public:
  WindowParser();
  ~WindowParser();

  void parse(const Window& window, EventSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gprofml::profile
