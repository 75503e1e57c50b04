// A progress bar on standard error, for people who wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gprofml::app {

/// Shows itself only on a terminal, and only when the work takes longer than half a second. Wiped
/// at the end of its scope.
class Progress {
 public:
  explicit Progress(std::string what, bool wanted = true);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(std::uint64_t done, std::uint64_t all);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace gprofml::app
