#include "apps/gprof-ml/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace gprofml::app {
namespace {

constexpr int kCells = 40;
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(std::string what, bool wanted)
    : what_(std::move(what)),
      wanted_(wanted && ::isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + kPatience) {}

void Progress::show(std::uint64_t done, std::uint64_t all) {
  if (!wanted_ || all == 0 || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  shown_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const int cells = static_cast<int>(part * kCells);
  const std::string bar = std::string(static_cast<std::size_t>(cells), '#') +
                          std::string(static_cast<std::size_t>(kCells - cells), '.');
  std::fprintf(stderr, "\r%s %s %3d %%", what_.c_str(), bar.c_str(), static_cast<int>(part * 100));
  std::fflush(stderr);
}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace gprofml::app
