#include "libprofile/capture/spool_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>

#include "libprofile/capture/manifest.hpp"
#include "test/temporary_folder.hpp"

using namespace gprofml::profile;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

}  // namespace

TEST_CASE("Spool folders lie beside the output, each its own", "[spool_folder]") {
  const gprofml::test::TemporaryFolder folder;
  std::set<std::string> paths;
  for (int i = 0; i < 20; ++i) {
    const SpoolFolder made = make_spool_folder(folder / "run.db");
    CHECK(made.beside);
    CHECK(made.path.rfind(folder / "run.db.spool-", 0) == 0);
    CHECK(mode_of(made.path) == 0700);
    paths.insert(made.path);
  }
  CHECK(paths.size() == 20);
}

TEST_CASE("Without a place beside the output it lies with the temporary files", "[spool_folder]") {
  const gprofml::test::TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  const SpoolFolder made = make_spool_folder("/no/such/folder/run.db");
  CHECK_FALSE(made.beside);
  CHECK(made.path.rfind(folder / "run.db.spool-", 0) == 0);
  CHECK_FALSE(made.reason.empty());
  setenv("TMPDIR", "/no/such/folder", 1);
  CHECK(make_spool_folder("/no/such/folder/run.db").path.empty());
  unsetenv("TMPDIR");
}

TEST_CASE("Only what a recording wrote is removed", "[spool_folder]") {
  const gprofml::test::TemporaryFolder folder;
  const std::string path = make_spool_folder(folder / "run.db").path;
  std::ofstream(path + "/a.spool") << "x";
  REQUIRE(write_manifest({}, path));
  SECTION("all of it") {
    CHECK(remove_spool_folder(path));
    CHECK(access(path.c_str(), F_OK) != 0);
    CHECK(remove_spool_folder(path));  // gone already
  }
  SECTION("and nothing of others") {
    std::ofstream(path + "/notes.txt") << "x";
    CHECK_FALSE(remove_spool_folder(path));
    CHECK(access((path + "/notes.txt").c_str(), F_OK) == 0);
    CHECK(access((path + "/a.spool").c_str(), F_OK) != 0);
  }
}

TEST_CASE("A spool lives as long as its writer's lock", "[spool_folder]") {
  const gprofml::test::TemporaryFolder folder;
  const int descriptor = open((folder / "a.spool").c_str(), O_CREAT | O_RDWR, 0600);
  REQUIRE(flock(descriptor, LOCK_EX) == 0);
  std::ofstream(folder / "b.spool") << "x";
  CHECK(live_spools(folder.path().string()) == std::vector<std::string>{"a.spool"});
  wait_for_writers(folder.path().string(), {20'000'000});  // ends all the same
  close(descriptor);
  CHECK(live_spools(folder.path().string()).empty());
  CHECK(live_spools("/no/such/folder").empty());
}
