// Barriers of the NULL stream against their definition and against programs that obey them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

#include "libanalysis/graph/arrivals.hpp"
#include "libanalysis/graph/null_stream.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"
#include "test/seeds.hpp"
#include "test/synth/random.hpp"

namespace gprofml::analysis {
namespace {

using profile::Nanoseconds;
using profile::StreamKind;

const std::vector<StreamKind> kKinds{StreamKind::null_stream,  StreamKind::blocking,
                                     StreamKind::blocking,     StreamKind::per_thread,
                                     StreamKind::non_blocking, StreamKind::unknown};

bool takes_part(StreamKind kind) {
  return kind == StreamKind::blocking || kind == StreamKind::per_thread;
}

/// Work of random length on streams of all kinds on two devices, each started as early as CUDA's
/// rules allow.
profile::Trace random_run(std::uint64_t seed, bool flags_recorded) {
  synth::Random random(seed);
  test::TraceBuilder t;
  struct Device {
    std::vector<Nanoseconds> stream_end = std::vector<Nanoseconds>(kKinds.size(), 0);
  };
  std::vector<Device> devices(2);
  for (std::int64_t d = 0; d < 2; ++d) {
    for (std::size_t s = 0; s < kKinds.size(); ++s) {
      t.stream_flags(d, static_cast<std::int64_t>(s),
                     flags_recorded ? kKinds[s] : StreamKind::unknown);
    }
  }
  const std::int64_t many = random.between(1, 40);
  for (std::int64_t i = 0; i < many; ++i) {
    const std::int64_t d = random.between(0, 1);
    Device& device = devices[static_cast<std::size_t>(d)];
    const auto s = static_cast<std::size_t>(random.between(0, 5));
    Nanoseconds ready = std::max(device.stream_end[s], 10 * i + 5);
    if (kKinds[s] == StreamKind::null_stream) {
      for (std::size_t o = 0; o < kKinds.size(); ++o) {
        if (takes_part(kKinds[o])) ready = std::max(ready, device.stream_end[o]);
      }
    } else if (takes_part(kKinds[s])) {
      ready = std::max(ready, device.stream_end[0]);
    }
    const Nanoseconds end = ready + random.between(1, 60);
    device.stream_end[s] = end;
    t.call("cudaLaunchKernel", 1, 10 * i, 10 * i + 1, i + 1);
    t.kernel("k" + std::to_string(i), d, static_cast<std::int64_t>(s), ready, end, i + 1);
  }
  return t.build();
}

TEST_CASE("barriers are those of the definition") {
  const int seeds = test::seed_count(300);
  std::size_t edges = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const profile::Trace trace = random_run(static_cast<std::uint64_t>(seed), true);
    const Activities work(trace);
    const NullStreamBarriers barriers(trace, work);
    const auto kind = [&](ActivityIndex i) { return trace.streams[work.stream[i]].flags; };
    for (ActivityIndex i = 0; i < work.size(); ++i) {
      std::set<ActivityIndex> expected;
      std::map<profile::RowIndex, ActivityIndex> last_of_stream;
      for (ActivityIndex j = 0; j < i; ++j) {
        const bool same = work.device[j] == work.device[i];  // one context a device
        if (!same) continue;
        if (kind(i) == StreamKind::null_stream) {
          if (kind(j) == StreamKind::null_stream) last_of_stream.clear();
          if (takes_part(kind(j))) last_of_stream[work.stream[j]] = j;
        } else if (takes_part(kind(i)) && kind(j) == StreamKind::null_stream) {
          expected = {j};
        }
      }
      for (const auto& [stream, j] : last_of_stream) expected.insert(j);
      const auto found = barriers.before(i);
      edges += found.size();
      INFO("seed " << seed << " activity " << i);
      REQUIRE(std::set<ActivityIndex>(found.begin(), found.end()) == expected);
      REQUIRE(found.size() == expected.size());
    }
  }
  CHECK(edges > 2 * static_cast<std::size_t>(seeds));
}

TEST_CASE("with them every start of a program that obeys the NULL stream is explained") {
  const int seeds = test::seed_count(300);
  int explained_by_barrier = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const profile::Trace trace = random_run(static_cast<std::uint64_t>(seed), true);
    const profile::Trace without = random_run(static_cast<std::uint64_t>(seed), false);
    const DependencyGraph graph(trace), bare_graph(without);
    const Arrivals arrivals(graph), bare(bare_graph);
    std::vector<WorkArrival> found, bare_found;
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
      arrivals.of(i, found);
      bare.of(i, bare_found);
      const auto latest = [&](const std::vector<WorkArrival>& all) {
        Nanoseconds at = 0;
        for (const WorkArrival& a : all) {
          if (!a.from_host()) at = std::max(at, a.at_ns);
        }
        return at;
      };
      // The program started it when all was done, or 5 ns into its call.
      const Nanoseconds call = graph.launch_start_ns(i) + 5;
      INFO("seed " << seed << " activity " << i);
      REQUIRE(std::max(latest(found), call) == graph.work.start_ns[i]);
      if (std::max(latest(bare_found), call) != graph.work.start_ns[i]) ++explained_by_barrier;
    }
  }
  CHECK(explained_by_barrier > seeds);
}

TEST_CASE("the critical path goes through a NULL stream barrier") {
  test::TraceBuilder t;
  t.stream_flags(0, 7, StreamKind::null_stream);
  t.stream_flags(0, 13, StreamKind::blocking);
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("on blocking", 0, 13, 20, 100'000, 1);
  t.call("cudaLaunchKernel", 1, 20, 30, 2);
  t.kernel("on null", 0, 7, 100'000, 200'000, 2);
  const Report with = test::analyze_all(t.build());
  t.stream_flags(0, 13, StreamKind::non_blocking);
  const Report without = test::analyze_all(t.build());
  const auto kernel_ns = [](const Report& report) {
    return report.critical_path.by_class[static_cast<std::size_t>(TimeClass::kernel)];
  };
  CHECK(kernel_ns(with) == 199'980);
  CHECK(with.critical_path.inferred_ns == 0);
  CHECK((without.critical_path.inferred_ns > 0 || kernel_ns(without) < 199'980));
}

}  // namespace
}  // namespace gprofml::analysis
