#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "libprofile/capture/size_limit.hpp"
#include "libprofile/spool/control.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::profile {
namespace {

void write(const std::string& path, std::size_t bytes) {
  std::ofstream(path, std::ios::binary) << std::string(bytes, '\0');
}

std::uint32_t stop_in(const std::string& path) {
  spool::ControlHeader header{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  return header.stop;
}

TEST_CASE("All spools together are held to the limit", "[size_limit]") {
  const test::TemporaryFolder folder;
  const std::string control = folder / spool::kControlName;
  const std::string path = folder.path().string();
  write(control, 100);
  write(folder / "a.spool", 400);
  CHECK(spool_bytes(path) == 500);
  SizeLimit limit(path, 1000);
  limit.look();
  CHECK(stop_in(control) == 0);
  write(folder / "b.spool", 499);
  limit.look();
  CHECK(stop_in(control) == 0);
  write(folder / "b.spool", 500);
  limit.look();
  CHECK(limit.is_reached());
  CHECK(stop_in(control) == 1);
  CHECK(spool_bytes(path) == 1000);  // nothing else of the control file was touched
}

TEST_CASE("Without a limit nobody looks", "[size_limit]") {
  const test::TemporaryFolder folder;
  write(folder / spool::kControlName, 100);
  write(folder / "a.spool", 1'000'000);
  SizeLimit none(folder.path().string(), 0);
  none.look();
  CHECK_FALSE(none.is_reached());
  CHECK(stop_in(folder / spool::kControlName) == 0);
}

TEST_CASE("A folder or control file that is gone is no fault", "[size_limit]") {
  const test::TemporaryFolder folder;
  write(folder / "a.spool", 2000);
  SizeLimit limit(folder.path().string(), 1000);
  limit.look();
  CHECK_FALSE(limit.is_reached());
  SizeLimit gone(folder / "gone", 1000);
  gone.look();
  CHECK_FALSE(gone.is_reached());
  CHECK(spool_bytes(folder / "gone") == 0);
}

}  // namespace
}  // namespace gprofml::profile
