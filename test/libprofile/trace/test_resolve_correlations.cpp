#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "test/libprofile/trace/trace_builder.hpp"

using namespace gprofml::profile;
using gprofml::test::TraceBuilder;

namespace {

// The definition, word for word, one activity at a time: of the calls of the process with the id
// that lie in no other one of the same thread, the last to start at or before the activity, else
// the first.
RowIndex launch_by_definition(const Trace& trace, RowIndex kernel) {
  const ApiCallColumns& calls = trace.api_calls;
  const auto matches = [&](RowIndex call) {
    return calls.correlation[call] == trace.kernels.correlation[kernel] &&
           trace.threads[calls.thread[call]].process ==
               trace.process_of_stream(trace.kernels.stream[kernel]);
  };
  const auto lies_in_another = [&](RowIndex call) {
    for (RowIndex outer = 0; outer < calls.size(); ++outer)
      if (outer != call && matches(outer) && calls.thread[outer] == calls.thread[call] &&
          calls.start_ns[outer] <= calls.start_ns[call] &&
          calls.end_ns[outer] >= calls.end_ns[call])
        return true;
    return false;
  };
  RowIndex last = kNoRow, first = kNoRow;
  for (RowIndex call = 0; call < calls.size(); ++call) {
    if (!matches(call) || lies_in_another(call)) continue;
    if (calls.start_ns[call] <= trace.kernels.start_ns[kernel] &&
        (last == kNoRow || calls.start_ns[call] > calls.start_ns[last]))
      last = call;
    if (first == kNoRow || calls.start_ns[call] < calls.start_ns[first]) first = call;
  }
  return last != kNoRow ? last : first;
}

}  // namespace

TEST_CASE("a runtime call and the driver call inside it share an id: the outer one launched") {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  b.call("cuLaunchKernel", thread, 110, 120, 5);
  const RowIndex outer = b.call("cudaLaunchKernel", thread, 100, 130, 5);
  b.kernel("k", stream, 115, 200, 5);
  resolve_correlations(b.trace, {});
  CHECK(b.trace.kernels.launch[0] == outer);
}

TEST_CASE("a reused id belongs to the last call that started before the work") {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  const RowIndex first = b.call("launch", thread, 100, 110, 5);
  const RowIndex second = b.call("launch", thread, 500, 510, 5);
  b.kernel("early", stream, 50, 60, 5);
  b.kernel("between", stream, 499, 600, 5);
  b.kernel("at the start", stream, 500, 600, 5);
  b.kernel("late", stream, 900, 950, 5);
  b.kernel("other id", stream, 900, 950, 6);
  b.kernel("no id", stream, 900, 950);
  b.trace.kernels.launch[5] = first;
  resolve_correlations(b.trace, {});
  CHECK(b.trace.kernels.launch ==
        std::vector<RowIndex>{first, first, second, second, kNoRow, first});
}

TEST_CASE("ids of two processes do not meet") {
  TraceBuilder b;
  b.trace.processes.push_back({});
  b.trace.contexts.push_back({1, 0, 1});
  const RowIndex mine = b.thread(1, 0), theirs = b.thread(1, 1);
  const RowIndex my_stream = b.stream(7, 0), their_stream = b.stream(7, 1);
  const RowIndex my_call = b.call("launch", mine, 100, 110, 5);
  const RowIndex their_call = b.call("launch", theirs, 105, 115, 5);
  b.kernel("mine", my_stream, 200, 210, 5);
  b.kernel("theirs", their_stream, 200, 210, 5);
  resolve_correlations(b.trace, {});
  CHECK(b.trace.kernels.launch == std::vector<RowIndex>{my_call, their_call});
}

TEST_CASE("a synchronisation finds its call and the record it waited for") {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  const RowIndex old_record = b.call("cudaEventRecord", thread, 10, 20, 3);
  const RowIndex record = b.call("cudaEventRecord", thread, 100, 110, 3);
  const RowIndex call = b.call("cudaEventSynchronize", thread, 200, 300, 4);
  b.call("cudaEventRecord", thread, 400, 410, 3);
  b.sync(stream, 205, 295, 4);
  b.sync(kNoRow, 50, 60, kUnknown);
  resolve_correlations(b.trace, {3, 3});
  CHECK(b.trace.syncs.call == std::vector<RowIndex>{call, kNoRow});
  CHECK(b.trace.syncs.event_record == std::vector<RowIndex>{record, old_record});
}

TEST_CASE("random traces with reused, nested and missing ids resolve by definition") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return static_cast<int>(random() % unsigned(below)); };
    TraceBuilder b;
    b.trace.processes.push_back({});
    b.trace.contexts.push_back({1, 0, 1});
    const RowIndex threads[] = {b.thread(1, 0), b.thread(2, 0), b.thread(1, 1)};
    const RowIndex streams[] = {b.stream(7, 0), b.stream(7, 1)};
    // Distinct starts, so that the definition names one call.
    std::vector<int> starts(60);
    for (int i = 0; i < 60; ++i) starts[std::size_t(i)] = 3 * i;
    std::shuffle(starts.begin(), starts.end(), random);
    for (const int start : starts) b.call("c", threads[draw(3)], start, start + draw(30), draw(8));
    for (int i = 0; i < 60; ++i) b.kernel("k", streams[draw(2)], draw(200), 300, draw(10));
    resolve_correlations(b.trace, {});
    for (RowIndex kernel = 0; kernel < b.trace.kernels.size(); ++kernel) {
      INFO("seed " << seed << " kernel " << kernel);
      REQUIRE(b.trace.kernels.launch[kernel] == launch_by_definition(b.trace, kernel));
    }
  }
}

TEST_CASE("one id for everything does not make resolving quadratic") {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  constexpr int kEvents = 200'000;
  for (int i = 0; i < kEvents; ++i) b.call("c", thread, 10 * i, 10 * i + 5, 1);
  for (int i = 0; i < kEvents; ++i) b.kernel("k", stream, 10 * i + 7, 10 * i + 9, 1);
  const auto begin = std::chrono::steady_clock::now();
  resolve_correlations(b.trace, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(b.trace.kernels.launch[kEvents - 1] == kEvents - 1);
  CHECK(took.count() < 10);
}
