#include "apps/gprof-ml/run_windows.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>

#include "apps/gprof-ml/interruptible.hpp"
#include "apps/gprof-ml/message.hpp"
#include "libprofile/capture/recording.hpp"

namespace gprofml::app {
namespace {

/// A run.db is made from all raw records so far. Where windows close faster than that, those that
/// have closed meanwhile share the next one, and it is not begun before the last has rested so many
/// times as long as it took, or a second: a fifth of one core at most.
constexpr profile::Nanoseconds kRests = 4;
/// Nobody looks at more files than that, however quickly they are made.
constexpr profile::Nanoseconds kLeastRestNs = 1'000'000'000;
/// Then only the run.db at the end has what follows.
constexpr std::uint32_t kMostSnapshots = 1000;
/// Recorders settle a window in at most 2 s, so that parts of one in several processes are together
/// by then.
constexpr profile::Nanoseconds kSettlingNs = 2'500'000'000;

profile::Nanoseconds steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// run.db, run.2.db, run.3.db …
RunOutput numbered(RunOutput output, std::uint32_t number) {
  if (number < 2) return output;
  for (std::string* name : {&output.path, &output.shown}) {
    const std::size_t folder = name->rfind('/');
    const std::size_t dot = name->rfind('.');
    const bool has_ending =
        dot != std::string::npos && (folder == std::string::npos || dot > folder + 1);
    name->insert(has_ending ? dot : name->size(), fmt::format(".{}", number));
  }
  return output;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// -1, and one line, when it cannot be started.
pid_t start_command(const std::string& on_window, const RunOutput& written) {
  const std::string command = replaced(on_window, "{db}", profile::command_text({written.path}));
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  // Signals wait in us; the command is to have them as any other.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  // What is typed is the program's.
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const words[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  print_message(fmt::format("--on-window: cannot start a shell: {}", std::strerror(error)));
  return -1;
}

void say_how_it_ended(const std::string& on_window, int status) {
  if (status == 0) return;
  print_message(fmt::format("--on-window: {} ended with {}", on_window,
                            WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status))));
}

}  // namespace

void run_window_command(const std::string& on_window, const RunOutput& written) {
  const pid_t pid = start_command(on_window, written);
  if (pid < 0) return;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && !Interruptible::asked_to_stop()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (ended > 0) say_how_it_ended(on_window, status);
}

WindowWatch::WindowWatch(const std::string& folder, const profile::Manifest& manifest,
                         RunOutput output, bool were_asked_for, std::string on_window, bool quiet,
                         bool keeps_last)
    : control_(folder),
      folder_(folder),
      manifest_(manifest),
      output_(std::move(output)),
      were_asked_for_(were_asked_for),
      on_window_(std::move(on_window)),
      quiet_(quiet),
      keeps_last_(keeps_last) {}

/// A flush that all recorders have served and of which no file was made yet.
std::optional<std::uint32_t> WindowWatch::served_flush() const {
  const auto header = control_.header();
  if (!header || header->flush_generation == flush_taken_) return std::nullopt;
  const profile::Nanoseconds realtime_ns = profile::realtime_now_ns();
  for (const spool::ControlSlot& slot : control_.slots()) {
    const bool waits = slot.flush_generation != header->flush_generation;
    if (waits && profile::is_alive(slot, realtime_ns)) return std::nullopt;
  }
  return header->flush_generation;
}

void WindowWatch::look() {
  look_at_commands();
  if (under_way_.valid()) {
    if (under_way_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    end_snapshot();
  }
  if (snapshots_ > kMostSnapshots) return;
  // Not after a rest: what it was asked for would be gone by then.
  const auto flush = keeps_last_ ? served_flush() : std::nullopt;
  if (flush) {
    flush_taken_ = *flush;
    ++snapshots_;
    return start_snapshot(0);
  }
  const profile::Nanoseconds now_ns = steady_now_ns();
  if (now_ns < rests_until_ns_) return;
  const profile::Nanoseconds realtime_ns = profile::realtime_now_ns();
  std::uint32_t closed = 0;
  bool settles = false;
  std::map<std::int64_t, std::uint32_t> complete = taken_;
  for (const spool::ControlSlot& slot : control_.slots()) {
    if (slot.windows_closed > complete[slot.pid]) {
      closed = std::max(closed, slot.windows_closed - complete[slot.pid]);
      complete[slot.pid] = slot.windows_closed;
    }
    // Another process's part of the same window may still come.
    settles = settles || (slot.windows_opened > slot.windows_closed + slot.is_recording &&
                          profile::is_alive(slot, realtime_ns));
  }
  if (closed == 0 || !are_wanted()) return;
  if (closed_since_ns_ == 0) closed_since_ns_ = now_ns;
  // Of windows that follow each other quickly one always settles.
  if (settles && now_ns - closed_since_ns_ < kSettlingNs) return;
  closed_since_ns_ = 0;
  next_ = std::move(complete);
  if (++snapshots_ > kMostSnapshots) {
    print_message(
        fmt::format("{} run.dbs of windows are enough; the run.db at the end will have "
                    "the windows that follow",
                    kMostSnapshots));
    return;
  }
  start_snapshot(closed);
}

bool WindowWatch::are_wanted() const {
  if (were_asked_for_) return true;
  const auto header = control_.header();
  return header && header->wanted != spool::Wanted::by_options;
}

void WindowWatch::start_snapshot(std::uint32_t windows) {
  Snapshot snapshot;
  // Where only the last part is kept run.db is the end's: it need not hold what this one does.
  snapshot.output = numbered(output_, snapshots_ + (keeps_last_ ? 1 : 0));
  snapshot.first_window = said_windows_ + 1;
  snapshot.windows = windows;
  said_windows_ += windows;
  profile::MergeOptions options;
  if (windows > 0) {
    options.complete_windows_from = taken_;
    taken_ = next_;
  }
  const auto make = [snapshot, options, folder = folder_, manifest = manifest_]() mutable {
    const profile::Nanoseconds start_ns = steady_now_ns();
    try {
      write_run_output(profile::read_recording(folder, manifest, options).trace, snapshot.output);
    } catch (const std::exception& error) {
      snapshot.problem = error.what();
    }
    snapshot.took_ns = steady_now_ns() - start_ns;
    return snapshot;
  };
  try {
    under_way_ = std::async(std::launch::async, make);
  } catch (const std::exception& error) {  // no thread
    print_message(
        fmt::format("a window closed, but no run.db can be made of it now: {}", error.what()));
  }
}

void WindowWatch::end_snapshot() {
  const Snapshot snapshot = under_way_.get();
  rests_until_ns_ = steady_now_ns() + std::max(kLeastRestNs, kRests * snapshot.took_ns);
  const std::string what = snapshot.windows == 0 ? std::string("flushed")
                           : snapshot.windows == 1
                               ? std::string("window closed")
                               : fmt::format("windows {} to {} closed", snapshot.first_window,
                                             snapshot.first_window + snapshot.windows - 1);
  if (!snapshot.problem.empty()) {
    has_failed_ = has_failed_ || snapshot.windows > 0;
    print_message(fmt::format("{}, but {}; {}", what, snapshot.problem,
                              snapshot.windows == 0 ? "`gprof-ml control flush` tries again"
                                                    : "the run.db at the end will have it"));
    return;
  }
  wrote_output_ = wrote_output_ || snapshot.output.path == output_.path;
  const std::string& program = manifest_.command.front();
  if (!quiet_) {
    print_message(fmt::format("{} -> {}; {} still runs (pid {})", what, snapshot.output.shown,
                              program.substr(program.rfind('/') + 1), manifest_.program_pid));
  }
  run_command(snapshot.output);
}

void WindowWatch::run_command(const RunOutput& written) {
  if (on_window_.empty()) return;
  const pid_t pid = start_command(on_window_, written);
  if (pid > 0) commands_.push_back(pid);
}

void WindowWatch::look_at_commands() {
  commands_.erase(std::remove_if(commands_.begin(), commands_.end(),
                                 [this](pid_t pid) {
                                   int status = 0;
                                   const pid_t ended = waitpid(pid, &status, WNOHANG);
                                   if (ended == 0) return false;
                                   if (ended > 0) say_how_it_ended(on_window_, status);
                                   return true;
                                 }),
                  commands_.end());
}

bool WindowWatch::finish() {
  if (under_way_.valid()) {
    under_way_.wait();
    end_snapshot();
  }
  look_at_commands();
  return wrote_output_;
}

std::optional<std::uint64_t> WindowWatch::windows_made() const {
  if (on_window_.empty() || !are_wanted()) return std::nullopt;
  std::uint64_t windows = 0;
  if (has_failed_) return windows;
  for (const auto& process : taken_) windows += process.second;
  return windows;
}

}  // namespace gprofml::app
