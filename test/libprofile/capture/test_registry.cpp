// Which recordings run: launchers that live, those that are gone, and what else lies about.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "libprofile/capture/registry.hpp"
#include "test/temporary_folder.hpp"

using namespace gprofml;
using profile::Registered;
using profile::running_recordings;

namespace {

namespace fs = std::filesystem;

/// A user's runtime folder, with a spool folder in it.
class Runtime {
 public:
  Runtime() {
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    fs::create_directory(spools());
  }
  ~Runtime() { unsetenv("XDG_RUNTIME_DIR"); }

  std::string spools() const { return folder_ / "run.db.spool"; }
  std::string registry() const { return folder_ / "gprof-ml"; }
  std::string entry(const std::string& name) const { return registry() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(entry(name), std::ios::binary) << text;
  }

 private:
  test::TemporaryFolder folder_;
};

/// Another launcher, until it is ended.
class Launcher {
 public:
  explicit Launcher(const std::string& spools) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const Registered registered(spools);
      const ssize_t written = ::write(ready[1], "r", 1);
      close(ready[1]);
      if (written == 1) pause();
      _exit(0);
    }
    close(ready[1]);
    char letter = 0;
    CHECK(read(ready[0], &letter, 1) == 1);
    close(ready[0]);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() { end(); }

  pid_t pid() const { return pid_; }
  /// Abruptly: it cleans nothing up.
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("a launcher is found while it lives, and no longer") {
  const Runtime runtime;
  CHECK(running_recordings().empty());
  {
    const Registered registered(runtime.spools());
    const auto found = running_recordings();
    REQUIRE(found.size() == 1);
    CHECK(found[0].launcher_pid == getpid());
    CHECK(found[0].folder == runtime.spools());
    CHECK(fs::status(runtime.entry(std::to_string(getpid()))).permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write));
  }
  CHECK(running_recordings().empty());
  CHECK(fs::is_empty(runtime.registry()));
}

TEST_CASE(
    "several launchers, in the order of their process ids; one that was killed is forgotten") {
  const Runtime runtime;
  const std::string other = runtime.spools() + ".2";
  fs::create_directory(other);
  Launcher first(runtime.spools());
  Launcher second(other);
  auto found = running_recordings();
  REQUIRE(found.size() == 2);
  CHECK(found[0].launcher_pid < found[1].launcher_pid);
  CHECK(found[first.pid() < second.pid() ? 0 : 1].folder == runtime.spools());
  CHECK(found[first.pid() < second.pid() ? 1 : 0].folder == other);
  const std::string left = runtime.entry(std::to_string(first.pid()));
  first.end();
  REQUIRE(fs::exists(left));
  found = running_recordings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].launcher_pid == second.pid());
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("what a dead launcher left is no recording, though its process id is somebody's again") {
  const Runtime runtime;
  CHECK(running_recordings().empty());  // makes the folder
  runtime.write(std::to_string(getpid()), runtime.spools());
  CHECK(running_recordings().empty());
  CHECK_FALSE(fs::exists(runtime.entry(std::to_string(getpid()))));
  // A launcher with that process id takes its place.
  runtime.write(std::to_string(getpid()), "/nowhere");
  const Registered registered(runtime.spools());
  REQUIRE(running_recordings().size() == 1);
  CHECK(running_recordings()[0].folder == runtime.spools());
}

TEST_CASE("what is no entry is left alone and leads nowhere") {
  const Runtime runtime;
  const Registered registered(runtime.spools());
  fs::create_symlink(runtime.spools(), runtime.entry("1"));
  fs::create_symlink(runtime.entry("2"), runtime.entry("2"));
  REQUIRE(mkfifo(runtime.entry("3").c_str(), 0600) == 0);
  fs::create_directory(runtime.entry("4"));
  runtime.write("notes", "mine");
  const std::vector<std::string> contents = {"",
                                             "relative/folder",
                                             std::string(100'000, '/'),
                                             std::string("/tmp\0x", 6),
                                             "/no/such/folder",
                                             std::string(4096, '/')};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    runtime.write(std::to_string(100 + i), contents[i]);
  }
  for (const char* name : {"0", "-5", "12x", "99999999999999999999", "+7", " 8"}) {
    runtime.write(name, runtime.spools());
  }
  // Locked ones too.
  std::vector<int> locks;
  for (const auto& file : fs::directory_iterator(runtime.registry())) {
    const std::string name = file.path().filename().string();
    if (name == std::to_string(getpid()) || file.is_symlink() || !file.is_regular_file()) continue;
    locks.push_back(open(file.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    REQUIRE(flock(locks.back(), LOCK_EX | LOCK_NB) == 0);
  }
  const auto before = std::distance(fs::directory_iterator(runtime.registry()), {});
  const auto found = running_recordings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].launcher_pid == getpid());
  CHECK(std::distance(fs::directory_iterator(runtime.registry()), {}) == before);
  for (const int lock : locks) close(lock);
}

TEST_CASE("a folder that others can write to, or that is a link, is not ours") {
  const Runtime runtime;
  CHECK_FALSE(profile::registry_folder().empty());
  REQUIRE(chmod(runtime.registry().c_str(), 0777) == 0);
  CHECK(profile::registry_folder().empty());
  {
    const Registered registered(runtime.spools());  // nothing happens
    CHECK(fs::is_empty(runtime.registry()));
    CHECK(running_recordings().empty());
  }
  fs::remove(runtime.registry());
  fs::create_directory_symlink(runtime.spools(), runtime.registry());
  CHECK(profile::registry_folder().empty());
}

TEST_CASE("files and folders of another user are not ours") {
  if (geteuid() != 0) {
    WARN("not tested: only root can make files of other users");
    return;
  }
  const Runtime runtime;
  const Registered registered(runtime.spools());
  constexpr uid_t kSomebody = 12345;
  {
    Launcher other(runtime.spools());
    REQUIRE(running_recordings().size() == 2);
    REQUIRE(chown(runtime.entry(std::to_string(other.pid())).c_str(), kSomebody, kSomebody) == 0);
    CHECK(running_recordings().size() == 1);
  }
  REQUIRE(chown(runtime.registry().c_str(), kSomebody, kSomebody) == 0);
  CHECK(profile::registry_folder().empty());
  CHECK(running_recordings().empty());
}
