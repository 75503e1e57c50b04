#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "test/libprofile/trace/difference.hpp"
#include "test/libprofile/trace/trace_builder.hpp"

using namespace gprofml::profile;
using gprofml::test::TraceBuilder;

namespace {

// The same content told in the order of `random`: rows of every table are made in another order, so
// that all row numbers and string ids differ before canonicalising.
Trace shuffled_trace(std::mt19937& random) {
  TraceBuilder b;
  b.trace.contexts.clear();
  const auto order = [&](int size) {
    std::vector<int> rows(std::size_t(size), 0);
    std::iota(rows.begin(), rows.end(), 0);
    std::shuffle(rows.begin(), rows.end(), random);
    return rows;
  };
  std::map<int, RowIndex> context, stream, thread, config, node, call, range;
  for (const int i : order(2)) {
    context[i] = static_cast<RowIndex>(b.trace.contexts.size());
    b.trace.contexts.push_back({0, 0, i});
  }
  for (const int i : order(6)) stream[i] = b.stream(i / 2, context[i % 2]);
  for (const int i : order(3)) thread[i] = b.thread(100 - i);
  for (const int i : order(3)) {
    config[i] = static_cast<RowIndex>(b.trace.launch_configs.size());
    LaunchConfig launch;
    launch.registers_per_thread = i;
    b.trace.launch_configs.push_back(launch);
    node[i] = static_cast<RowIndex>(b.trace.graph_nodes.size());
    b.trace.graph_nodes.push_back({0, 1, 10 * i});
  }
  for (const int i : order(40))
    call[i] = b.call("call" + std::to_string(i % 5), thread[i % 3], 10 * i, 10 * i + 7, i);
  for (const int i : order(30))
    range[i] = b.range("op" + std::to_string(i), thread[i % 3], 5 * (i / 2), 400 - i);
  for (const int i : order(50)) {
    const RowIndex row = b.kernel("k" + std::to_string(i % 7), stream[i % 6], 8 * (i / 3), 500, i);
    b.trace.kernels.launch[row] = i < 40 ? call[i] : kNoRow;
    b.trace.kernels.op[row] = range[i % 30];
    b.trace.kernels.launch_config[row] = config[i % 3];
    b.trace.kernels.graph_node[row] = i % 4 == 3 ? kNoRow : node[i % 4];
    if (i % 5 == 0) {
      CollectiveColumns& c = b.trace.collectives;
      c.kernel.push_back(row);
      c.communicator.push_back(b.trace.intern("group"));
      c.operation.push_back(b.trace.intern("allreduce" + std::to_string(i)));
      c.dtype.push_back(0);
      c.elements_in.push_back(i);
      c.elements_out.push_back(i);
      c.bytes.push_back(4 * i);
      c.range.push_back(range[i % 30]);
      c.group_size.push_back(2);
      c.ranks.push_back(0);
    }
  }
  for (const int i : order(10)) {
    const RowIndex row = b.sync(stream[i % 6], 20 * i, 20 * i + 1, i);
    b.trace.syncs.call[row] = call[i];
    b.trace.syncs.event_record[row] = call[i + 1];
  }
  for (const int i : order(4))
    b.trace.quality.push_back({0, b.trace.intern("code" + std::to_string(i)), i, 0});
  b.trace.intern("never used " + std::to_string(random()));
  return std::move(b.trace);
}

}  // namespace

TEST_CASE("the canonical trace does not depend on the order things were told in") {
  std::mt19937 random(1);
  Trace reference = shuffled_trace(random);
  canonicalise(reference);
  REQUIRE(first_inconsistency(reference) == std::nullopt);
  for (int round = 0; round < 50; ++round) {
    Trace other = shuffled_trace(random);
    canonicalise(other);
    REQUIRE(gprofml::test::first_difference(reference, other, gprofml::test::Sequence::ignore) ==
            "");
  }
}

TEST_CASE("canonicalising twice changes nothing") {
  std::mt19937 random(2);
  Trace once = shuffled_trace(random);
  canonicalise(once);
  Trace twice = once;
  canonicalise(twice);
  CHECK(gprofml::test::first_difference(once, twice) == "");
}

TEST_CASE("references still point at the same things") {
  std::mt19937 random(3);
  Trace trace = shuffled_trace(random);
  canonicalise(trace);
  const KernelColumns& kernels = trace.kernels;
  for (RowIndex row = 0; row < kernels.size(); ++row) {
    // By construction every reference of kernel i follows from i, its correlation id.
    const std::int64_t i = kernels.correlation[row];
    CHECK(trace.text(kernels.name[row]) == "k" + std::to_string(i % 7));
    CHECK(trace.streams[kernels.stream[row]].id == i % 6 / 2);
    CHECK(trace.contexts[trace.streams[kernels.stream[row]].context].id == i % 2);
    CHECK(trace.launch_configs[kernels.launch_config[row]].registers_per_thread == i % 3);
    CHECK(trace.text(trace.ranges.name[kernels.op[row]]) == "op" + std::to_string(i % 30));
    if (i < 40)
      CHECK(trace.api_calls.correlation[kernels.launch[row]] == i);
    else
      CHECK(kernels.launch[row] == kNoRow);
    if (i % 4 == 3)
      CHECK(kernels.graph_node[row] == kNoRow);
    else
      CHECK(trace.graph_nodes[kernels.graph_node[row]].node_id == 10 * (i % 4));
  }
  for (RowIndex row = 0; row < trace.collectives.size(); ++row)
    CHECK(kernels.correlation[trace.collectives.kernel[row]] == trace.collectives.elements_in[row]);
  for (RowIndex row = 0; row < trace.syncs.size(); ++row) {
    CHECK(trace.api_calls.correlation[trace.syncs.call[row]] == trace.syncs.correlation[row]);
    CHECK(trace.api_calls.correlation[trace.syncs.event_record[row]] ==
          trace.syncs.correlation[row] + 1);
  }
}

TEST_CASE("activities go by start, end, stream; ranges put the outer one first") {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), high = b.stream(9), low = b.stream(7);
  b.kernel("d", high, 10, 20);
  b.kernel("b", low, 10, 20);
  b.kernel("a", high, 10, 15);
  b.kernel("e", low, 5, 50);
  b.range("inner", thread, 5, 20);
  b.range("outer", thread, 5, 90);
  canonicalise(b.trace);
  std::string kernels, ranges;
  for (const StringId name : b.trace.kernels.name) kernels += b.trace.text(name);
  for (const StringId name : b.trace.ranges.name) ranges += std::string(b.trace.text(name)) + " ";
  CHECK(kernels == "eabd");
  CHECK(ranges == "outer inner ");
}

TEST_CASE("equal launch configurations and unused strings do not survive") {
  TraceBuilder b;
  const RowIndex stream = b.stream(7);
  b.trace.launch_configs.resize(3);
  b.trace.launch_configs[1].registers_per_thread = 8;
  for (RowIndex config = 0; config < 3; ++config)
    b.trace.kernels.launch_config[b.kernel("k", stream, config, config)] = config;
  b.trace.intern("unused");
  canonicalise(b.trace);
  CHECK(b.trace.launch_configs.size() == 2);
  CHECK(b.trace.kernels.launch_config[0] == b.trace.kernels.launch_config[2]);
  CHECK(b.trace.kernels.launch_config[0] != b.trace.kernels.launch_config[1]);
  CHECK(b.trace.strings.size() == 2);
}
