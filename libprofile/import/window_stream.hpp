// Windows of a file, read ahead by a second thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libprofile/import/window_reader.hpp"

namespace gprofml::profile {

/// With two threads one reads, inflates and scans while the caller parses; at most kAhead windows
/// are in flight and their buffers go round. With one thread the caller does both in turn. The
/// windows are the same either way.
class WindowStream {
 public:
  WindowStream(const std::string& path, std::size_t window_bytes, int threads);
  ~WindowStream();
  WindowStream(const WindowStream&) = delete;
  WindowStream& operator=(const WindowStream&) = delete;

  /// The next window, valid until the next call; nullptr at the end. Throws what reading threw.
  const Window* next();
  /// Ends reading; from then on `reader` may be asked.
  void finish();
  const WindowReader& reader() const { return reader_; }
  std::uint64_t expected_size() const { return expected_size_; }

 private:
  static constexpr std::size_t kAhead = 3;
  void read_ahead();

  WindowReader reader_;
  std::uint64_t expected_size_;
  Window current_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Window> ready_;  // guarded by mutex_, as all below
  std::vector<Window> recycled_;
  bool ended_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
};

}  // namespace gprofml::profile
