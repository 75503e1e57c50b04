#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <sstream>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/text.hpp"
#include "test/libanalysis/report/decode_report.hpp"

namespace gprofml::test {
namespace {

using analysis::render_text;
using analysis::Report;
using analysis::TextOptions;
using analysis::TimeClass;

TextOptions for_run_db() {
  TextOptions options;
  options.is_run_db = true;
  options.tool_version = "1.0";
  return options;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The running text without line ends, as a reader takes it in.
std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\n +"), " ");
}

/// Printed decimals, in units of their last digit: "1,234.5" → 12345.
std::int64_t units_of(std::string number) {
  number.erase(
      std::remove_if(number.begin(), number.end(), [](char c) { return c == ',' || c == '.'; }),
      number.end());
  return std::stoll(number);
}

/// The figures of one table row, from the columns right of its label.
std::vector<std::int64_t> figures(const std::string& line, std::size_t label_width) {
  std::istringstream stream(line.substr(label_width));
  std::vector<std::int64_t> out;
  for (std::string word; stream >> word;) out.push_back(units_of(word));
  return out;
}

void add_to(std::vector<std::int64_t>& sums, const std::vector<std::int64_t>& row) {
  sums.resize(std::max(sums.size(), row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) sums[i] += row[i];
}

TEST_CASE("a decode loop as a user reads it") {
  CHECK("\n" + render_text(decode_report(), for_run_db()) == R"(
gprof-ml 1.0  run.db  llama_infer (pid 41207)  1x NVIDIA H200  recorded 61.40 ms

HOST-BOUND: the GPU waits for the host 34.4 % of the time.

window  4 steady steps, 38.52 ms (found from ranges named ProfilerStep,
        confidence 0.98)
        left out: before the steady steps 20.00 ms (--window all shows all)
step    5 found, median 9.62 ms start to start
data    complete: 1,684 of 1,684 submissions with their GPU work, 0 dropped,
        0 suspect
        host and GPU clocks agree to 1.1 us

GPU 0, where the time went                          ms      %     ms/step
  compute kernels       #############            24.82   64.4        6.21
  exposed copies, fills #                         0.45    1.2        0.11
  idle                  #######                  13.25   34.4        3.31
    host code between CUDA calls                  7.42   19.3        1.86
    launch calls                                  4.02   10.4        1.00
    return from synchronisation                   1.81    4.7        0.45
  total                                          38.52  100.0        9.63
  hidden behind kernels: copies and fills 100.0 us

critical path, 38.52 ms: kernels 64.4 %, host code between CUDA calls ~33.7 %,
  copies 1.2 %, unknown 0.7 % (no launch record); on inferred edges ~2.6 %
  (--path lists)
ranking: as by path share, except cause host_code (2nd by share, 1st by
  PageRank)

kernels, by total time                       count         ms      %    mean us
  gemv<float>                                1,200      20.00   80.6       16.7
  rms_norm                                     400       4.00   16.1       10.0
  softmax                                       84       0.82    3.3        9.8
  total                                      1,684      24.82  100.0       14.7

ops with all inside, by GPU time            count    host ms     GPU ms GPU work
  decode_step                                   4      38.00      25.00    1,684
  decode_step/attention                       128       9.00       0.82       84

not judged: occupancy, precision: no hardware counters recorded
next: gprof-ml analyze run.db --path
      gprof-ml analyze run.db --window all
      gprof-ml analyze run.db --format json
)");
}

TEST_CASE("no line passes 80 columns and nothing obeys the terminal, whatever the names") {
  std::mt19937_64 random(80);
  for (int round = 0; round < 300; ++round) {
    const Report report = random_report(random);
    TextOptions options = for_run_db();
    options.path = random() % 2 == 0;
    options.top = static_cast<int>(random() % 4);
    const std::string text = render_text(report, options);
    for (const std::string& line : lines_of(text)) {
      INFO(line);
      REQUIRE(analysis::display_width(line) <= 80);
      REQUIRE(analysis::printable(line) == line);
    }
  }
}

TEST_CASE("printed parts of the device table add up to its printed total, causes to idle") {
  constexpr std::size_t kLabel = 44;
  std::mt19937_64 random(44);
  int tables = 0;
  for (int round = 0; round < 300; ++round) {
    Report report = random_report(random);
    if (report.devices.empty()) continue;
    report.devices.resize(1);
    std::vector<std::int64_t> parts;
    std::vector<std::int64_t> causes;
    std::vector<std::int64_t> idle;
    std::vector<std::int64_t> total;
    bool inside = false;
    for (const std::string& line : lines_of(render_text(report, for_run_db()))) {
      if (holds(line, "where the time went")) {
        inside = true;
      } else if (inside && line.rfind("  total", 0) == 0) {
        total = figures(line, kLabel);
        break;
      } else if (inside && line.rfind("    ", 0) == 0) {
        add_to(causes, figures(line, kLabel));
      } else if (inside) {
        add_to(parts, figures(line, kLabel));
        if (line.rfind("  idle", 0) == 0) idle = figures(line, kLabel);
      }
    }
    INFO(render_text(report, for_run_db()));
    REQUIRE(total.size() >= 2);
    CHECK(parts == total);
    if (!causes.empty()) CHECK(causes == idle);
    ++tables;
  }
  CHECK(tables > 200);
}

TEST_CASE("printed kernels and the rest add up to the printed total") {
  constexpr std::size_t kLabel = 40;
  std::mt19937_64 random(40);
  for (int round = 0; round < 300; ++round) {
    Report report = random_report(random);
    report.devices.resize(1, decode_device());
    report.kernels[0].name = "a";
    report.kernels[1].name = "b";
    report.kernels[2].name = "c";
    TextOptions options = for_run_db();
    options.top = 1 + static_cast<int>(random() % 4);
    std::vector<std::int64_t> parts;
    std::vector<std::int64_t> total;
    bool inside = false;
    for (const std::string& line : lines_of(render_text(report, options))) {
      if (line.rfind("kernels, by total time", 0) == 0) {
        inside = true;
      } else if (inside && line.rfind("  total", 0) == 0) {
        total = figures(line, kLabel);
        break;
      } else if (inside) {
        add_to(parts, figures(line, kLabel));
      }
    }
    REQUIRE(total.size() == 4);  // count, time, share, mean
    parts.pop_back();            // means do not add up
    total.pop_back();
    CHECK(parts == total);
  }
}

TEST_CASE("the printed shares of the critical path add up to 100 %") {
  std::mt19937_64 random(100);
  for (int round = 0; round < 300; ++round) {
    const Report report = random_report(random);
    if (report.critical_path.window_ns == 0) continue;
    const std::string text = unwrapped(render_text(report, for_run_db()));
    const std::size_t from = text.find("critical path, ");
    REQUIRE(from != std::string::npos);
    const std::string line = text.substr(from, text.find("; on inferred edges", from) - from);
    std::int64_t sum = 0;
    const std::regex percent("([0-9.]+) %");
    for (std::sregex_iterator it(line.begin(), line.end(), percent); it != std::sregex_iterator();
         ++it) {
      sum += units_of((*it)[1]);
    }
    INFO(line);
    CHECK(sum == 1000);
  }
}

TEST_CASE("simulated data say so on the first line") {
  Report report = decode_report();
  CHECK_FALSE(holds(render_text(report, for_run_db()), "SIMULATED"));
  report.run.simulated = true;
  report.run.source = std::string(200, 'x');
  CHECK(holds(lines_of(render_text(report, for_run_db())).front(), "SIMULATED"));
}

TEST_CASE("a trace without GPU work gets a sentence and no empty table") {
  Report report = decode_report();
  report.devices.clear();
  report.kernels.clear();
  report.kernel_device_ids.clear();
  report.critical_path = {};
  report.segments.clear();
  report.ranking = {};
  for (analysis::OpStatistics& op : report.ops) op.device_ns = op.kernels = 0;
  std::swap(report.ops[0], report.ops[1]);
  const std::string text = render_text(report, for_run_db());
  CHECK(holds(unwrapped(text), "No GPU work in this window, so there is neither idle time nor"));
  CHECK_FALSE(holds(text, "where the time went"));
  CHECK_FALSE(holds(text, "critical path, "));
  CHECK_FALSE(holds(text, "kernels, by"));
  CHECK_FALSE(holds(text, "--path"));
  CHECK_FALSE(holds(text, "GPU ms"));
  CHECK(text.find("decode_step   ") < text.find("decode_step/attention"));
}

TEST_CASE("the mark ~ stands before shares that rest on inferred dependencies, and only there") {
  Report report = decode_report();
  CHECK(
      holds(unwrapped(render_text(report, for_run_db())), "host code between CUDA calls ~33.7 %"));
  report.critical_path.inferred_by_class = {};
  report.critical_path.inferred_ns = 0;
  CHECK_FALSE(holds(render_text(report, for_run_db()), "~"));
}

TEST_CASE("percentiles are printed where there are steps enough to have them") {
  Report report = decode_report();
  report.steps.count = 6;
  CHECK(holds(unwrapped(render_text(report, for_run_db())), "p95 9.91 ms, p99 11.40 ms"));
  report.steps.count = 5;
  CHECK_FALSE(holds(unwrapped(render_text(report, for_run_db())), "p95"));
}

TEST_CASE("a partial path says why it gives no verdict") {
  Report report = decode_report();
  CHECK_FALSE(holds(render_text(report, for_run_db()), "partial"));
  report.critical_path.partial = true;
  report.critical_path.partial_because = {"41 % is inferred", "calls are missing"};
  CHECK(holds(unwrapped(render_text(report, for_run_db())),
              "partial, so not a verdict: 41 % is inferred; calls are missing"));
}

TEST_CASE("the ranking is shown only where its order differs from the path's") {
  Report report = decode_report();
  CHECK(holds(render_text(report, for_run_db()), "ranking:"));
  report.ranking.nodes[0].path_share = 0.7;
  CHECK_FALSE(holds(render_text(report, for_run_db()), "ranking:"));
  report.ranking.nodes[0] = {analysis::RankKind::op, "host_code", 0.6, 0.3375};
  CHECK_FALSE(holds(render_text(report, for_run_db()), "ranking:"));  // each alone in its kind
}

TEST_CASE("with --path every segment is listed, exact to the nanosecond") {
  TextOptions options = for_run_db();
  options.path = true;
  const std::string text = render_text(decode_report(), options);
  CHECK(holds(text, "       24.820049        449.951  copy                       Memcpy DtoH\n"));
  CHECK(holds(text, "       25.270000    ~13,000.000  host_code                  sample\n"));
  CHECK_FALSE(holds(text, "--path"));
}

TEST_CASE("incomplete data are said to be so, and coverage never rounds up to 100 %") {
  Report report = decode_report();
  report.quality.submissions = 1'000'000;
  report.quality.linked_submissions = 999'999;
  report.quality.coverage = 0.999'999;
  report.quality.unlinked = 2;
  const std::string text = unwrapped(render_text(report, for_run_db()));
  CHECK(holds(text, "1 of 1,000,000 submissions without recorded GPU work (coverage 99.99 %)"));
  CHECK(holds(text, "2 of 1,686 GPU activities without a launch record"));
  CHECK_FALSE(holds(text, "complete"));
}

TEST_CASE("only data without any doubt are called complete") {
  const Report clean = decode_report();
  CHECK(holds(render_text(clean, for_run_db()), "complete"));
  for (std::int64_t analysis::Quality::*doubt :
       {&analysis::Quality::unlinked, &analysis::Quality::dropped, &analysis::Quality::no_timestamp,
        &analysis::Quality::overruns}) {
    Report report = clean;
    report.quality.*doubt = 1;
    CHECK_FALSE(holds(render_text(report, for_run_db()), "complete"));
  }
}

TEST_CASE("a cause that prints as nothing has no row") {
  Report report = decode_report();
  report.window.kind = analysis::WindowKind::all;
  analysis::DeviceTimeline& time = report.devices[0].timeline;
  set_class(time.idle_by_cause, TimeClass::graph_gap, 3);
  time.idle_ns += 3;
  time.span_ns += 3;
  CHECK_FALSE(holds(render_text(report, for_run_db()), "gap between nodes"));
}

TEST_CASE("devices that say the same id are told apart") {
  Report report = decode_report();
  report.devices = {decode_device(), decode_device()};
  report.devices[0].host = "node1";
  report.devices[1].host = "node2";
  std::string text = render_text(report, for_run_db());
  CHECK(holds(text, "GPU 0 node1, where the time went"));
  CHECK(holds(text, "GPU 0 node2, where the time went"));
  report.devices[1].host = "node1";
  report.devices[1].processes = {41208};
  text = render_text(report, for_run_db());
  CHECK(holds(text, "GPU 0 node1 pid 41207, where"));
  CHECK(holds(text, "GPU 0 node1 pid 41208, where"));
}

TEST_CASE("many devices get one line each") {
  Report report = decode_report();
  report.devices.assign(16, decode_device());
  for (std::size_t i = 0; i < 16; ++i) report.devices[i].id = static_cast<std::int64_t>(i);
  const std::vector<std::string> lines = lines_of(render_text(report, for_run_db()));
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.rfind("  GPU ", 0) == 0 && holds(line, "64.4     0.0     1.2    34.4");
        }) == 16);
}

