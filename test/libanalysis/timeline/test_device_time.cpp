// Device time against brute force over random programs: every instant between two event times is
// looked at by the generator, unions are computed by the analysis.
#include <catch2/catch.hpp>

#include "test/libanalysis/analysis_support.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml;

TEST_CASE("device time equals brute force, and idle causes partition it") {
  const int seeds = test::seed_count(500);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    synth::ProgramShape shape = synth::random_shape(static_cast<std::uint64_t>(seed));
    shape.ties = seed % 2 == 0;
    shape.cross_device_events = seed % 3 == 0;
    const synth::Execution execution =
        synth::run(synth::random_program(static_cast<std::uint64_t>(seed), shape));
    const analysis::Report report = test::analyze_all(synth::to_trace(execution));
    const std::map<int, synth::DeviceTruth> truth = synth::device_truth(execution);
    const synth::CallTruth calls = synth::call_truth(execution);
    CHECK(report.quality.calls == calls.calls);
    CHECK(report.quality.submissions == calls.submissions);
    CHECK(report.quality.linked == calls.linked);
    CHECK(report.quality.coverage == 1.0);
    REQUIRE(report.devices.size() == truth.size());
    for (const analysis::DeviceReport& device : report.devices) {
      const analysis::DeviceTimeline& d = device.timeline;
      const synth::DeviceTruth found{d.kernels,
                                     d.copies,
                                     d.fills,
                                     d.kernel_ns,
                                     d.copy_ns,
                                     d.fill_ns,
                                     d.busy_ns,
                                     d.kernel_union_ns,
                                     d.memory_union_ns,
                                     d.communication_union_ns,
                                     d.communication_exposed_ns,
                                     d.copy_exposed_ns,
                                     d.span_ns,
                                     d.idle_ns};
      CHECK(found == truth.at(static_cast<int>(device.id)));
      std::int64_t sum = 0;
      for (const std::int64_t ns : d.idle_by_cause) sum += ns;
      CHECK(sum == d.idle_ns);
    }
    const analysis::CriticalPath& path = report.critical_path;
    CHECK(path.segments_total_ns == path.window_ns);
  }
}
