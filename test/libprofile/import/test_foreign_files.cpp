// Files that are no trace, and files made to hurt.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "test/libprofile/import/trace_files.hpp"

using namespace gprofml::profile;
using Catch::Matchers::Contains;
using gprofml::test::gzipped;
using gprofml::test::import_error;
using gprofml::test::import_text;
using gprofml::test::quality;
using gprofml::test::TemporaryFile;

namespace {

const std::string kKernel =
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1})";

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("files that are no trace say what they are and what to do") {
  CHECK_THAT(import_error(""), Contains("byte 0: the file is empty"));
  CHECK_THAT(import_error(gzipped("")), Contains("the file is empty"));
  CHECK_THAT(import_error(" \n\t "), Contains("byte 4: the file is empty"));
  CHECK_THAT(import_error("\x7F"
                          "ELF\x01\x02"),
             Contains("byte 0: a brace or a bracket is expected"));
  CHECK_THAT(import_error("  hello"), Contains("byte 2: a brace or a bracket is expected"));
  CHECK_THAT(import_error(gzipped("SQLite format 3")), Contains("byte 0 of the inflated data"));
  CHECK_THAT(import_error("42"), Contains("byte 0: a brace or a bracket"));
  CHECK_THAT(import_error("{}"), Contains("no traceEvents array"));
  CHECK_THAT(import_error(R"({"a\n": {"traceEvents": []}, "b": 1})"),
             Contains(R"(no traceEvents array, only the keys a\n, b;)"));
  CHECK_THAT(import_error("{\"a\nb\": 1}"), Contains("only the keys a b;"));
  CHECK_THAT(import_error(R"({"traceEvents": {"a": []}})"), Contains("no traceEvents array"));
  CHECK_THAT(import_error("[[1, \"alloc\", 2], [3, \"free\", 4]]"),
             Contains("none of its 2 events is one of a Kineto or Chrome trace"));
  CHECK_THAT(import_error("{\"a\" 1}"), Contains("byte 5: a colon is expected"));
  CHECK_THAT(import_error("{\"a\":1 \"b\"}"), Contains("byte 7: a comma or a closing brace"));
  CHECK_THAT(import_error("{a:1}"), Contains("byte 1: a key is expected"));
  CHECK_THAT(import_error("\xEF\xBB{}"), Contains("byte 2: a brace or a bracket"));
  CHECK_THAT(import_error(R"({"traceEvents": []} x)"),
             Contains("byte 20: the end of the file is expected here"));
}

