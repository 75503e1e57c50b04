// Which recordings of this user run, so that `gprof-ml control` finds them: a file for each
// launcher in a folder of the user's own, named by the launcher's process id and holding the path
// of its spool folder. The launcher keeps it locked (flock) as long as it lives: however it ends,
// and whoever has its process id then, nobody takes what is left of it for one that runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::profile {

/// $XDG_RUNTIME_DIR/gprof-ml, else /tmp/gprof-ml-UID. Made when it is missing; empty when it cannot
/// be made or belongs to somebody else.
std::string registry_folder();

/// The entry lives as long as this. Without a registry nothing happens: --folder finds it still.
class Registered {
 public:
  explicit Registered(const std::string& spool_folder);
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered();

 private:
  std::string path_;
  int lock_ = -1;
};

struct RunningRecording {
  std::int64_t launcher_pid = 0;
  std::string folder;
};

/// Those whose launcher lives, by its process id. Removes entries of launchers that are gone;
/// leaves alone what is no entry.
std::vector<RunningRecording> running_recordings();

}  // namespace gprofml::profile
