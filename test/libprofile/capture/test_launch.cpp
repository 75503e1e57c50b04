#include "libprofile/capture/launch.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "test/temporary_folder.hpp"

using namespace gprofml::profile;

namespace {

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

}  // namespace

TEST_CASE("A program that is never started does nothing and is gone", "[launch]") {
  const gprofml::test::TemporaryFolder folder;
  pid_t pid = 0;
  {
    const SignalRelay relay;
    const Program program({"touch", folder / "file"}, relay);
    pid = program.pid();
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) != 0);
  CHECK(errno == ESRCH);
  CHECK_FALSE(exists(folder / "file"));
}

TEST_CASE("A started program has the variables and its process id", "[launch]") {
  const gprofml::test::TemporaryFolder folder;
  const SignalRelay relay;
  Program program({"sh", "-c", "echo \"$A,$B,$$\" > \"$OUT\"; exit 3"}, relay);
  REQUIRE(program.start({{"A", "a=b\nc"}, {"B", ""}, {"OUT", folder / "out"}}) == 0);
  const ProgramEnd end = program.wait();
  CHECK(end.exit_code == 3);
  CHECK(end.signal == 0);
  CHECK(end.code() == 3);
  CHECK(end.wall_ns > 0);
  std::ifstream file(folder / "out");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK(text == "a=b\nc,," + std::to_string(program.pid()) + "\n");
}

TEST_CASE("A program that cannot be executed says why", "[launch]") {
  const gprofml::test::TemporaryFolder folder;
  const SignalRelay relay;
  Program missing({folder / "missing"}, relay);
  CHECK(missing.start({}) == ENOENT);
  std::ofstream(folder / "plain") << "text";
  Program plain({folder / "plain"}, relay);
  CHECK(plain.start({}) == EACCES);
}

TEST_CASE("A killed program has its signal", "[launch]") {
  const SignalRelay relay;
  Program program({"sh", "-c", "kill -KILL $$"}, relay);
  REQUIRE(program.start({}) == 0);
  const ProgramEnd end = program.wait();
  CHECK(end.signal == SIGKILL);
  CHECK(end.code() == 137);
}

TEST_CASE("A program killed at the gate is one that was killed", "[launch]") {
  const SignalRelay relay;
  Program program({"true"}, relay);
  kill(program.pid(), SIGKILL);
  REQUIRE(program.start({}) == 0);
  CHECK(program.wait().signal == SIGKILL);
}

TEST_CASE("Signals are as before once the relay is gone", "[launch]") {
  REQUIRE_FALSE(is_blocked(SIGTERM));
  {
    const SignalRelay relay;
    CHECK(is_blocked(SIGTERM));
    CHECK_FALSE(is_blocked(SIGSEGV));
    raise(SIGTERM);  // waits, and is dropped with the relay
  }
  CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("While the program runs the launcher ticks, and not afterwards", "[launch]") {
  const gprofml::test::TemporaryFolder folder;
  const SignalRelay relay;
  Program program({"sh", "-c", "until [ -e \"$END\" ]; do sleep 0.01; done; exit 4"}, relay);
  REQUIRE(program.start({{"END", folder / "end"}}) == 0);
  int ticks = 0;
  WaitHooks hooks;
  hooks.period_ns = 1'000'000;
  hooks.tick = [&] {
    if (++ticks == 5) std::ofstream(folder / "end") << "";
  };
  CHECK(program.wait(hooks).exit_code == 4);
  CHECK(ticks >= 5);
}

TEST_CASE("Before a signal is handed on the hook is asked", "[launch]") {
  const gprofml::test::TemporaryFolder folder;
  const SignalRelay relay;
  Program program(
      {"sh", "-c", "trap 'test -e \"$SEEN\" && exit 7; exit 8' TERM; while :; do sleep 0.01; done"},
      relay);
  REQUIRE(program.start({{"SEEN", folder / "seen"}}) == 0);
  WaitHooks hooks;
  hooks.period_ns = 50'000'000;
  int ticks = 0;
  pid_t sender = -1;
  // Somebody else sends it: a signal of our own is not handed on.
  hooks.tick = [&] {
    if (++ticks != 3) return;
    sender = fork();
    if (sender == 0) {
      kill(getppid(), SIGTERM);
      _exit(0);
    }
  };
  int asked = 0;
  bool program_has_it = true;
  hooks.on_signal = [&](int signal, bool has_it) {
    CHECK(signal == SIGTERM);
    ++asked;
    program_has_it = has_it;
    std::ofstream(folder / "seen") << "";
  };
  CHECK(program.wait(hooks).exit_code == 7);
  CHECK(asked == 1);
  CHECK_FALSE(program_has_it);
  waitpid(sender, nullptr, 0);
}
