// Ops of work that graphs replay. Times in nanoseconds.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "libanalysis/hierarchy/op_paths.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using profile::RangeKind;

namespace {

using PathOfKernel = std::map<std::string, std::string>;

PathOfKernel paths_of(const profile::Trace& trace) {
  const analysis::DependencyGraph graph(trace);
  const analysis::RangeTree tree(trace);
  const analysis::OpPaths paths(graph, tree);
  PathOfKernel found;
  for (analysis::ActivityIndex i = 0; i < graph.work.size(); ++i) {
    const std::uint32_t path = paths.of(i);
    found[std::string(graph.work.name(trace, i))] =
        path == analysis::OpPaths::kNone ? "" : paths.text(path);
  }
  return found;
}

/// Captures two layers with an op each and a kernel between them, inside `around` (from 0 to 100).
test::TraceBuilder two_layers(const std::vector<std::string>& around) {
  test::TraceBuilder t;
  std::int64_t edge = 0;
  for (const std::string& name : around) {
    t.range(RangeKind::push_pop, name, 1, edge, 100 - edge);
    ++edge;
  }
  t.range(RangeKind::push_pop, "layer 0", 1, 10, 30);
  t.range(RangeKind::push_pop, "attention", 1, 12, 20);
  t.range(RangeKind::push_pop, "layer 1", 1, 40, 60);
  t.captured(3, 1, "attention");
  t.captured(3, 2, "layer 1");
  t.captured(3, 3, around.empty() ? "nowhere" : around.back());
  return t;
}

/// Replays them at `start`, inside `around`.
void replay(test::TraceBuilder& t, const std::vector<std::string>& around, std::int64_t start,
            std::int64_t correlation) {
  std::int64_t edge = 0;
  for (const std::string& name : around) {
    t.range(RangeKind::push_pop, name, 1, start + edge, start + 100 - edge);
    ++edge;
  }
  t.call("cudaGraphLaunch", 1, start + 10, start + 20, correlation);
  t.replayed("attention kernel", 3, 1, 7, start + 30, start + 40, correlation);
  t.replayed("layer kernel", 3, 2, 7, start + 40, start + 50, correlation);
  t.replayed("between", 3, 3, 7, start + 50, start + 60, correlation);
  t.replayed("unknown", 3, 4, 7, start + 60, start + 70, correlation);
}

}  // namespace

TEST_CASE("captured in the range that also replays: the path of the capture") {
  test::TraceBuilder t = two_layers({"decode"});
  replay(t, {"decode"}, 1000, 1);
  CHECK(paths_of(t.build()) == PathOfKernel{{"attention kernel", "decode/layer 0/attention"},
                                            {"layer kernel", "decode/layer 1"},
                                            {"between", "decode"},
                                            {"unknown", "decode"}});
}

TEST_CASE("captured deeper than it is replayed: the path of the capture") {
  test::TraceBuilder t = two_layers({"decode", "forward"});
  replay(t, {"decode"}, 1000, 1);
  CHECK(paths_of(t.build())["attention kernel"] == "decode/forward/layer 0/attention");
}

TEST_CASE("captured elsewhere: what is inside the graph, below the range that replays") {
  test::TraceBuilder t = two_layers({"warm-up", "capture"});
  replay(t, {"generate", "decode"}, 1000, 1);
  CHECK(paths_of(t.build()) ==
        PathOfKernel{{"attention kernel", "generate/decode/layer 0/attention"},
                     {"layer kernel", "generate/decode/layer 1"},
                     {"between", "generate/decode"},
                     {"unknown", "generate/decode"}});
}

TEST_CASE("replayed outside any range: the path of the capture") {
  test::TraceBuilder t = two_layers({"capture"});
  replay(t, {}, 1000, 1);
  CHECK(paths_of(t.build()) == PathOfKernel{{"attention kernel", "capture/layer 0/attention"},
                                            {"layer kernel", "capture/layer 1"},
                                            {"between", "capture"},
                                            {"unknown", ""}});
}

TEST_CASE("captured outside any range but the layers': those, below the range that replays") {
  test::TraceBuilder t = two_layers({});
  replay(t, {"decode"}, 1000, 1);
  CHECK(paths_of(t.build()) == PathOfKernel{{"attention kernel", "decode/layer 0/attention"},
                                            {"layer kernel", "decode/layer 1"},
                                            {"between", "decode"},
                                            {"unknown", "decode"}});
}

TEST_CASE("a graph captured within one range keeps its name") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "capture", 1, 0, 100);
  t.range(RangeKind::push_pop, "mlp", 1, 10, 90);
  t.captured(3, 1, "mlp");
  t.captured(3, 2, "mlp");
  t.range(RangeKind::push_pop, "decode", 1, 1000, 1100);
  t.call("cudaGraphLaunch", 1, 1010, 1020, 1);
  t.replayed("k", 3, 1, 7, 1030, 1040, 1);
  CHECK(paths_of(t.build())["k"] == "decode/mlp");
}

