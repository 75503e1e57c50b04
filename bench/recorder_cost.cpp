// What the recorder costs: its code in the thread that launches, its writer, and its bytes. The
// shipped library runs, driven as CUPTI drives it; CUPTI's own cost is not in these figures, but
// for the toolkit's walk over records (cuptiActivityGetNextRecord), which the writer pays for.
#include <algorithm>
#include <memory>

#include "bench/bench_output.hpp"
#include "bench/recorder_driver.hpp"

namespace {

namespace bench = gprofml::bench;

// Records between two waits for the writer: what 500,000 kernels a second make in its 0.1 s.
constexpr std::uint64_t kBatch = 50'000;
constexpr int kRounds = 20;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Kernels only, as a graph's replay makes them, or each with its launch call.
enum class Load { replay, launches };

std::uint64_t feed(bench::RecorderDriver& recorder, const bench::LaunchMix& mix, Load load,
                   std::uint64_t first, std::uint64_t kernels) {
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityAPI call;
  for (std::uint64_t i = first; i < first + kernels; ++i) {
    if (load == Load::launches) {
      mix.call(i, call);
      recorder.put(&call, sizeof call);
    }
    mix.kernel(i, load == Load::replay, kernel);
    recorder.put(&kernel, sizeof kernel);
  }
  return kernels * (load == Load::launches ? 2 : 1);
}

struct WriterCost {
  double cold_ns, warm_ns;  ///< CPU a record
  double bytes_per_kernel;
};

WriterCost writer_cost(Load load) {
  const bench::ScratchFolder folder;
  bench::warm_page_cache(300 << 20);
  const std::uint64_t batch = load == Load::launches ? kBatch * 2 / 3 : kBatch;
  const std::vector<double> told = bench::in_child([&] {
    bench::RecorderDriver recorder(folder.path());
    const bench::LaunchMix mix;
    std::vector<double> costs;
    std::int64_t before_ns = 0;
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t first = 1 + static_cast<std::uint64_t>(round) * batch;
      const auto records = static_cast<double>(feed(recorder, mix, load, first, batch));
      recorder.drain();
      costs.push_back(static_cast<double>(recorder.writer_cpu_ns() - before_ns) / records);
      before_ns = recorder.writer_cpu_ns();
    }
    return costs;
  });
  const double kernels = static_cast<double>(batch) * kRounds;
  return {told.front(), *std::min_element(told.begin() + 1, told.end()),
          static_cast<double>(bench::spool_bytes(folder.path())) / kernels};
}

void measure_writer() {
  const WriterCost replay = writer_cost(Load::replay);
  const WriterCost launches = writer_cost(Load::launches);
  bench::report_at_most("writer_ns_per_record", replay.warm_ns, "ns", 80);
  bench::report("writer_cold_ns_per_record", replay.cold_ns, "ns", "", true);
  bench::report("writer_launches_ns_per_record", launches.warm_ns, "ns", "", true);
  bench::report_at_most("spool_bytes_per_kernel", replay.bytes_per_kernel, "bytes", 64);
  bench::report("spool_bytes_per_launch", launches.bytes_per_kernel, "bytes", "", true);
}

/// The launching thread's CPU for `kernels` launches; without a recorder the same records go to the
/// same number of buffers in turn.
double launches_ns(bench::RecorderDriver* recorder, const bench::LaunchMix& mix,
                   std::vector<unsigned char>& own, std::uint64_t kernels) {
  constexpr std::size_t kBuffer = 64 * 1024;
  bench::BufferFill fill;
  std::size_t next = 0;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityAPI call;
  const auto put_into_own = [&](const void* record, std::size_t bytes) {
    if (fill.buffer() == nullptr || !fill.fits(bytes)) {
      fill.start(own.data() + next, kBuffer);
      next = (next + kBuffer) % own.size();
    }
    fill.put(record, bytes);
  };
  const std::int64_t begin_ns = bench::thread_cpu_ns();
  for (std::uint64_t i = 1; i <= kernels; ++i) {
    mix.call(i, call);
    mix.kernel(i, false, kernel);
    if (recorder != nullptr) {
      recorder->launch_callbacks(kernel.correlationId);
      recorder->put(&call, sizeof call);
      recorder->put(&kernel, sizeof kernel);
    } else {
      put_into_own(&call, sizeof call);
      put_into_own(&kernel, sizeof kernel);
    }
  }
  return static_cast<double>(bench::thread_cpu_ns() - begin_ns) / static_cast<double>(kernels);
}

void measure_launch() {
  const bench::ScratchFolder folder;
  constexpr std::uint64_t kLaunches = 100'000;
  const std::vector<double> told = bench::in_child([&] {
    bench::RecorderDriver recorder(folder.path());
    const bench::LaunchMix mix;
    std::vector<unsigned char> own(430 * 64 * 1024, 1);
    std::vector<double> with, without;
    for (int round = 0; round <= kRounds; ++round) {
      without.push_back(launches_ns(nullptr, mix, own, kLaunches));
      with.push_back(launches_ns(&recorder, mix, own, kLaunches));
      recorder.drain();
    }
    const double cold = with.front() - median(without);
    with.erase(with.begin());
    return std::vector<double>{median(with), median(without), cold};
  });
  // Below 0 the buffers' memory was faster with the recorder than without: no cost can be seen.
  fmt::print(stderr, "a launch's records: {:.1f} ns with the recorder, {:.1f} ns without\n",
             told[0], told[1]);
  bench::report_at_most("launch_added_ns", std::max(told[0] - told[1], 0.0), "ns", 60);
  bench::report("launch_added_cold_ns", told[2], "ns", "", true);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(
      argc, argv,
      {{{"writer_ns_per_record", "writer_cold_ns_per_record", "writer_launches_ns_per_record",
         "spool_bytes_per_kernel", "spool_bytes_per_launch"},
        measure_writer},
       {{"launch_added_ns", "launch_added_cold_ns"}, measure_launch}});
}
