#include "libprofile/capture/output_tap.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "libprofile/capture/output_forwarder.hpp"

namespace gprofml::profile {
namespace {

constexpr int kPipeBytes = 1 << 20;

/// The two ends of what carries the output.
struct Carrier {
  int read_end = -1;
  int write_end = -1;
  bool is_pty = false;
};

/// Above the standard descriptors, which may be closed in this process.
int moved_up(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  close(descriptor);
  return higher;
}

Carrier make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  Carrier carrier{moved_up(ends[0]), moved_up(ends[1]), false};
  fcntl(carrier.write_end, F_SETPIPE_SZ, kPipeBytes);  // or less, where that is not allowed
  return carrier;
}

/// A pty like `terminal`, but for what it would do to bytes: the terminal itself still does that.
Carrier make_pty(int terminal) {
  const int master = moved_up(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master < 0) return {};
  std::array<char, 128> name{};
  int slave = -1;
  if (grantpt(master) == 0 && unlockpt(master) == 0 &&
      ptsname_r(master, name.data(), name.size()) == 0) {
    slave = moved_up(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  termios settings{};
  winsize size{};
  const bool like_it = slave >= 0 && tcgetattr(terminal, &settings) == 0;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (!like_it || tcsetattr(slave, TCSANOW, &settings) != 0) {
    close(master);
    if (slave >= 0) close(slave);
    return {};
  }
  if (ioctl(terminal, TIOCGWINSZ, &size) == 0) ioctl(slave, TIOCSWINSZ, &size);
  return {master, slave, true};
}

bool is_written_to(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/// Whether both are one open file, so that what is written to them has one order.
bool are_one(int a, int b) {
  struct stat of_a {};
  struct stat of_b {};
  if (!is_written_to(a) || !is_written_to(b)) return false;
  if (fstat(a, &of_a) != 0 || fstat(b, &of_b) != 0) return false;
  return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

void close_range_of(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  constexpr unsigned kEnough = 65536;  // before Linux 5.9
  for (unsigned descriptor = first; descriptor <= std::min(last, kEnough); ++descriptor) {
    close(static_cast<int>(descriptor));
  }
}

void close_all_but(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 0;
  for (const int descriptor : kept) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > from) close_range_of(from, number - 1);
    from = number + 1;
  }
  close_range_of(from, ~0U);
}

/// The forwarder's side of fork. Never returns, and never runs what the parent has registered for
/// its exit.
[[noreturn]] void become_forwarder(const ForwarderDescriptors& descriptors) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_NAME, "gprof-ml output");
  // Else whoever waits for the end of another of our descriptors would wait for us.
  close_all_but({descriptors.from, descriptors.to, descriptors.control});
  (void)!chdir("/");
  forward_output(descriptors, kKeptOutputBytes);
  _exit(0);
}

void say(int control, ForwarderMessage kind, const std::string& more = {}) {
  std::string message(1, static_cast<char>(kind));
  message += more;
  (void)!send(control, message.data(), message.size(), MSG_NOSIGNAL);
}

std::string text_of(int reason) {
  return std::strerror(reason);
}

}  // namespace

OutputTap::~OutputTap() {
  handed_over();
  for (const Forwarder& forwarder : forwarders_) {
    close(forwarder.control);
    int ignored = 0;
    waitpid(forwarder.pid, &ignored, forwarder.ends ? 0 : WNOHANG);
  }
}

std::string OutputTap::open() {
  const bool one = are_one(STDOUT_FILENO, STDERR_FILENO);
  std::string why = tap("stdout", STDOUT_FILENO, one);
  if (why.empty() && !one) why = tap("stderr", STDERR_FILENO, false);
  return why;
}

std::string OutputTap::tap(const char* name, int descriptor, bool is_error_too) {
  struct stat status {};
  if (!is_written_to(descriptor) || fstat(descriptor, &status) != 0) return {};  // closed
  if (S_ISREG(status.st_mode)) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    std::array<char, 4096> path{};
    const ssize_t n = readlink(link.c_str(), path.data(), path.size());
    if (n <= 0) return std::string(name) + " goes to a file that cannot be found";
    const bool appends = (fcntl(descriptor, F_GETFL) & O_APPEND) != 0;
    const off_t at = appends ? status.st_size : lseek(descriptor, 0, SEEK_CUR);
    files_.push_back({name, std::string(path.data(), static_cast<std::size_t>(n)), at});
    return {};
  }
  Carrier carrier;
  if (isatty(descriptor) != 0) carrier = make_pty(descriptor);
  if (carrier.read_end < 0 && isatty(descriptor) == 0) carrier = make_pipe();
  if (carrier.read_end < 0) return std::string(name) + ": " + text_of(errno);
  int control[2];
  const int to = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  const bool has_control =
      to >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0;
  const pid_t pid = has_control ? fork() : -1;
  if (pid == 0) become_forwarder({carrier.read_end, to, control[1], carrier.is_pty});
  const int reason = errno;
  close(carrier.read_end);
  if (to >= 0) close(to);
  if (has_control) close(control[1]);
  if (pid < 0) {
    if (has_control) close(control[0]);
    close(carrier.write_end);
    return std::string(name) + ": " + text_of(reason);
  }
  forwarders_.push_back({pid, moved_up(control[0])});
  files_.push_back({name, {}, 0});
  replacements_.emplace_back(carrier.write_end, descriptor);
  if (is_error_too) replacements_.emplace_back(carrier.write_end, STDERR_FILENO);
  return {};
}

void OutputTap::handed_over() {
  int last = -1;
  for (const auto& [ours, theirs] : replacements_) {
    if (ours != last) close(ours);  // one that stands for both stands twice
    last = ours;
  }
  replacements_.clear();
}

void OutputTap::keep_in(const std::string& folder) {
  if (folder.empty()) return;
  std::size_t forwarder = 0;
  for (const File& file : files_) {
    const std::string stem = folder + "/" + file.name;
    if (file.path.empty()) {
      say(forwarders_[forwarder++].control, ForwarderMessage::keep_in, stem + kOutputSuffix);
      continue;
    }
    const std::string text = std::to_string(file.offset) + "\n" + file.path;
    const int place = ::open((stem + kOutputPlaceSuffix).c_str(),
                             O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (place < 0) continue;
    (void)!write(place, text.data(), text.size());
    close(place);
  }
}

void OutputTap::drain(const std::function<bool()>& enough) {
  constexpr int kLookMs = 20;
  for (Forwarder& forwarder : forwarders_) {
    say(forwarder.control, ForwarderMessage::drain);
    // Answered, or closed because nobody writes any more.
    pollfd polled{forwarder.control, POLLIN, 0};
    while (poll(&polled, 1, kLookMs) <= 0) {
      if (enough && enough()) return;
    }
    char answer = 0;
    if (recv(forwarder.control, &answer, 1, MSG_DONTWAIT) == 0) forwarder.ends = true;
  }
}

void OutputTap::stop_keeping() {
  for (const Forwarder& forwarder : forwarders_) {
    say(forwarder.control, ForwarderMessage::stop_keeping);
  }
}

}  // namespace gprofml::profile