TEST_CASE("two graphs of one process do not mix") {
  test::TraceBuilder t = two_layers({"capture"});
  t.range(RangeKind::push_pop, "other capture", 1, 200, 300);
  t.range(RangeKind::push_pop, "mlp", 1, 210, 220);
  t.captured(4, 9, "mlp");
  replay(t, {"decode"}, 1000, 1);
  t.replayed("of the other", 4, 9, 7, 1080, 1090, 1);
  const PathOfKernel paths = paths_of(t.build());
  CHECK(paths.at("layer kernel") == "decode/layer 1");
  CHECK(paths.at("of the other") == "decode/mlp");
}

TEST_CASE("work without a range has the functions of its call stack, and says so") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "step", 1, 0, 100);
  t.call("cudaLaunchKernel", 1, 10, 20, 1);
  t.kernel("in a range", 0, 7, 20, 30, 1);
  t.call("cudaLaunchKernel", 1, 110, 120, 2);
  t.kernel("by its call", 0, 7, 120, 130, 2);
  t.call("cudaGraphLaunch", 1, 210, 220, 3);
  t.replayed("by its capture", 4, 9, 7, 220, 230, 3);
  t.call("cudaLaunchKernel", 1, 310, 320, 4);
  t.kernel("without", 0, 7, 320, 330, 4);
  profile::Trace trace = t.build();
  const auto frame = [&](profile::RowIndex parent, const char* function) {
    trace.stack_frames.push_back({parent, trace.intern(function), trace.intern("/program"), -1});
    return static_cast<profile::RowIndex>(trace.stack_frames.size() - 1);
  };
  const profile::RowIndex decode = frame(profile::kNoRow, "app::decode()");
  const profile::RowIndex layer = frame(decode, "app::layer(int)");
  const profile::RowIndex replay = frame(decode, "app::replay()");
  const auto stack = [&](profile::RowIndex call, profile::RowIndex node, profile::RowIndex of) {
    trace.call_stacks.call.push_back(call);
    trace.call_stacks.graph_node.push_back(node);
    trace.call_stacks.frame.push_back(of);
  };
  stack(0, profile::kNoRow, decode);
  stack(1, profile::kNoRow, decode);
  stack(2, profile::kNoRow, replay);
  stack(profile::kNoRow, 0, layer);
  CHECK(paths_of(trace) == PathOfKernel{{"in a range", "step"},
                                        {"by its call", "app::decode"},
                                        {"by its capture", "app::decode/app::layer"},
                                        {"without", ""}});
  const analysis::Report report = test::analyze_all(trace);
  std::map<std::string, const analysis::OpStatistics*> ops;
  for (const analysis::OpStatistics& op : report.ops) ops[op.path] = &op;
  REQUIRE(ops.size() == 3);
  CHECK(ops["step"]->source == analysis::OpSource::range);
  CHECK(ops["step"]->host_ns == 100);
  CHECK(ops["app::decode"]->source == analysis::OpSource::call_stack);
  CHECK(ops["app::decode"]->host_ns == profile::kUnknown);
  CHECK(ops["app::decode"]->count == 2);
  CHECK(ops["app::decode"]->device_ns == 20);
}

TEST_CASE("without ranges and call stacks the ops are kernel families") {
  test::TraceBuilder t;
  for (int i = 0; i < 3; ++i) {
    t.call("cudaLaunchKernel", 1, 100 * i, 100 * i + 10, i + 1);
    t.kernel(i == 2 ? "rms_norm" : "sgemm_128x128", 0, 7, 100 * i + 20, 100 * i + 50, i + 1);
  }
  const analysis::Report report = test::analyze_all(t.build());
  REQUIRE(report.ops.size() == 2);
  CHECK(report.ops[0].path == "GEMM, GEMV");
  CHECK(report.ops[0].count == 2);
  CHECK(report.ops[0].device_ns == 60);
  CHECK(report.ops[1].path == "normalisation");
  CHECK(report.ops[1].source == analysis::OpSource::kernel_family);
}

TEST_CASE("the report's ops with a graph are those without") {
  test::TraceBuilder with_graph = two_layers({"capture"});
  for (int step = 0; step < 3; ++step) replay(with_graph, {"decode"}, 1000 + 200 * step, 10 + step);
  const analysis::Report report = test::analyze_all(with_graph.build());
  std::map<std::string, const analysis::OpStatistics*> ops;
  for (const analysis::OpStatistics& op : report.ops) ops[op.path] = &op;
  REQUIRE(ops.count("decode/layer 0/attention") == 1);
  CHECK(ops["decode/layer 0/attention"]->count == 3);  // once a launch
  CHECK(ops["decode/layer 0/attention"]->kernels == 3);
  CHECK(ops["decode/layer 0/attention"]->device_ns == 30);
  CHECK(ops["decode/layer 0/attention"]->host_ns == 0);
  CHECK(ops["decode/layer 0"]->count == 3);
  CHECK(ops["decode/layer 0"]->device_ns == 30);
  CHECK(ops["decode"]->count == 3);
  CHECK(ops["decode"]->kernels == 12);
  CHECK(ops["decode"]->device_ns == 120);
  CHECK(ops["decode"]->host_ns == 300);
  CHECK(ops["capture/layer 0"]->kernels == 0);
}
