// One recorded process whose threads are looked at from outside, through /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libprofile/capture/machine/mapped_files.hpp"
#include "libprofile/capture/machine/thread_times.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// Where samples of threads go.
class ThreadSink {
 public:
  virtual ~ThreadSink() = default;
  virtual void thread(std::uint32_t id, pid_t tid, const std::string& name) = 0;
  virtual void sample(std::uint32_t id, Nanoseconds time_ns, const ThreadTimes& times,
                      std::int32_t last_cpu) = 0;
};

/// Holds /proc/PID open, so that a later process of the same id is never taken for this one.
class WatchedProcess {
 public:
  /// `spool` is the file name of the process's spool.
  WatchedProcess(pid_t pid, std::string spool);
  WatchedProcess(const WatchedProcess&) = delete;
  WatchedProcess& operator=(const WatchedProcess&) = delete;
  ~WatchedProcess();

  pid_t pid() const { return pid_; }
  const std::string& spool() const { return spool_; }

  /// The text of /proc/PID/maps; empty when the process is gone or not ours to look at.
  std::string maps() const;

  /// Files that were not there at the last call, with their build ids.
  struct Module {
    MappedFile file;
    std::string build_id;
  };
  std::vector<Module> new_modules();

  /// Whether the process has the recorder loaded: in a container ids are others, and the process
  /// that has this one here is somebody else's. False too when it is gone or not ours to look at.
  bool has_recorder() const;

  /// Looks at all threads; `next_id` numbers new ones. False once the process is gone.
  ///
  /// A thread that did nothing since the last look gives no sample. Before the first sample after
  /// such a rest stands one that says that there was one: what it did, it did since then.
  bool look(Nanoseconds time_ns, std::uint32_t& next_id, ThreadSink& sink);

 private:
  struct Watched {
    std::uint32_t id = 0;
    int schedstat = -1;  ///< kept open: opening takes longer than reading
    bool is_new = true;
    bool rested = false;
    bool seen = false;
    ThreadTimes times;
    Nanoseconds looked_ns = 0;
    std::int32_t last_cpu = -1;
    std::string name;
  };

  void look_at(pid_t tid, Nanoseconds time_ns, std::uint32_t& next_id, ThreadSink& sink);
  bool read_times(pid_t tid, Watched& thread, ThreadTimes& times) const;
  void forget(Watched& thread);

  pid_t pid_;
  std::string spool_;
  int folder_ = -1;  ///< /proc/PID/task
  std::map<pid_t, Watched> threads_;
  std::set<std::pair<std::string, std::uint64_t>> known_modules_;
};

}  // namespace gprofml::profile
