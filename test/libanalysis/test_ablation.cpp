// One kind of knowledge taken out at a time: what does not depend on it stays the same, what does
// abstains and names what is missing.
#include <catch2/catch.hpp>

#include "test/libanalysis/ablation_checks.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_trace.hpp"

using namespace gprofml;

TEST_CASE("ablation of generated traces") {
  const int seeds = test::seed_count(200);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    test::check_ablations(
        synth::to_trace(synth::run(synth::random_program(static_cast<std::uint64_t>(seed)))),
        static_cast<std::uint64_t>(seed));
  }
}
