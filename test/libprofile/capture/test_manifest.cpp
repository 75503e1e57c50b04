#include "libprofile/capture/manifest.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "libprofile/capture/output_name.hpp"
#include "test/temporary_folder.hpp"

using namespace gprofml::profile;

namespace {

Manifest odd_manifest() {
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.command = {"python3", "", " ", "a\nb", "\\n", "\\", "-o", "\xff\xfe", "argument x"};
  manifest.working_folder = "/tmp/two\nlines";
  manifest.host = "node3";
  manifest.output = "/tmp/run \\db";
  manifest.keep_previous = true;
  manifest.launcher_pid = 41206;
  manifest.program_pid = 41207;
  manifest.start_ns = 1'764'597'781'000'000'001;
  manifest.meta = {{"metric.tok_s.pattern", "a b\nc"}, {"empty", ""}};
  manifest.problems = {{"cuda_variable_taken", "it is set to /opt/a b.so"}, {"no_detail", ""}};
  return manifest;
}

}  // namespace

TEST_CASE("A manifest comes back as it was", "[manifest]") {
  for (const Manifest& manifest : {Manifest{}, odd_manifest()}) {
    const auto back = manifest_of(manifest_text(manifest));
    REQUIRE(back);
    CHECK(*back == manifest);
  }
}

TEST_CASE("A manifest comes back from its folder", "[manifest]") {
  const gprofml::test::TemporaryFolder folder;
  CHECK_FALSE(read_manifest(folder.path().string()));
  REQUIRE(write_manifest(odd_manifest(), folder.path().string()));
  CHECK(read_manifest(folder.path().string()) == odd_manifest());
  SECTION("which is written once") {
    CHECK_FALSE(write_manifest(Manifest{}, folder.path().string()));
    CHECK(read_manifest(folder.path().string()) == odd_manifest());
  }
}

TEST_CASE("What a later version adds is ignored", "[manifest]") {
  const auto manifest = manifest_of("gprof-ml manifest 1\nhost a\ncolour blue\n\nodd\nhost b\n");
  REQUIRE(manifest);
  CHECK(manifest->host == "b");
}

TEST_CASE("Text that is no manifest is none", "[manifest]") {
  for (const char* text : {"", "\n", "gprof-ml manifest 2\nhost a\n", "host a\n", "\xff"}) {
    CHECK_FALSE(manifest_of(text));
  }
}

TEST_CASE("A manifest that is cut off anywhere is read up to there", "[manifest]") {
  const std::string whole = manifest_text(odd_manifest());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto manifest = manifest_of(whole.substr(0, length));
    if (manifest) CHECK(manifest->command.size() <= odd_manifest().command.size());
  }
}

TEST_CASE("A command line is shown so that a shell would take it", "[manifest]") {
  CHECK(command_text({"python3", "train.py", "--epochs=1"}) == "python3 train.py --epochs=1");
  CHECK(command_text({"sh", "-c", "exit 3"}) == "sh -c 'exit 3'");
  CHECK(command_text({"a", "", "it's"}) == "a '' 'it'\\''s'");
}

TEST_CASE("A problem is added to a manifest once", "[manifest]") {
  const gprofml::test::TemporaryFolder folder;
  const std::string path = folder.path().string();
  CHECK_FALSE(add_problem({"nested_recording", "a"}, path));
  Manifest manifest = odd_manifest();
  REQUIRE(write_manifest(manifest, path));
  CHECK(add_problem({"nested_recording", "a\nb"}, path));
  CHECK(add_problem({"nested_recording", "another"}, path));
  manifest.problems.push_back({"nested_recording", "a\nb"});
  CHECK(read_manifest(path) == manifest);
}

TEST_CASE("A launcher lives on its own host, while its process does", "[manifest]") {
  Manifest manifest;
  CHECK_FALSE(launcher_lives(manifest));
  manifest.host = host_name();
  manifest.launcher_pid = ::getpid();
  CHECK(launcher_lives(manifest));
  manifest.host += "-other";
  CHECK_FALSE(launcher_lives(manifest));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  manifest.host = host_name();
  manifest.launcher_pid = child;
  CHECK_FALSE(launcher_lives(manifest));  // ended, and nobody has asked for its status yet
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(launcher_lives(manifest));
}
