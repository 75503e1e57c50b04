// Maps of code made at run time are kept beside the spools.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "libprofile/capture/perf_maps.hpp"
#include "libprofile/capture/spool_folder.hpp"
#include "test/libprofile/capture/recorded_process.hpp"

using namespace gprofml;
namespace fs = std::filesystem;

namespace {

struct Folders {
  Folders() {
    char name[] = "/tmp/perf_maps_XXXXXX";
    root = ::mkdtemp(name);
    fs::create_directories(root / "maps");
    spools = profile::make_spool_folder((root / "run.db").string()).path;
  }
  ~Folders() { fs::remove_all(root); }

  void map(int pid, const std::string& text) const {
    std::ofstream(root / "maps" / ("perf-" + std::to_string(pid) + ".map")) << text;
  }
  void keep(profile::Nanoseconds since_ns) const {
    profile::keep_perf_maps(spools, since_ns, (root / "maps").string());
  }
  std::string kept(int pid) const {
    std::ifstream file(spools + "/perf-" + std::to_string(pid) + ".map");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path root;
  std::string spools;
};

}  // namespace

TEST_CASE("The perf map of a recorded process is kept, nobody else's", "[perf_maps]") {
  const Folders folders;
  test::RecordedProcess process(100);
  process.spool.write(folders.spools + "/node1-100.spool");
  folders.map(100, "1000 10 planted\n");
  folders.map(101, "1000 10 of another process\n");
  folders.keep(0);
  CHECK(folders.kept(100) == "1000 10 planted\n");
  CHECK(folders.kept(101).empty());
  CHECK(profile::remove_spool_folder(folders.spools));
  CHECK_FALSE(fs::exists(folders.spools));
}

TEST_CASE("A perf map of an earlier process of that id is not kept, nor what a link leads to",
          "[perf_maps]") {
  const Folders folders;
  test::RecordedProcess(100).spool.write(folders.spools + "/node1-100.spool");
  test::RecordedProcess(102).spool.write(folders.spools + "/node1-102.spool");
  folders.map(100, "1000 10 stale\n");
  constexpr profile::Nanoseconds kFarAhead = 4'000'000'000'000'000'000;
  folders.keep(kFarAhead);
  CHECK(folders.kept(100).empty());
  fs::create_symlink(folders.root / "maps/perf-100.map", folders.root / "maps/perf-102.map");
  folders.keep(0);
  CHECK(folders.kept(102).empty());
}
