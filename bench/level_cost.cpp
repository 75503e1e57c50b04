// What each level costs a program, by whole commands on the simulated GPU's wall clock, and what
// the README's table says of it. Five things, by 100 launches a step (level_loop.cu):
//
//   levelN_added_ns        CPU time of the launching thread, recorded less not recorded, A B B A
//   levelN_callback_ns     of that our own code, as the recorder accounts for it by sampling
//   levelN_recorder_ns     CPU time of the recorder's own threads, from run.db
//   levelN_spool_bytes     on the disk while the program runs
//   levelN_db_bytes        of the run.db
//
// all of them for each kernel launched; levelN_graph_… for each kernel of a graph that is replayed.
// What a recording of nearly nothing takes is subtracted. The added time has in it what the
// simulated CUPTI does to make its records, which is not what NVIDIA's takes: only the recorder's
// own part (launch_added_ns, writer_ns_per_record) holds on a GPU, where scripts/gpu_check.sh
// measures the whole.
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bench_output.hpp"
#include "bench/recorder_driver.hpp"
#include "bench/whole_command.hpp"

namespace {

namespace bench = gprofml::bench;
namespace fs = std::filesystem;

constexpr int kLevels = 4;
constexpr int kRounds = 3;  // of A B B A for each level
constexpr int kBehind = 5;  // recordings for what else is measured of it
constexpr long kLaunchesPerStep = 100;

struct Loop {
  const char* argument;
  const char* prefix;  ///< of its figures, behind "levelN_"
  long steps;
};
constexpr std::array<Loop, 2> kLoops{{{"launches", "", 1000}, {"replays", "graph_", 1000}}};

/// What a recording took, as it says itself and as the disk says.
struct Behind {
  double callback_ns = 0;
  double recorder_ns = 0;
  double spool_bytes = 0;
  double db_bytes = 0;
};

double meta_figure(const fs::path& db, const char* key) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(db.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection(opened, sqlite3_close);
  if (status != SQLITE_OK) throw std::runtime_error("cannot read " + db.string());
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(opened, "select cast(value as real) from meta where key = ?", -1, &prepared,
                     nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> query(prepared, sqlite3_finalize);
  sqlite3_bind_text(prepared, 1, key, -1, SQLITE_STATIC);
  if (sqlite3_step(prepared) != SQLITE_ROW) {
    throw std::runtime_error(fmt::format("{}: no {} in meta", db.string(), key));
  }
  return sqlite3_column_double(prepared, 0);
}

class Runs {
 public:
  explicit Runs(const Loop& loop) : loop_(loop) {}

  /// CPU time of the program's loop for each launch.
  double without() const { return cpu_ns(program(loop_.steps)); }

  double with(int level) const { return cpu_ns(recorded(level, loop_.steps, "")); }

  /// Of one recording, less what a recording of one step takes, for each launch.
  Behind behind(int level) const {
    const Behind all = measure(level, loop_.steps);
    const Behind nearly_nothing = measure(level, 1);
    const auto launches = static_cast<double>((loop_.steps - 1) * kLaunchesPerStep);
    return {(all.callback_ns - nearly_nothing.callback_ns) / launches,
            (all.recorder_ns - nearly_nothing.recorder_ns) / launches,
            (all.spool_bytes - nearly_nothing.spool_bytes) / launches,
            (all.db_bytes - nearly_nothing.db_bytes) / launches};
  }

 private:
  double cpu_ns(const std::string& command) const {
    return bench::figure_in(bench::output_of(command), "loop_cpu_ns") /
           static_cast<double>(loop_.steps * kLaunchesPerStep);
  }

  std::string program(long steps) const {
    return fmt::format("'{}' --clock wall -- '{}' {} {}", GPROFML_BENCH_SIMGPU,
                       GPROFML_BENCH_PROGRAM, loop_.argument, steps);
  }

  fs::path db() const { return folder_.path() / "run.db"; }

  std::string recorded(int level, long steps, const char* flags) const {
    return fmt::format("'{}' run --quiet --force {} --level {} -o '{}' -- {}",
                       GPROFML_BENCH_GPROF_ML, flags, level, db().string(), program(steps));
  }

  Behind measure(int level, long steps) const {
    bench::output_of(recorded(level, steps, "--keep-spool"));
    return {meta_figure(db(), "cost_callback_ns"), meta_figure(db(), "cost_own_cpu_ns"),
            take_spools(), static_cast<double>(fs::file_size(db()))};
  }

  /// Bytes in the spools that were kept, which are removed.
  double take_spools() const {
    double bytes = 0;
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
    for (const fs::path& folder : folders) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".spool") bytes += static_cast<double>(entry.file_size());
      }
      fs::remove_all(folder);
    }
    if (bytes == 0) throw std::runtime_error("the recording left no spool");
    return bytes;
  }

  Loop loop_;
  bench::ScratchFolder folder_;
};

void measure(int level, const Loop& loop) {
  const Runs runs(loop);
  std::vector<double> without, with;
  for (int round = 0; round < kRounds; ++round) {
    without.push_back(runs.without());
    with.push_back(runs.with(level));
    with.push_back(runs.with(level));
    without.push_back(runs.without());
  }
  // Callbacks are sampled, so that a few long ones weigh much: the median of several recordings.
  std::vector<double> callback_ns, recorder_ns;
  Behind behind;
  for (int i = 0; i < kBehind; ++i) {
    behind = runs.behind(level);
    callback_ns.push_back(behind.callback_ns);
    recorder_ns.push_back(behind.recorder_ns);
  }
  const std::string name = fmt::format("level{}_{}", level, loop.prefix);
  bench::report(name + "added_ns", bench::median(with) - bench::median(without), "ns", "", true);
  bench::report(name + "callback_ns", bench::median(callback_ns), "ns", "", true);
  bench::report(name + "recorder_ns", bench::median(recorder_ns), "ns", "", true);
  bench::report(name + "spool_bytes", behind.spool_bytes, "bytes", "", true);
  bench::report(name + "db_bytes", behind.db_bytes, "bytes", "", true);
  fmt::print(stderr, "level {}, {}: {:.0f} ns without recording, {:.0f} ns with\n", level,
             loop.argument, bench::median(without), bench::median(with));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<bench::Measurement> measurements;
  for (const Loop& loop : kLoops) {
    for (int level = 0; level < kLevels; ++level) {
      std::vector<std::string> names;
      for (const char* what :
           {"added_ns", "callback_ns", "recorder_ns", "spool_bytes", "db_bytes"}) {
        names.push_back(fmt::format("level{}_{}{}", level, loop.prefix, what));
      }
      measurements.push_back({names, [level, &loop] { measure(level, loop); }});
    }
  }
  return bench::bench_main(argc, argv, measurements);
}
