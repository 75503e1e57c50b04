// What must not change a trace: threads, windows, compression, the order of the events.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "test/libprofile/import/trace_files.hpp"
#include "test/libprofile/trace/difference.hpp"

using namespace gprofml::profile;
using gprofml::test::first_difference;
using gprofml::test::gzipped;
using gprofml::test::import_text;
using gprofml::test::Sequence;
using gprofml::test::TemporaryFile;

namespace {

/// Events of every kept kind; no two GPU activities tie in time.
std::vector<std::string> many_events() {
  std::vector<std::string> events;
  const auto add = [&](const std::string& event) { events.push_back(event); };
  for (int i = 0; i < 60; ++i) {
    const auto n = [](int value) { return std::to_string(value); };
    const std::string tid = i % 3 == 0 ? "\"worker " + n(i % 4) + "\"" : n(20 + i % 2);
    add(R"({"ph":"X","cat":"cpu_op","name":"aten::op\")" + n(i % 5) + R"(","pid":10,"tid":)" + tid +
        R"(,"ts":)" + n(100 * i) + R"(.250,"dur":50,"args":{"External id":)" + n(1000 + i) +
        R"(,"Input Dims":[[1,2],[]],"text":"a,b]}{\\"}})");
    add(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":)" + tid +
        R"(,"ts":)" + n(100 * i + 5) + R"(,"dur":9,"args":{"correlation":)" + n(i % 40) + "}}");
    add(R"({"ph":"X","cat":"kernel","name":"kernel)" + n(i % 7) + R"(","pid":0,"tid":7,"ts":)" +
        n(100 * i + 20) + R"(,"dur":30.125,"args":{"device":)" + n(i % 2) +
        R"(,"context":1,"stream":)" + n(7 + i % 3) + R"(,"correlation":)" + n(i % 40) +
        R"(,"External id":)" + n(1000 + i) + R"(,"grid":[)" + n(i % 4) +
        R"(,1,1],"block":[64,1,1],"graph id":1,"graph node id":)" + n(i % 6) +
        R"(,"Collective name":"c)" + n(i) + R"("}})");
    add(R"json({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pinned)","pid":0,"tid":7,"ts":)json" +
        n(100 * i + 60) + R"(,"dur":3,"args":{"device":0,"stream":7,"bytes":64}})");
    add(R"({"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":-1,"ts":)" +
        n(100 * i + 70) + R"(,"dur":3,"args":{"device":0,"stream":)" + n(7 + i % 5) +
        (i % 2 ? R"(,"context":1)" : "") + R"(,"correlation":)" + n(i) + "}}");
    add(R"({"ph":"i","name":"[memory]","pid":10,"tid":)" + tid + R"(,"ts":)" + n(100 * i + 80) +
        R"(,"args":{"Bytes":)" + n(i - 30) + R"(,"Addr":5,"Device Id":)" + n(i % 2) +
        R"(,"Device Type":1}})");
    add(R"({"ph":"s","id":1,"cat":"ac2g","name":"ac2g","pid":10,"tid":20,"ts":1})");
    add(R"({"ph":"M","name":"thread_name","pid":10,"tid":20,"args":{"name":"t)" + n(i % 3) +
        R"("}})");
  }
  return events;
}

std::string document(const std::vector<std::string>& events,
                     const std::string& separator = ",\n ") {
  std::string text = R"({"schemaVersion":1,"note":["x",{"y":"]}"}],"traceEvents":[)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i ? separator : "") + events[i];
  return text + R"(],"baseTimeNanoseconds":1711964646000000000})";
}

Trace import_with(const TemporaryFile& file, int threads, std::size_t window_bytes) {
  ImportOptions options;
  options.threads = threads;
  options.window_bytes = window_bytes;
  return import_file(file.path(), options);
}

}  // namespace

