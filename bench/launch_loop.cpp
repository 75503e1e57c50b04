// What recording costs a program that does nothing but launch kernels, on the simulated GPU's wall
// clock: without (A) and with recording (B) in turn, A B B A, so that a machine that gets slower
// does not count. The time is the program's own, of its loop. The simulated CUPTI is not NVIDIA's:
// the ratio says what to look at, and not what a GPU's user will see.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/bench_output.hpp"
#include "bench/recorder_driver.hpp"
#include "bench/whole_command.hpp"

namespace {

namespace bench = gprofml::bench;

constexpr int kRounds = 4;
constexpr long kLaunches = 150'000;

double loop_ns(const std::string& command) {
  return bench::figure_in(bench::output_of(command), "loop_ns");
}

void measure() {
  const bench::ScratchFolder folder;
  const std::string program = fmt::format("'{}' --clock wall -- '{}' launches {}",
                                          GPROFML_BENCH_SIMGPU, GPROFML_BENCH_PROGRAM, kLaunches);
  const std::string recorded =
      fmt::format("'{}' run --quiet --force -o '{}' -- {}", GPROFML_BENCH_GPROF_ML,
                  (folder.path() / "run.db").string(), program);
  std::vector<double> without, with;
  for (int round = 0; round < kRounds; ++round) {
    without.push_back(loop_ns(program));
    with.push_back(loop_ns(recorded));
    with.push_back(loop_ns(recorded));
    without.push_back(loop_ns(program));
  }
  const double added_ns = (bench::median(with) - bench::median(without)) / kLaunches;
  bench::report("record_launch_loop_ratio", bench::median(with) / bench::median(without), "ratio",
                "", true);
  bench::report("record_launch_loop_added_ns", added_ns, "ns", "", true);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(
      argc, argv, {{{"record_launch_loop_ratio", "record_launch_loop_added_ns"}, measure}});
}
