// What the launcher writes into GPROFML_OPTIONS is what the recorder reads from it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "injection/options.hpp"
#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/record_options.hpp"

using namespace gprofml;
using injection::Options;
using injection::read_options;

namespace {

std::vector<std::string> complaints_about(const char* text, Options& options) {
  std::vector<std::string> complaints;
  read_options(
      text, options,
      [](const char* key, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(key);
      },
      &complaints);
  return complaints;
}

Options read(const std::string& text) {
  Options options;
  CHECK(complaints_about(text.c_str(), options).empty());
  return options;
}

}  // namespace

TEST_CASE("everything that can be asked for arrives") {
  profile::RecordOptions asked;
  asked.level = 3;
  asked.python = true;
  asked.redact = true;
  asked.most_bytes = 123456789012;
  asked.budget_ppm = 30000;
  asked.paused = true;
  asked.profiler_api = true;
  asked.delay_ns = 1;
  asked.duration_ns = 2'000'000'000;
  asked.keep_last_ns = 3;
  asked.range = "decode; step=100 %\n";
  asked.range_index = 7;
  asked.steps = profile::StepPlan{1, 2, 3, 0, "graph"};
  const Options options = read(profile::options_text(asked));
  CHECK(options.level == 3);
  CHECK(options.groups == spool::groups_of_level(3));
  CHECK(options.python);
  CHECK(options.redact);
  CHECK(options.most_bytes == 123456789012);
  CHECK(options.budget_ppm == 30000);
  CHECK(options.paused);
  CHECK(options.profiler_api);
  CHECK(options.delay_ns == 1);
  CHECK(options.duration_ns == 2'000'000'000);
  CHECK(options.keep_last_ns == 3);
  CHECK(std::string(options.range) == "decode; step=100 %\n");
  CHECK(options.range_index == 7);
  CHECK(options.steps_wait == 1);
  CHECK(options.steps_warmup == 2);
  CHECK(options.steps_active == 3);
  CHECK(options.steps_repeat == 0);
  CHECK(std::string(options.step) == "graph");
}

TEST_CASE("the default is level 1, all along") {
  Options options;
  read_options(nullptr, options);
  CHECK(options.level == 1);
  CHECK_FALSE(options.has_windows());
  CHECK(options.groups == spool::groups_of_level(1));
  CHECK(read(profile::options_text({})).groups == options.groups);
}

TEST_CASE("one's own list and the choice of graphs go before the level") {
  profile::RecordOptions asked;
  asked.level = 2;
  asked.groups = profile::groups_named("kernels,ranges,graph-nodes");
  CHECK(read(profile::options_text(asked)).groups ==
        (spool::kKernels | spool::kRanges | spool::kGraphNodes));
  asked.whole_graphs = true;
  CHECK(read(profile::options_text(asked)).groups == (spool::kKernels | spool::kRanges));
  CHECK(profile::groups_of(asked) == (spool::kKernels | spool::kRanges));
  for (std::uint32_t level = 0; level <= spool::kHighestLevel; ++level) {
    profile::RecordOptions plain;
    plain.level = level;
    CHECK(read(profile::options_text(plain)).groups == profile::groups_of(plain));
  }
}

TEST_CASE("names of kinds: each there and back, a wrong one is named") {
  for (const spool::GroupName& group : spool::kGroupNames) {
    CHECK(profile::groups_named(group.name) == group.bit);
    CHECK(profile::group_names(group.bit) == group.name);
  }
  CHECK_THROWS_WITH(profile::groups_named("kernels,nails"),
                    Catch::Contains("no kind \"nails\"; there are kernels,copies"));
  CHECK_THROWS_AS(profile::groups_named(""), profile::CaptureError);
}

TEST_CASE("what cannot be read is told and leaves the default; what is unknown is ignored") {
  Options options;
  CHECK(complaints_about("level=4;delay_ns=-1;tomorrow=1;range=%zz;steps=1,2;kinds=;budget_ppm=3",
                         options) ==
        std::vector<std::string>{"level", "delay_ns", "range", "steps", "kinds"});
  CHECK(options.level == 1);
  CHECK(options.delay_ns == 0);
  CHECK(options.budget_ppm == 3);
  CHECK(complaints_about(";;=;level;=3;range=%4", options) ==
        std::vector<std::string>{"level", "range"});
  CHECK(complaints_about(("range=" + std::string(5000, 'x')).c_str(), options) ==
        std::vector<std::string>{"range"});
  CHECK(options.range[0] == '\0');
}