TEST_CASE("paths that cannot be read") {
  const auto error = [](const std::string& path) {
    try {
      import_file(path);
    } catch (const ImportError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(error("/no/such/file.json"), Contains("/no/such/file.json: cannot be opened"));
  CHECK_THAT(error("/"), Contains("/: is a directory"));
}

TEST_CASE("is_importable judges by the first bytes") {
  const auto verdict = [](std::string_view content) {
    const TemporaryFile file(content);
    return is_importable(file.path());
  };
  CHECK(verdict("{\"traceEvents\": []}"));
  CHECK(verdict("\xEF\xBB\xBF\n ["));
  CHECK(verdict(gzipped("[]")));
  CHECK_FALSE(verdict(""));
  CHECK_FALSE(verdict("SQLite format 3"));
  CHECK_FALSE(verdict(gzipped("SQLite format 3")));
  CHECK_FALSE(is_importable("/"));
  CHECK_FALSE(is_importable("/no/such/file"));
}

TEST_CASE("empty arrays of events are traces without events") {
  for (const char* text : {"[]", " [ ] ", "{\"traceEvents\":[]}", "{\"traceEvents\":[\n],}"}) {
    const Trace trace = import_text(text);
    CHECK(trace.kernels.size() == 0);
    CHECK(trace.processes.size() == 1);
    CHECK(first_inconsistency(trace) == std::nullopt);
  }
}

TEST_CASE("nesting of any depth costs one event") {
  for (const std::size_t depth : {1000U, 100'000U, 3'000'000U}) {
    const std::string open = repeated("[", depth), close = repeated("]", depth);
    const std::string object_open = repeated("{\"a\":", depth), object_close = repeated("}", depth);
    const std::string text = "[" + kKernel + ",{\"args\":" + open + close + "}," + kKernel +
                             ",{\"args\":" + object_open + "1" + object_close + "}," + kKernel +
                             "," + open + close + "," + kKernel + "]";
    const Trace trace = import_text(text);
    CHECK(trace.kernels.size() == 4);
    CHECK(quality(trace, "bad_event") == 3);
    CHECK_THAT(import_error(open), Contains("ends before traceEvents is closed"));
    CHECK(import_text("{\"x\":" + open + close + ",\"traceEvents\":[" + kKernel + "]}")
              .kernels.size() == 1);
  }
}

TEST_CASE("an event may be larger than a window, but not than the bound") {
  const auto with_padding = [](std::size_t bytes) {
    return "[" + kKernel +
           R"(,{"ph":"X","cat":"kernel","name":"big","pid":0,"tid":7,"ts":9,"dur":1,)" +
           R"("args":{"pad":")" + std::string(bytes, 'x') + "\"}}," + kKernel + "]";
  };
  ImportOptions options;
  options.window_bytes = 4096;
  CHECK(import_text(with_padding(3'000'000), options).kernels.size() == 3);
  CHECK(import_text(with_padding(20'000'000)).kernels.size() == 3);
  CHECK_THAT(import_error(with_padding(40'000'000)),
             Contains("byte " + std::to_string(kKernel.size() + 2) +
                      ": an element of traceEvents is larger than 32 MiB"));
  CHECK_THAT(import_error("[" + std::string(40'000'000, ' ') + "]"),
             Contains("larger than 32 MiB"));
}

TEST_CASE("header values of any size are passed over") {
  const std::string text = "{\"INFO\":[\"" + std::string(30'000'000, 'x') + "\"],\"long\":\"" +
                           std::string(10'000, 'y') + "\",\"short\":\"z\",\"traceEvents\":[" +
                           kKernel + "]}";
  const Trace trace = import_text(text);
  CHECK(trace.kernels.size() == 1);
  CHECK(trace.meta.count("long") == 0);
  CHECK(trace.meta.at("short") == "z");
}

TEST_CASE("time stays linear in the size of hostile files") {
  // Per file, four times the bytes may take no more than about four times as long.
  struct Hostile {
    const char* what;
    std::function<std::string(std::size_t)> make;
  };
  const Hostile hostile = GENERATE(
      Hostile{"bad events only",
              [](std::size_t n) { return "[" + repeated("{\"ph\" 1},", n) + "{}]"; }},
      Hostile{"many tiny arrays of events",
              [](std::size_t n) {
                return "{" + repeated("\"traceEvents\":[],", n) + "\"traceEvents\":[]}";
              }},
      Hostile{"commas only", [](std::size_t n) { return "[" + repeated(",", 10 * n) + "]"; }},
      Hostile{"strings that never end",
              [](std::size_t n) { return "[" + repeated("{\"ph\":\"X\n},", n) + "{}]"; }},
      Hostile{"wrong UTF-8 everywhere",
              [](std::size_t n) { return "[" + repeated("{\"ph\":\"\xFF\"},", n) + "{}]"; }},
      Hostile{"one process a name",
              [](std::size_t n) {
                std::string text = "[";
                for (std::size_t i = 0; i < n; ++i)
                  text += R"({"ph":"X","cat":"cpu_op","ts":1,"dur":1,"name":"","pid":"p)" +
                          std::to_string(i) + "\"},";
                return text + "{}]";
              }},
      Hostile{"many header keys", [](std::size_t n) {
                std::string text = "{";
                for (std::size_t i = 0; i < n; ++i) text += "\"k" + std::to_string(i) + "\":1,";
                return text + "\"traceEvents\":[]}";
              }});
  INFO(hostile.what);
  ImportOptions options;
  options.keep_partial = true;
  options.window_bytes = 1 << 16;
  const auto time = [&](std::size_t n) {
    const TemporaryFile file(hostile.make(n));
    const auto work = [&] {
      try {
        import_file(file.path(), options);
      } catch (const ImportError&) {
      }
    };
    return std::min(seconds(work), seconds(work));
  };
  const double small = time(50'000), large = time(200'000);
  CHECK(large < 10 * small + 0.3);
}
