// The program's standard output and error, read on their way: `run --metric`.
//
// What the program writes goes through a pipe to a process of ours, which hands it on, byte for
// byte and at once, to where it was to go, and keeps a copy in the spool folder. That process is a
// session of its own, so that no signal for the program or for the launcher reaches it, and lives
// as long as anybody can write: the launcher may die and the program never sees SIGPIPE because of
// us. When the reader behind it goes away it goes, too, so that the program finds out as it would
// have.
//
//   program --pipe or pty--> forwarder --> what standard output was
//                                |
//                                +--> stdout.output in the spool folder, the last 64 MiB
//
// A terminal is replaced by a pty that changes no byte, so that the program still sees one, of the
// same size. Standard output and error that are one file (2>&1) go through one pipe, so their order
// stays. A regular file is left alone and read afterwards: there a forwarder could not hand back a
// full disk.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gprofml::profile {

class OutputTap {
 public:
  /// Taps nothing.
  OutputTap() = default;
  OutputTap(const OutputTap&) = delete;
  OutputTap& operator=(const OutputTap&) = delete;
  /// Forwarders go on until nobody writes to them any more.
  ~OutputTap();

  /// Starts a forwarder for each of the two that needs one. Before any thread is started, and
  /// before the program's process is made. Returns why something is not tapped, a clause; empty:
  /// all is.
  std::string open();

  /// (descriptor of ours, what it becomes in the program): for dup2 in its process.
  const std::vector<std::pair<int, int>>& replacements() const { return replacements_; }

  /// The program's process exists: only it holds the ends that are written to from now on.
  void handed_over();

  /// Where copies go to. Before the program starts.
  void keep_in(const std::string& folder);

  /// Returns when all that was written until now is where it was to go, or when `enough` says so.
  void drain(const std::function<bool()>& enough);

  /// No copies any more; for those that write when the recording has ended.
  void stop_keeping();

 private:
  struct Forwarder {
    pid_t pid = -1;
    int control = -1;
    bool ends = false;  ///< has closed its side and is about to exit
  };
  struct File {
    const char* name;  ///< "stdout" or "stderr"
    std::string path;
    off_t offset = 0;
  };

  std::string tap(const char* name, int descriptor, bool is_error_too);

  std::vector<Forwarder> forwarders_;
  std::vector<File> files_;
  std::vector<std::pair<int, int>> replacements_;
};

}  // namespace gprofml::profile
