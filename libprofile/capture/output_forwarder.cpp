#include "libprofile/capture/output_forwarder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace gprofml::profile {
namespace {

constexpr int kSizeLookMs = 100;

class KeptOutput {
 public:
  explicit KeptOutput(std::uint64_t most) { header_.ring = most; }
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;
  ~KeptOutput() { stop(); }

  void open(const char* path) {
    stop();
    file_ = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  }

  void stop() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  /// A file that cannot be written to is given up: the program's output comes first.
  void add(const char* bytes, std::size_t count) {
    while (file_ >= 0 && count > 0) {
      const std::uint64_t at = header_.total % header_.ring;
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, header_.ring - at));
      if (pwrite(file_, bytes, part, static_cast<off_t>(sizeof header_ + at)) !=
          static_cast<ssize_t>(part)) {
        return stop();
      }
      header_.total += part;
      bytes += part;
      count -= part;
    }
    if (file_ >= 0 && pwrite(file_, &header_, sizeof header_, 0) != sizeof header_) stop();
  }

 private:
  int file_ = -1;
  KeptOutputHeader header_;
};

class ForwarderLoop {
 public:
  ForwarderLoop(const ForwarderDescriptors& descriptors, std::uint64_t kept_bytes)
      : at_(descriptors), kept_(kept_bytes) {}

  void run() {
    while (true) {
      if (at_.is_pty) follow_size();
      std::array<pollfd, 2> polled{pollfd{at_.from, POLLIN, 0}, pollfd{at_.control, POLLIN, 0}};
      const int ready = poll(polled.data(), polled.size(), at_.is_pty ? kSizeLookMs : -1);
      if (ready < 0 && errno != EINTR && errno != EAGAIN) return;
      if (ready <= 0) continue;
      // What the launcher says goes first: it says where copies go before the program starts.
      bool asked_to_drain = false;
      if (polled[1].revents != 0) asked_to_drain = hear();
      if (polled[0].revents != 0 && !hand_on()) return;
      if (asked_to_drain && !drain()) return;
    }
  }

 private:
  /// Returns whether to answer once there is nothing to read.
  bool hear() {
    std::array<char, 8192> message{};
    const ssize_t n = recv(at_.control, message.data(), message.size() - 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (n <= 0) {  // the launcher is gone; the program is not
      close(at_.control);
      at_.control = -1;
      return false;
    }
    switch (static_cast<ForwarderMessage>(message[0])) {
      case ForwarderMessage::keep_in:
        kept_.open(message.data() + 1);
        break;
      case ForwarderMessage::stop_keeping:
        kept_.stop();
        break;
      case ForwarderMessage::drain:
        return true;
    }
    return false;
  }

  bool drain() {
    pollfd polled{at_.from, POLLIN, 0};
    while (poll(&polled, 1, 0) > 0) {
      if (!hand_on()) return false;
    }
    const char answer = static_cast<char>(ForwarderMessage::drain);
    if (at_.control >= 0) (void)!send(at_.control, &answer, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    return true;
  }

  /// One read's worth. False at the end of either side.
  bool hand_on() {
    const ssize_t n = read(at_.from, buffer_.data(), buffer_.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return false;  // a pty without a program says EIO
    const auto count = static_cast<std::size_t>(n);
    kept_.add(buffer_.data(), count);
    return write_whole(buffer_.data(), count);
  }

  bool write_whole(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t n = write(at_.to, bytes, count);
      if (n > 0) {
        bytes += n;
        count -= static_cast<std::size_t>(n);
      } else if (n < 0 && errno == EAGAIN) {  // somebody else set it so, for whom we do not wait
        pollfd polled{at_.to, POLLOUT, 0};
        poll(&polled, 1, -1);
      } else if (n < 0 && errno != EINTR) {
        return false;
      }
    }
    return true;
  }

  void follow_size() {
    winsize wanted{};
    winsize has{};
    if (ioctl(at_.to, TIOCGWINSZ, &wanted) != 0 || ioctl(at_.from, TIOCGWINSZ, &has) != 0) return;
    if (wanted.ws_row != has.ws_row || wanted.ws_col != has.ws_col ||
        wanted.ws_xpixel != has.ws_xpixel || wanted.ws_ypixel != has.ws_ypixel) {
      ioctl(at_.from, TIOCSWINSZ, &wanted);
    }
  }

  ForwarderDescriptors at_;
  KeptOutput kept_;
  std::array<char, 65536> buffer_{};
};

}  // namespace

void forward_output(const ForwarderDescriptors& descriptors, std::uint64_t kept_bytes) {
  ForwarderLoop(descriptors, kept_bytes).run();
}

}  // namespace gprofml::profile
