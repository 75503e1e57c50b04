// Files that are cut off or hold events that cannot be used.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "test/libprofile/import/trace_files.hpp"

using namespace gprofml::profile;
using Catch::Matchers::Contains;
using gprofml::test::gzipped;
using gprofml::test::import_error;
using gprofml::test::import_text;
using gprofml::test::quality;
using gprofml::test::quality_detail;

namespace {

std::string kernel(int ts) {
  return R"({"ph":"X","cat":"kernel","name":"k, ]}\"","pid":0,"tid":7,"ts":)" + std::to_string(ts) +
         R"(,"dur":1,"args":{"grid":[1,2,3],"x":{"y":[]}}})";
}

ImportOptions keep_partial(std::size_t window_bytes = std::size_t{8} << 20) {
  ImportOptions options;
  options.keep_partial = true;
  options.window_bytes = window_bytes;
  return options;
}

}  // namespace

TEST_CASE("cut off at every byte: an error, or exactly the complete events") {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  std::vector<std::size_t> ends;  // where each event is complete
  for (int i = 0; i < 5; ++i) {
    text += (i ? ", " : "") + kernel(10 + 2 * i);
    ends.push_back(text.size());
  }
  const std::size_t events_begin = text.find('[') + 1;
  text += R"( ], "baseTimeNanoseconds": 5})";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const std::string head = text.substr(0, cut);
    INFO("cut at " << cut);
    const std::string error = import_error(head);
    REQUIRE_THAT(error, Contains("byte " + std::to_string(cut)));
    if (cut < events_begin) {
      REQUIRE(import_error(head, keep_partial()) == error);
      continue;
    }
    std::size_t complete = 0;
    while (complete < ends.size() && ends[complete] <= cut) ++complete;
    for (const std::size_t window : {std::size_t{64}, std::size_t{8} << 20}) {
      const Trace trace = import_text(head, keep_partial(window));
      REQUIRE(trace.kernels.size() == complete);
      REQUIRE(quality(trace, "truncated_file") == 1);
      REQUIRE(quality(trace, "bad_event") == 0);
    }
  }
  CHECK(import_text(text).kernels.size() == 5);
}

TEST_CASE("a gzip stream cut off at every byte") {
  std::string text = R"({"traceEvents": [)";
  for (int i = 0; i < 40; ++i) text += (i ? "," : "") + kernel(10 + 7919 * i);
  text += "]}";
  const std::string whole = gzipped(text);
  std::size_t before = 0;
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    INFO("cut at " << cut << " of " << whole.size());
    const std::string head = whole.substr(0, cut);
    const std::string error = import_error(head);
    REQUIRE_THAT(error, Contains("byte "));
    try {
      const Trace trace = import_text(head, keep_partial());
      REQUIRE(trace.kernels.size() >= before);
      REQUIRE(quality(trace, "truncated_file") == 1);
      REQUIRE(quality(trace, "bad_event") == 0);
      before = trace.kernels.size();
    } catch (const ImportError&) {
      REQUIRE(before == 0);
    }
  }
  CHECK(before == 40);
  CHECK_THAT(import_error(whole.substr(0, whole.size() / 2)),
             Contains("the gzip stream is cut off"));
}

TEST_CASE("broken gzip and what follows it") {
  const std::string whole = gzipped("[" + kernel(1) + "," + kernel(5) + "]");
  std::string broken = whole;
  broken[broken.size() - 6] = static_cast<char>(broken[broken.size() - 6] ^ 0x55);  // the checksum
  CHECK_THAT(import_error(broken), Contains("the gzip stream is broken"));
  CHECK(import_text(broken, keep_partial()).kernels.size() == 2);
  CHECK_THAT(import_error(whole + "rest"), Contains("bytes that are not gzip follow"));
}