TEST_CASE("threads and window sizes do not change the trace") {
  const TemporaryFile file(document(many_events()));
  const Trace reference = import_with(file, 1, std::size_t{8} << 20);
  REQUIRE(reference.kernels.size() == 60);
  REQUIRE(first_inconsistency(reference) == std::nullopt);
  for (const int threads : {1, 2})
    for (const std::size_t window : {1U, 64U, 65U, 127U, 1000U, 4096U, 20000U, 8U << 20U}) {
      INFO("threads " << threads << " window " << window);
      REQUIRE(first_difference(reference, import_with(file, threads, window)) == "");
    }
}

TEST_CASE("every window size up to a few events gives the same trace") {
  std::vector<std::string> events = many_events();
  events.resize(10);
  const TemporaryFile file(document(events));
  const Trace reference = import_with(file, 1, std::size_t{8} << 20);
  for (std::size_t window = 16; window < 1200; ++window) {
    INFO("window " << window);
    REQUIRE(first_difference(reference, import_with(file, 1, window)) == "");
  }
}

TEST_CASE("the order of the events changes nothing but sequence") {
  std::vector<std::string> events = many_events();
  const std::string name = ".json";
  const auto import_in_order = [&] {
    // One path, for the file's name is part of the trace.
    const auto path = std::filesystem::temp_directory_path() /
                      ("gprofml_shuffle_" + std::to_string(::getpid()) + name);
    std::ofstream(path) << document(events);
    Trace trace = import_file(path.string());
    std::filesystem::remove(path);
    return trace;
  };
  const Trace reference = import_in_order();
  std::mt19937 random(5);
  for (int round = 0; round < 25; ++round) {
    std::shuffle(events.begin(), events.end(), random);
    const Trace shuffled = import_in_order();
    REQUIRE(first_difference(reference, shuffled, Sequence::ignore) == "");
  }
}

TEST_CASE("sequence counts GPU work in the order of the file") {
  const Trace trace =
      import_text(R"([{"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":50,"dur":1},)"
                  R"({"ph":"X","cat":"gpu_memset","name":"m","pid":0,"tid":7,"ts":20,"dur":1},)"
                  R"({"ph":"X","cat":"kernel","name":"early","pid":0,"tid":7,"ts":10,"dur":1}])");
  CHECK(trace.kernels.sequence == std::vector<std::uint32_t>{2, 0});
  CHECK(trace.fills.sequence == std::vector<std::uint32_t>{1});
}

TEST_CASE("gzip, also of several members and padded, holds the same trace") {
  const std::string text = document(many_events());
  const Trace reference = import_text(text);
  const std::string whole = gzipped(text);
  const std::string members =
      gzipped(text.substr(0, 777)) + gzipped("") + gzipped(text.substr(777));
  for (const std::string& content : {whole, members, whole + std::string(1000, '\0')}) {
    const Trace trace = import_text(content);
    Trace expected = reference;
    // The name of the temporary file is the only difference.
    expected.strings = trace.strings;
    CHECK(trace.kernels.start_ns == reference.kernels.start_ns);
    CHECK(first_difference(trace, expected) == "");
  }
}

TEST_CASE("layout does not matter: blanks, one line, key order, a byte order mark") {
  const Trace compact = import_text(document(many_events(), ","));
  const std::string spaced = document(many_events(), "\r\n\t , \r\n\t ");
  for (const std::string& text : {spaced, "\xEF\xBB\xBF" + spaced, "\n \t" + spaced + " \n"}) {
    const Trace trace = import_text(text);
    CHECK(trace.kernels.start_ns == compact.kernels.start_ns);
    CHECK(trace.kernels.launch == compact.kernels.launch);
    CHECK(trace.ranges.external_id == compact.ranges.external_id);
    CHECK(trace.quality.size() == compact.quality.size());
  }
  const Trace reversed = import_text(
      R"({"traceEvents":[{"args":{"correlation":5,"stream":9},"dur":2,"ts":1,"tid":7,"pid":0,"name":"k","cat":"kernel","ph":"X"}]})");
  CHECK(reversed.kernels.correlation == std::vector<std::int64_t>{5});
  CHECK(reversed.streams[0].id == 9);
}
