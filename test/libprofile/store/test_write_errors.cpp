// Writing that fails says so in one line and leaves nothing behind.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "libprofile/store/new_file.hpp"
#include "libprofile/store/store.hpp"
#include "test/libprofile/store/random_trace.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

std::string refusal(const profile::Trace& trace, const std::string& path) {
  try {
    profile::write_run_db(trace, path);
  } catch (const profile::StoreError& error) {
    const std::string message = error.what();
    REQUIRE(message.substr(0, path.size() + 2) == path + ": ");
    REQUIRE(message.find('\n') == std::string::npos);
    return message.substr(path.size() + 2);
  }
  return "no error";
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr const char* kExists = "exists already; name another output or remove it first";

TEST_CASE("what exists is not replaced") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "mine";
  REQUIRE(symlink("nowhere", (folder / "link").c_str()) == 0);
  CHECK(refusal({}, folder / "file") == kExists);
  CHECK(refusal({}, folder / "link") == kExists);
  CHECK(refusal({}, folder.path().string()) == kExists);
  CHECK(content(folder / "file") == "mine");
  CHECK(folder.files() == 2);
}

TEST_CASE("what appears while writing is not replaced") {
  const TemporaryFolder folder;
  {
    profile::detail::NewFile file(folder / "run.db");
    CHECK_FALSE(std::filesystem::exists(folder / "run.db"));
    std::ofstream(folder / "run.db") << "mine";
    CHECK_THROWS_WITH(file.publish(), folder / "run.db" + std::string(": ") + kExists);
  }
  CHECK(content(folder / "run.db") == "mine");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file appears only when it is published, else it is gone") {
  const TemporaryFolder folder;
  { const profile::detail::NewFile file(folder / "run.db"); }
  CHECK(folder.files() == 0);
  {
    profile::detail::NewFile file(folder / "run.db");
    CHECK(folder.files() == 1);
    std::ofstream(file.temporary_path()) << "done";
    file.publish();
  }
  CHECK(content(folder / "run.db") == "done");
  CHECK(folder.files() == 1);
}

TEST_CASE("folders that take no file") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "mine";
  CHECK(refusal({}, folder / "none/run.db") == "cannot be created: No such file or directory");
  CHECK(refusal({}, folder / "file/run.db") == "cannot be created: Not a directory");
  REQUIRE(chmod(folder.path().c_str(), 0500) == 0);
  const std::string message = refusal({}, folder / "run.db");
  REQUIRE(chmod(folder.path().c_str(), 0700) == 0);
  // The superuser may write everywhere.
  CHECK(message == (geteuid() == 0 ? "no error" : "cannot be created: Permission denied"));
}

TEST_CASE("a trace that contradicts itself is not written") {
  const TemporaryFolder folder;
  profile::Trace trace = random_trace(1);
  trace.kernels.name.pop_back();
  CHECK(refusal(trace, folder / "run.db")
            .find("not written, the trace contradicts itself: kernels") == 0);
  CHECK(folder.files() == 0);
}

/// Runs `work` in a child process in which files may not grow beyond `bytes`.
template <class Work>
int in_child_with_file_limit(rlim_t bytes, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a disk that fills up at any moment") {
  const TemporaryFolder folder;
  const profile::Trace trace = random_trace(4);
  profile::write_run_db(trace, folder / "whole.db");
  const auto whole = static_cast<rlim_t>(std::filesystem::file_size(folder / "whole.db"));
  const std::string path = folder / "run.db";
  for (rlim_t bytes = 0; bytes < whole; bytes += whole / 12) {
    const int outcome = in_child_with_file_limit(bytes, [&] {
      try {
        profile::write_run_db(trace, path);
      } catch (const profile::StoreError& error) {
        const std::string message = error.what();
        const bool expected = message.find(path + ": cannot be written: ") == 0 &&
                              message.find('\n') == std::string::npos;
        return expected ? 1 : 2;
      }
      return 0;
    });
    INFO(bytes << " of " << whole << " bytes");
    CHECK(outcome == 1);
    CHECK(folder.files() == 1);
  }
}

}  // namespace
}  // namespace gprofml::test