TEST_CASE("bad events are counted, the first by its byte, and cost only themselves") {
  struct Bad {
    const char* event;
    const char* reason;
  };
  const Bad bad = GENERATE(
      Bad{R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":-1})", "negative"},
      Bad{R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5})", "dur"},
      Bad{R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":5})", "ts"},
      Bad{R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":"5","dur":5})", "ts"},
      Bad{R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1e30,"dur":5})", "range"},
      Bad{R"({"ph":"X","cat":"kernel","name":"k","ts":4611686018427387,"dur":4611686018427387})",
          "range"},
      Bad{R"({"ph":"X","cat":"kernel","name":17,"ts":5,"dur":5})", "name"},
      Bad{R"({"ph":7})", "ph"}, Bad{R"({"name":"no phase"})", "ph"}, Bad{R"({})", "ph"},
      Bad{R"([1, [2]])", "not an object"}, Bad{"null", "not an object"},
      Bad{"\"text, ]\"", "not an object"}, Bad{"-1.5", "not an object"}, Bad{R"({"ph" "X"})", ""},
      Bad{R"({"ph":"X" "ts":1})", ""}, Bad{R"({"ph":})", ""}, Bad{R"({ph:"X"})", ""},
      Bad{R"({"ph":"X"} {"ph":"X"})", ""}, Bad{R"({"ph":"X"} x)", ""},
      Bad{"{\"ph\":\"X\",\"name\":\"no end of it\n}", ""},
      Bad{R"({"ph":"X","args":{"device":1,,"x":2}})", ""});
  INFO(bad.event);
  std::string text = "[";
  std::vector<std::size_t> bytes;
  for (int i = 0; i < 40; ++i) {
    if (i % 8 == 5) {
      bytes.push_back(text.size());
      text += bad.event;
      text += ",\n ";
    }
    text += kernel(10 * i) + (i == 39 ? "]" : ",\n ");
  }
  for (const std::size_t window : {std::size_t{64}, std::size_t{1500}, std::size_t{8} << 20}) {
    ImportOptions options;
    options.window_bytes = window;
    INFO("window " << window);
    const Trace trace = import_text(text, options);
    REQUIRE(first_inconsistency(trace) == std::nullopt);
    CHECK(trace.kernels.size() == 40);
    CHECK(quality(trace, "bad_event") == static_cast<std::int64_t>(bytes.size()));
    CHECK_THAT(quality_detail(trace, "bad_event"),
               Contains("the first at byte " + std::to_string(bytes.front()) + ": "));
    CHECK_THAT(quality_detail(trace, "bad_event"), Contains(bad.reason));
  }
}

TEST_CASE("an event that lost a brace swallows what follows, but nothing crashes") {
  const std::string text = "[" + kernel(1) + R"(,{"ph":"X","args":{"a":1},)" + kernel(5) + "]";
  CHECK_THAT(import_error(text), Contains("ends before traceEvents is closed"));
  CHECK(import_text(text, keep_partial()).kernels.size() == 1);
}

TEST_CASE("commas too many are forgiven") {
  const Trace trace = import_text("[," + kernel(1) + ",, " + kernel(5) + ",]");
  CHECK(trace.kernels.size() == 2);
  CHECK(quality(trace, "bad_event") == 0);
}

TEST_CASE("a second array of events is passed over and said") {
  const Trace trace =
      import_text(R"({"traceEvents":[)" + kernel(1) + R"(],"traceEvents":[)" + kernel(5) + "]}");
  CHECK(trace.kernels.size() == 1);
  CHECK(quality(trace, "repeated_events") == 1);
}

TEST_CASE("categories are counted, but their number is bounded") {
  std::string text = "[";
  for (int i = 0; i < 3000; ++i)
    text += R"({"ph":"X","cat":"c)" + std::to_string(i) + R"("},{"ph":"i","cat":"c0"},)";
  const Trace trace = import_text(text + "]");
  CHECK(quality(trace, "ignored_category") == 6000);
  CHECK(quality(trace, "ignored_category", "c0") == 3001);
  CHECK(trace.quality.size() <= 1001);
}

TEST_CASE("an unusable base of time is said, and times stay as they are") {
  const Trace trace =
      import_text(R"({"baseTimeNanoseconds":"soon","traceEvents":[)" + kernel(1) + "]}");
  CHECK(trace.kernels.start_ns[0] == 1000);
  CHECK(quality(trace, "bad_base_time") == 1);
}
