// `run` while windows close: each time a run.db of what has closed, a line that says so, and the
// command of --on-window.
#pragma once

#include <sys/types.h>

#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/gprof-ml/run_output.hpp"
#include "libprofile/capture/control_file.hpp"
#include "libprofile/capture/manifest.hpp"

namespace gprofml::app {

/// Runs a command of --on-window for that file, and waits for its end, or until somebody asks us to
/// stop (Interruptible): then it goes on alone. What fails is one line.
void run_window_command(const std::string& on_window, const RunOutput& written);

/// All its functions are called by one thread; the merging happens on another, one at a time, and
/// takes a fifth of one core at most: windows that close meanwhile share the next run.db. There is
/// one a second, and 1000 in all, at most. Nothing throws: what fails is one line, and the raw
/// records are still there for the run.db at the program's end.
class WindowWatch {
 public:
  /// `were_asked_for`: by the options. Windows of the overhead budget make no run.db, which would
  /// cost more than they save; those of `gprof-ml control` always do.
  /// `on_window`: a command for the shell, {db} stands for the file; empty: none.
  /// `keeps_last`: only the last part is kept, and each flush that somebody asks for makes a file
  /// of it.
  WindowWatch(const std::string& folder, const profile::Manifest& manifest, RunOutput output,
              bool were_asked_for, std::string on_window, bool quiet, bool keeps_last);

  /// That flush was the launcher's own.
  void ignore_flush(std::uint32_t generation) { flush_taken_ = generation; }
  /// Looks whether windows have closed. To be called some ten times a second.
  void look();
  /// Waits for a run.db that is being made. Whether the output's own name is one of ours by now.
  bool finish();
  /// After `finish`: of how many windows, counted for each process by itself, a run.db was made.
  /// More of them in the run.db at the end have had no command yet. nullopt: windows here have
  /// none.
  std::optional<std::uint64_t> windows_made() const;

 private:
  struct Snapshot {
    RunOutput output;
    std::uint32_t first_window = 0;  ///< counted from 1, over the whole run
    std::uint32_t windows = 0;       ///< 0: the last part, after a flush
    profile::Nanoseconds took_ns = 0;
    std::string problem;  ///< empty: it is written
  };

  std::optional<std::uint32_t> served_flush() const;
  bool are_wanted() const;
  void start_snapshot(std::uint32_t windows);
  void end_snapshot();
  void run_command(const RunOutput& written);
  void look_at_commands();

  profile::ControlFile control_;
  std::string folder_;
  profile::Manifest manifest_;
  RunOutput output_;
  bool were_asked_for_;
  std::string on_window_;
  bool quiet_;
  bool keeps_last_;
  std::uint32_t flush_taken_ = 0;
  std::map<std::int64_t, std::uint32_t> taken_;  ///< windows in run.dbs already, by process
  std::map<std::int64_t, std::uint32_t> next_;
  std::uint32_t snapshots_ = 0;
  std::uint32_t said_windows_ = 0;
  profile::Nanoseconds rests_until_ns_ = 0;   ///< steady
  profile::Nanoseconds closed_since_ns_ = 0;  ///< steady, of what waits for others; 0: nothing
  bool wrote_output_ = false;
  bool has_failed_ = false;  ///< a window's run.db could not be made: the one at the end has it
  std::future<Snapshot> under_way_;
  std::vector<pid_t> commands_;
};

}  // namespace gprofml::app
