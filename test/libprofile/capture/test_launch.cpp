#include "libprofile/capture/launch.hpp"

#include <sys/stat.h>
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