TEST_CASE("colour changes nothing but escapes") {
  TextOptions options = for_run_db();
  const std::string plain = render_text(decode_report(), options);
  options.color = true;
  const std::string colored = render_text(decode_report(), options);
  CHECK(colored != plain);
  CHECK(std::regex_replace(colored, std::regex("\x1b\\[[0-9]*m"), "") == plain);
}

TEST_CASE("the next commands can be pasted into a shell") {
  Report report = decode_report();
  report.run.source = "my trace's.json";
  TextOptions options = for_run_db();
  options.is_run_db = false;
  const std::string text = render_text(report, options);
  CHECK(holds(text, R"(gprof-ml analyze 'my trace'\''s.json' --path)"));
  CHECK(holds(text, R"(gprof-ml import 'my trace'\''s.json' -o run.db)"));
  CHECK_FALSE(holds(render_text(report, for_run_db()), "gprof-ml import"));
}

TEST_CASE("an empty report is still a report") {
  const std::string text = render_text(Report{}, TextOptions{});
  CHECK(holds(text, "No GPU work"));
}

TEST_CASE("one of several recorded windows is not called everything") {
  Report report = decode_report();
  report.window.kind = analysis::WindowKind::all;
  report.window.recorded_windows = 3;
  report.window.left_out = {{"other recorded windows", 2'000'000'000}};
  const std::string text = unwrapped(render_text(report, for_run_db()));
  CHECK(holds(text, "the longest of 3 recorded windows"));
  CHECK(holds(text, "left out: other recorded windows 2.0 s"));
  CHECK_FALSE(holds(text, "shows all"));
  CHECK_FALSE(holds(text, "everything recorded"));
}

}  // namespace
}  // namespace gprofml::test
