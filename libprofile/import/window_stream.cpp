#include "libprofile/import/window_stream.hpp"

#include <utility>

namespace gprofml::profile {

WindowStream::WindowStream(const std::string& path, std::size_t window_bytes, int threads)
    : reader_(path, window_bytes), expected_size_(reader_.expected_size()) {
  if (threads >= 2) thread_ = std::thread([this] { read_ahead(); });
}

WindowStream::~WindowStream() {
  finish();
}

void WindowStream::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WindowStream::read_ahead() {
  try {
    for (bool more = true; more;) {
      Window window;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || ready_.size() < kAhead; });
        if (stop_) break;
        if (!recycled_.empty()) {
          window = std::move(recycled_.back());
          recycled_.pop_back();
        }
      }
      more = reader_.next(window);
      if (!more) break;
      {
        const std::lock_guard lock(mutex_);
        ready_.push_back(std::move(window));
      }
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

const Window* WindowStream::next() {
  if (!thread_.joinable()) return reader_.next(current_) ? &current_ : nullptr;
  {
    std::unique_lock lock(mutex_);
    if (!current_.bytes.empty()) recycled_.push_back(std::move(current_));
    current_ = Window();
    changed_.wait(lock, [&] { return ended_ || !ready_.empty(); });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return nullptr;
    }
    current_ = std::move(ready_.front());
    ready_.pop_front();
  }
  changed_.notify_all();
  return &current_;
}

}  // namespace gprofml::profile
