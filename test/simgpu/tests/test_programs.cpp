// Whole programs under the command simgpu, their times against arithmetic by hand.
//
// The model of these tests: every call costs 100 ns of its own, half before what it does and half
// after; 1000 ns pass before each outermost call; work starts 2000 ns after its submission at the
// earliest; cuInit 1000 ns, a context 5000 ns; short_kernel 300 ns, long_kernel 10000 ns.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kEpoch = 1'764'547'200'000'000'000;
/// When the first call ends that creates a stream: gap, six calls, cuInit and context. (cuInit,
/// cuDevicePrimaryCtxRetain, cuCtxSetCurrent, cuLibraryLoadData, cuStreamCreate and the call
/// itself.)
constexpr std::int64_t kUp = kEpoch + 1000 + 6 * 100 + 1000 + 5000;
/// From one launch's entry to the next one's; a launch is a call in a call.
constexpr std::int64_t kCall = 1200;
/// From a call's entry gap to the moment at which its driver call acts.
constexpr std::int64_t kActs = 1000 + 50 + 50;

constexpr const char* kModel = R"({
  "host_gap_ns": 1000, "initialise_ns": 1000, "context_create_ns": 5000,
  "first_launch_ns": 0, "launch_latency_ns": 2000, "graph_node_gap_ns": 600, "host_function_ns": 5000,
  "kernels": [{"pattern": "short", "fixed_ns": 300}, {"pattern": "long", "fixed_ns": 10000}],
  "copies": {"peer": {"latency_ns": 7, "bytes_per_us": 1000},
             "pageable_to_device": {"latency_ns": 11, "bytes_per_us": 2000},
             "device_to_pinned": {"latency_ns": 13, "bytes_per_us": 4000},
             "pinned_to_device": {"latency_ns": 19, "bytes_per_us": 8000}},
  "fill": {"latency_ns": 17, "bytes_per_us": 1000}
})";

struct Outcome {
  int status = 0;
  std::string text;
};

Outcome shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.text.append(buffer.data(), got);
  }
  outcome.status = pclose(pipe);
  return outcome;
}

/// A folder for one test, gone with it.
class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/simgpu_test_XXXXXX";
    path_ = mkdtemp(pattern.data());
    Json model = Json::parse(kModel);
    // A file is merged into the built-in model: what that names must be said here too.
    const Json built_in = Json::parse(shell(std::string(SIMGPU_COMMAND) + " --print-model").text);
    for (const auto& call : built_in["calls"].items()) {
      model["calls"][call.key()] = 100;
    }
    std::ofstream(path_ + "/model.json") << model.dump();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::system(("rm -rf " + path_).c_str()); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Json> lines(const std::string& path) {
  std::vector<Json> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    result.push_back(Json::parse(line));
  }
  return result;
}

std::vector<Json> of_type(const std::vector<Json>& all, const std::string& type) {
  std::vector<Json> result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result),
               [&type](const Json& line) { return line["type"] == type; });
  return result;
}

std::string under_simgpu(const Folder& folder, const std::string& program,
                         const std::string& options = "") {
  return std::string(SIMGPU_COMMAND) + " --model " + (folder / "model.json") + " --log " +
         (folder / "log") + " " + options + " -- " + SIMGPU_PROGRAMS + " " + program;
}

/// Runs a program that must succeed and returns its log.
std::vector<Json> run(const Folder& folder, const std::string& program) {
  const Outcome outcome = shell(under_simgpu(folder, program));
  INFO(outcome.text);
  REQUIRE(outcome.status == 0);
  return lines(folder / "log");
}

/// Makes one fault part of the folder's model.
void set_fault(const Folder& folder, const char* name, const std::string& value) {
  Json model = Json::parse(std::ifstream(folder / "model.json"));
  model["faults"][name] = value;
  std::ofstream(folder / "model.json") << model;
}

std::int64_t start_of(const Json& line) {
  return line["start"].get<std::int64_t>();
}
std::int64_t end_of(const Json& line) {
  return line["end"].get<std::int64_t>();
}

}  // namespace

TEST_CASE("kernels of one stream follow each other, a synchronisation ends with the last") {
  const Folder folder;
  const auto log = run(folder, "chain");
  const auto kernels = of_type(log, "kernel");
  REQUIRE(kernels.size() == 3);
  const std::int64_t first = kUp + kActs + 2000;
  for (int i = 0; i < 3; ++i) {
    CHECK(start_of(kernels[static_cast<std::size_t>(i)]) == first + i * 10000);
    CHECK(end_of(kernels[static_cast<std::size_t>(i)]) == first + (i + 1) * 10000);
  }
  const auto syncs = of_type(log, "sync");
  REQUIRE(syncs.size() == 1);
  CHECK(start_of(syncs[0]) == kUp + 3 * kCall + kActs);
  CHECK(end_of(syncs[0]) == first + 30000);
  const auto calls = of_type(log, "call");
  const Json& last = calls.back();
  CHECK(last["name"] == "cudaStreamSynchronize_v3020");
  CHECK(end_of(last) == first + 30000 + 100);
  const Json& nested = calls[calls.size() - 2];
  CHECK(nested["name"] == "cuStreamSynchronize");
  CHECK(nested["level"] == 1);
  CHECK(nested["correlation"] == last["correlation"]);
  CHECK(calls[0]["name"] == "cuInit");
  CHECK(last["correlation"] == 5);
}

TEST_CASE("a stream that waits for an event starts when the event's work has ended") {
  const Folder folder;
  const auto log = run(folder, "two_streams");
  const auto kernels = of_type(log, "kernel");
  const auto records = of_type(log, "event_record");
  REQUIRE(kernels.size() == 3);
  REQUIRE(records.size() == 1);
  // Streams are calls 1 and 2, the event is call 3.
  const std::int64_t first = kUp + 2 * kCall + kActs + 2000;
  CHECK(start_of(kernels[0]) == first);
  CHECK(records[0]["time"] == first + 10000);
  CHECK(start_of(kernels[1]) == first + 10000);
  CHECK(start_of(kernels[2]) == first + 10000);
  CHECK(end_of(kernels[2]) == first + 10300);
  CHECK(kernels[2]["stream"] != kernels[1]["stream"]);
}

TEST_CASE("the NULL stream and blocking streams wait for each other, others do not") {
  const Folder folder;
  const auto kernels = of_type(run(folder, "null_stream"), "kernel");
  REQUIRE(kernels.size() == 4);
  const std::int64_t first = kUp + kCall + kActs + 2000;
  CHECK(start_of(kernels[0]) == first);
  CHECK(start_of(kernels[1]) == first + 10000);
  CHECK(start_of(kernels[2]) == first + 2 * kCall);
  CHECK(start_of(kernels[3]) == first + 10300);
}

TEST_CASE("a captured diamond replays by its dependencies, with ids that lead back to its nodes") {
  const Folder folder;
  const auto log = run(folder, "diamond");
  const auto kernels = of_type(log, "kernel");
  REQUIRE(kernels.size() == 8);
  // In the order of the capture: top, right (long), left (short), bottom.
  const std::int64_t top = start_of(kernels[0]);
  CHECK(start_of(kernels[1]) == top + 300 + 600);
  CHECK(start_of(kernels[2]) == top + 300 + 600);
  CHECK(start_of(kernels[3]) == top + 300 + 600 + 10000 + 600);
  CHECK(start_of(kernels[4]) == top + 300 + 600 + 10000 + 600 + 300);
  CHECK(kernels[1]["stream"] != kernels[2]["stream"]);
  CHECK(kernels[0]["stream"] == kernels[3]["stream"]);
  CHECK(kernels[0]["node"] == kernels[4]["node"]);
  CHECK(kernels[0]["correlation"] != kernels[4]["correlation"]);
  std::map<std::int64_t, Json> nodes;
  for (const Json& node : of_type(log, "node")) {
    nodes[node["node"].get<std::int64_t>()] = node;
  }
  REQUIRE(nodes.size() == 8);
  for (const Json& kernel : kernels) {
    const Json& clone = nodes.at(kernel["node"].get<std::int64_t>());
    CHECK(clone["graph"] == kernel["graph"]);
    const Json& original = nodes.at(clone["original"].get<std::int64_t>());
    CHECK(original["what"] == "created");
    CHECK(original["name"] == kernel["name"]);
    CHECK(original["dependencies"].size() == clone["dependencies"].size());
  }
}

TEST_CASE("copies move bytes and take what their kind costs") {
  const Folder folder;
  const auto copies = of_type(run(folder, "copies"), "copy");
  REQUIRE(copies.size() >= 3);
  const auto check = [](const Json& copy, const std::string& kind, std::int64_t duration) {
    CHECK(copy["kind"] == kind);
    CHECK(copy["bytes"] == 1 << 20);
    CHECK(end_of(copy) - start_of(copy) == duration);
  };
  check(copies[0], "host_to_device", 11 + (1 << 20) / 2);
  check(copies[1], "peer_to_peer", 13 + (1 << 20) / 4 + 19 + (1 << 20) / 8);  // no peer access
  check(copies[2], "device_to_host", 13 + (1 << 20) / 4);
  CHECK(copies[1]["source_device"] == 0);
  CHECK(copies[1]["target_device"] == 1);
  CHECK(copies[2]["device"] == 1);
}

TEST_CASE("a copy to another device goes through the host until access to it is enabled") {
  const Folder folder;
  const auto copies = of_type(run(folder, "peers"), "copy");
  REQUIRE(copies.size() == 3);
  for (const Json& copy : copies) {
    CHECK(copy["kind"] == "peer_to_peer");
  }
  CHECK(end_of(copies[0]) - start_of(copies[0]) == 13 + (1 << 20) / 4 + 19 + (1 << 20) / 8);
  CHECK(end_of(copies[1]) - start_of(copies[1]) == 7 + (1 << 20));
  CHECK(copies[2]["bytes"] == 12);
}

TEST_CASE("a batch of copies is as many copies of one call, in its stream") {
  const Folder folder;
  const auto copies = of_type(run(folder, "batch_of_copies"), "copy");
  REQUIRE(copies.size() == 3);
  CHECK(copies[0]["bytes"] == 4);
  CHECK(copies[1]["bytes"] == 3);
  CHECK(copies[0]["correlation"] == copies[1]["correlation"]);
  CHECK(start_of(copies[1]) >= end_of(copies[0]));
}

TEST_CASE("an updated executable graph answers to the nodes it was instantiated from") {
  const Folder folder;
  const auto kernels = of_type(run(folder, "graph_updates"), "kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0]["grid"] == Json({5, 1, 1}));
}

TEST_CASE("nodes of every kind by one call: each runs behind its dependencies") {
  const Folder folder;
  const auto log = run(folder, "graph_of_any_nodes");
  const auto kernels = of_type(log, "kernel");
  const auto fills = of_type(log, "fill");
  const auto copies = of_type(log, "copy");
  const auto functions = of_type(log, "host_function");
  REQUIRE(kernels.size() == 2);
  REQUIRE(fills.size() == 1);
  REQUIRE(copies.size() == 1);
  REQUIRE(functions.size() == 1);
  CHECK(of_type(log, "event_record").size() == 1);
  CHECK(kernels[0]["grid"] == Json({7, 1, 1}));
  CHECK(start_of(kernels[0]) == std::max(end_of(fills[0]), end_of(copies[0])) + 600);
  CHECK(start_of(kernels[1]) == end_of(kernels[0]) + 600);
  CHECK(start_of(functions[0]) >= end_of(kernels[1]) + 600);
}

TEST_CASE("how many clusters fit, and how large one may be") {
  run(Folder(), "clusters");
}

TEST_CASE("kernels of a library that the program loads") {
  const Folder folder;
  const auto kernels = of_type(run(folder, "libraries"), "kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0]["name"] == "long_kernel_of_a_library");
  CHECK(end_of(kernels[0]) - start_of(kernels[0]) == 10000);
}

TEST_CASE("the first launch costs each thread that cannot know of another's") {
  const Folder folder;
  Json model = Json::parse(std::ifstream(folder / "model.json"));
  model["first_launch_ns"] = 7000;
  std::ofstream(folder / "model.json") << model;
  std::map<std::int64_t, std::vector<std::int64_t>> durations;  // by thread
  for (const Json& call : of_type(run(folder, "first_launches"), "call")) {
    if (call["name"] == "cuLaunchKernel") {
      durations[call["thread"].get<std::int64_t>()].push_back(end_of(call) - start_of(call));
    }
  }
  REQUIRE(durations.size() == 5);
  CHECK(durations[1] == std::vector<std::int64_t>{100});
  for (std::int64_t thread = 2; thread <= 5; ++thread) {
    CHECK(durations[thread] == std::vector<std::int64_t>{7100, 100});
  }
}

TEST_CASE("the log has whole lines when a thread calls exit() while others work") {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Folder folder;
    CHECK(WEXITSTATUS(shell(under_simgpu(folder, "exit_amid_work")).status) == 6);
    CHECK(of_type(lines(folder / "log"), "kernel").size() > 40);
    CHECK(read(folder / "log").back() == '\n');
  }
}

TEST_CASE("the log has whole lines when threads call exit() at once") {
  // The log is a FIFO that nobody reads at first, so that the first thread stays in its write. The
  // command becomes the program: the shell's process id is the program's. glibc's own exit() is not
  // made for several threads at once (before 2.41) and now and then dies of it: then once more.
  Outcome outcome;
  std::map<std::int64_t, int> kernels;  // by thread
  for (int attempt = 0; attempt < 5 && WEXITSTATUS(outcome.status) != 5; ++attempt) {
    const Folder folder;
    const std::string log = folder / "log";
    outcome = shell("touch " + log + "; mkfifo " + log + ".$$; (sleep 0.3; timeout 20 cat " + log +
                    ".$$ > " + log + ".whole) & exec " + under_simgpu(folder, "exits_of_many"));
    const bool crashed = WIFSIGNALED(outcome.status);
    if (crashed) continue;
    for (const Json& kernel : of_type(lines(log + ".whole"), "kernel")) {
      ++kernels[kernel["thread"].get<std::int64_t>()];
    }
  }
  INFO(outcome.text);
  CHECK(WEXITSTATUS(outcome.status) == 5);
  CHECK(std::count_if(kernels.begin(), kernels.end(),
                      [](const auto& thread) { return thread.second >= 200; }) >= 1);
}

TEST_CASE("stream-ordered memory") {
  const Folder folder;
  const auto fills = of_type(run(folder, "async_memory"), "fill");
  REQUIRE(fills.size() == 1);
  CHECK(end_of(fills[0]) - start_of(fills[0]) == 17 + 1000);
}

TEST_CASE("allocations and pools are logged with their calls") {
  const Folder folder;
  const auto log = run(folder, "memory_of_all_kinds");
  const auto memory = of_type(log, "memory");
  struct Expected {
    const char* kind;
    std::int64_t bytes;
    bool async;
  };
  const std::vector<Expected> expected{{"device", 1000, false},
                                       {"pinned", 3000, false},
                                       {"device", 5000, true},
                                       {"device", 7000, true}};
  REQUIRE(memory.size() == 2 * expected.size());
  std::map<std::int64_t, std::int64_t> call_ends;
  for (const Json& call : of_type(log, "call")) {
    call_ends[call["correlation"].get<std::int64_t>()] = end_of(call);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Json& made = memory[2 * i];
    const Json& gone = memory[2 * i + 1];
    CHECK(made["what"] == "allocated");
    CHECK(gone["what"] == "released");
    CHECK(made["address"] == gone["address"]);
    CHECK(made["correlation"] != gone["correlation"]);
    CHECK((made["pool"] != 0) == expected[i].async);
    CHECK((made["stream"] != 0xffffffff) == expected[i].async);
    for (const Json& line : {made, gone}) {
      CHECK(line["memory"] == expected[i].kind);
      CHECK(line["bytes"] == expected[i].bytes);
      CHECK(line["async"] == expected[i].async);
      CHECK(line["time"] < call_ends.at(line["correlation"].get<std::int64_t>()));
    }
  }
  const auto pools = of_type(log, "pool");
  REQUIRE(pools.size() == 3);
  CHECK(pools[0]["what"] == "created");
  CHECK(pools[1]["what"] == "trimmed");
  CHECK(pools[2]["what"] == "destroyed");
  CHECK(pools[1]["keep"] == 512);
  CHECK(pools[1]["size"] == 512);
  CHECK(memory[6]["pool"] == pools[0]["pool"]);
  CHECK(memory[6]["pool_used"] == 7168);
  CHECK(memory[7]["pool_used"] == 0);
  CHECK(memory[7]["pool_size"] == 7168);  // below the release threshold: kept
  CHECK(memory[4]["pool"] != pools[0]["pool"]);
  CHECK(memory[5]["pool_size"] == 0);
}

TEST_CASE("managed memory moves to the first kernel, and back to the host once") {
  const Folder folder;
  const auto log = run(folder, "managed_memory");
  const auto moved = of_type(log, "migration");
  const auto kernels = of_type(log, "kernel");
  const auto syncs = of_type(log, "sync");
  REQUIRE(moved.size() == 5);
  REQUIRE(kernels.size() == 3);
  CHECK(moved[0]["cause"] == "prefetch");
  CHECK(moved[0]["bytes"] == 8192);
  CHECK(end_of(moved[0]) - start_of(moved[0]) == 19 + 8192 / 8);
  for (std::size_t i : {1U, 2U, 3U, 4U}) {
    CHECK(moved[i]["cause"] == "access");
    CHECK(moved[i]["direction"] == (i < 3 ? "host_to_device" : "device_to_host"));
    CHECK(moved[i]["bytes"] == (i % 2 == 1 ? 1 << 20 : 4096));
  }
  CHECK(start_of(moved[1]) == start_of(kernels[0]));
  CHECK(start_of(moved[2]) == end_of(moved[1]));
  CHECK(start_of(moved[3]) == end_of(syncs[0]));
  CHECK(end_of(moved[3]) - start_of(moved[3]) == 13 + (1 << 20) / 4);
}

TEST_CASE("a launch of a graph is logged as a whole too") {
  const Folder folder;
  const auto log = run(folder, "diamond");
  const auto launches = of_type(log, "graph_launch");
  const auto kernels = of_type(log, "kernel");
  REQUIRE(launches.size() == 2);
  for (std::size_t i : {0U, 1U}) {
    CHECK(start_of(launches[i]) == start_of(kernels[4 * i]));
    CHECK(end_of(launches[i]) == end_of(kernels[4 * i + 3]));
    CHECK(launches[i]["correlation"] == kernels[4 * i]["correlation"]);
    CHECK(launches[i]["graph"] == kernels[4 * i]["graph"]);
    CHECK(launches[i]["stream"] == kernels[4 * i]["stream"]);
    CHECK(launches[i]["node"] == 0);
  }
}

TEST_CASE("with a launch queue of limited length a submission waits for room") {
  const Folder folder;
  Json model = Json::parse(std::ifstream(folder / "model.json"));
  model["launch_queue_length"] = 2;
  std::ofstream(folder / "model.json") << model;
  const auto log = run(folder, "chain");
  const auto kernels = of_type(log, "kernel");
  const auto waits = of_type(log, "queue_full");
  REQUIRE(kernels.size() == 3);
  REQUIRE(waits.size() == 1);
  // The third launch finds two in the queue, and waits in its call until the first has ended.
  CHECK(waits[0]["correlation"] == kernels[2]["correlation"]);
  CHECK(end_of(waits[0]) == end_of(kernels[0]));
  CHECK(kernels[2]["submitted"] == end_of(kernels[0]));
  CHECK(start_of(kernels[2]) == end_of(kernels[1]));
}

TEST_CASE("with contention a kernel is slowed down by those that run when it starts") {
  const Folder folder;
  Json model = Json::parse(std::ifstream(folder / "model.json"));
  model["contention_permille"] = 500;
  std::ofstream(folder / "model.json") << model;
  const auto kernels = of_type(run(folder, "diamond"), "kernel");
  REQUIRE(kernels.size() == 8);
  const auto duration = [&](std::size_t i) { return end_of(kernels[i]) - start_of(kernels[i]); };
  CHECK(duration(0) == 300);
  CHECK(duration(1) == 10000);  // the first one of two that start at once
  CHECK(duration(2) == 300 + 150);
  CHECK(duration(3) == 300);
}

TEST_CASE("graphs are launched by runtime and driver, with and without per-thread streams") {
  const Folder folder;
  const auto log = run(folder, "graph_launches_of_all_kinds");
  std::vector<std::string> names;
  std::map<std::int64_t, std::string> outermost;
  for (const Json& call : of_type(log, "call")) {
    const auto name = call["name"].get<std::string>();
    if (call["level"] == 0 && name.find("GraphLaunch") != std::string::npos) {
      names.push_back(name);
      outermost[call["correlation"].get<std::int64_t>()] = name;
    }
  }
  CHECK(names == std::vector<std::string>{
                     "cudaGraphLaunch_v10000", "cudaGraphLaunch_v10000",
                     "cudaGraphLaunch_ptsz_v10000", "cudaGraphLaunch_ptsz_v10000", "cuGraphLaunch",
                     "cuGraphLaunch", "cuGraphLaunch_ptsz", "cuGraphLaunch_ptsz"});
  const auto launches = of_type(log, "graph_launch");
  REQUIRE(launches.size() == 8);
  // On the NULL stream, whose id is the context's plus 6, or on the thread's own.
  CHECK(launches[1]["stream"] == 7);
  CHECK(launches[5]["stream"] == 7);
  CHECK(launches[3]["stream"] != 7);
  CHECK(launches[3]["stream"] != launches[2]["stream"]);
  CHECK(launches[7]["stream"] == launches[3]["stream"]);
  CHECK(outermost.count(launches[7]["correlation"].get<std::int64_t>()) == 1);
}

TEST_CASE("bodies of conditional nodes run by the default value, a WHILE's as often as modelled") {
  const Folder folder;
  const auto log = run(folder, "conditional_graph");
  std::map<std::int64_t, Json> clones;
  int conditionals = 0;
  for (const Json& node : of_type(log, "node")) {
    if (node["what"] != "cloned") continue;
    clones[node["node"].get<std::int64_t>()] = node;
    conditionals += node["kind"] == "conditional" ? 1 : 0;
  }
  CHECK(conditionals == 6);
  const auto kernels = of_type(log, "kernel");
  // IF; three turns of the WHILE with two kernels each; the ELSE; the third case; no turn.
  REQUIRE(kernels.size() == 1 + 3 * 2 + 1 + 1);
  CHECK(kernels[7]["grid"] == Json({2, 1, 1}));
  CHECK(kernels[8]["grid"] == Json({3, 1, 1}));
  std::map<std::int64_t, int> by_node;
  for (const Json& kernel : kernels) {
    ++by_node[kernel["node"].get<std::int64_t>()];
    const Json& node = clones.at(kernel["node"].get<std::int64_t>());
    CHECK(node["graph"] == kernel["graph"]);
    // A body's first node stands behind its conditional node.
    const Json& conditional = clones.at(node["dependencies"][0].get<std::int64_t>());
    CHECK(conditional["kind"] == "conditional");
  }
  CHECK(by_node.size() == 5);
  CHECK(by_node.at(kernels[1]["node"].get<std::int64_t>()) == 3);
  // A body starts a gap after its node, which starts a gap after what it depends on.
  CHECK(start_of(kernels[7]) == std::max(end_of(kernels[5]), end_of(kernels[6])) + 2 * 600);
  CHECK(start_of(kernels[8]) == end_of(kernels[7]) + 2 * 600);
  for (std::size_t turn : {1U, 2U}) {
    const std::int64_t before = std::max(end_of(kernels[2 * turn - 1]), end_of(kernels[2 * turn]));
    const std::int64_t next =
        std::min(start_of(kernels[2 * turn + 1]), start_of(kernels[2 * turn + 2]));
    CHECK(next == before + 600);
  }
  const auto launches = of_type(log, "graph_launch");
  REQUIRE(launches.size() == 1);
  CHECK(end_of(launches[0]) == end_of(kernels[8]) + 600);  // the WHILE without a turn
}

TEST_CASE("a destroyed executable graph's handle comes again when the model says so") {
  const Folder folder;
  CHECK(shell(under_simgpu(folder, "graphs_in_turn")).text == "new new new ");
  const Folder other;
  set_fault(other, "reused_execs", "1");
  CHECK(shell(under_simgpu(other, "graphs_in_turn")).text == "new again again ");
  const auto log = lines(other / "log");
  const auto launches = of_type(log, "graph_launch");
  REQUIRE(launches.size() == 3);
  CHECK(launches[0]["graph"] != launches[1]["graph"]);
  CHECK(of_type(log, "kernel").size() == 6);
}

TEST_CASE("correlation ids begin where the model says and go on past 32 bits without 0") {
  const Folder folder;
  set_fault(folder, "first_correlation", "4294967293");
  std::vector<std::int64_t> ids;
  for (const Json& call : of_type(run(folder, "chain"), "call")) {
    if (call["level"] == 0) ids.push_back(call["correlation"].get<std::int64_t>());
  }
  CHECK(ids == std::vector<std::int64_t>{4294967293, 4294967294, 4294967295, 1, 2});
}

TEST_CASE("a context that is reset, and its successor") {
  const Folder folder;
  const auto log = run(folder, "context_destroyed");
  CHECK(of_type(log, "kernel").size() == 6);
  std::vector<std::string> what;
  for (const Json& context : of_type(log, "context")) {
    what.push_back(context["what"].get<std::string>());
  }
  CHECK(what == std::vector<std::string>{"created", "destroyed", "created"});
}

TEST_CASE("functions that the model takes from CUPTI are not found there, and others are") {
  const Folder folder;
  CHECK(shell(under_simgpu(folder, "cupti_symbols")).text == "there there there ");
  const Folder other;
  set_fault(other, "missing_symbol", "cuptiSubscribe_v2,cuptiActivityFlushAll");
  const Outcome outcome = shell(under_simgpu(other, "cupti_symbols"));
  CHECK(outcome.text == "there missing missing ");
  CHECK(outcome.status == 0);
  CHECK(of_type(lines(other / "log"), "kernel").size() == 3);
  set_fault(other, "missing_symbol", "cuptiNone");
  const Outcome bad = shell(under_simgpu(other, "cupti_symbols"));
  CHECK(WEXITSTATUS(bad.status) == 2);
  CHECK(bad.text.find("/faults/missing_symbol: ") != std::string::npos);
  CHECK(bad.text.find(" has no cuptiNone\n") != std::string::npos);
}

TEST_CASE("of two CUPTIs in a process the driver talks to the one with a client") {
  const Folder folder;
  const Outcome outcome = shell(under_simgpu(folder, "two_cuptis " SIMGPU_CUPTI_12));
  INFO(outcome.text);
  CHECK(outcome.status == 0);
  CHECK(outcome.text.rfind("26 13", 0) == 0);
}

TEST_CASE("host functions run in stream order, and copies behind them see what they wrote") {
  run(Folder(), "host_functions");
}

TEST_CASE("errors are those of the documentation") {
  run(Folder(), "errors");
}

TEST_CASE("one thread: the log is the same byte for byte") {
  for (const std::string program : {"two_streams", "diamond", "copies", "host_functions"}) {
    const Folder first;
    const Folder second;
    run(first, program);
    run(second, program);
    CHECK(read(first / "log") == read(second / "log"));
    CHECK(!read(first / "log").empty());
  }
}

TEST_CASE("eight threads: the log is the same as a set, correlation ids and addresses apart") {
  std::vector<std::string> before;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Folder folder;
    std::vector<std::string> set;
    for (Json line : run(folder, "many_threads")) {
      for (const char* matter_of_racing : {"correlation", "address", "pool_size", "pool_used"}) {
        line.erase(matter_of_racing);
      }
      set.push_back(line.dump());
    }
    std::sort(set.begin(), set.end());
    CHECK(set.size() > 8 * 50 * 8);
    CHECK((attempt == 0 || set == before));
    before = set;
  }
}

TEST_CASE("the child of a fork cannot use CUDA, its parent can") {
  run(Folder(), "forks");
}

TEST_CASE("the log is whole after _exit, and on the wall clock after SIGKILL") {
  const Folder folder;
  CHECK(WEXITSTATUS(shell(under_simgpu(folder, "exit7")).status) == 7);
  CHECK(of_type(lines(folder / "log"), "kernel").size() == 3);
  const Folder other;
  shell(under_simgpu(other, "killed", "--clock wall"));
  const auto log = lines(other / "log");
  REQUIRE(!log.empty());
  CHECK(log.back()["name"] == "cudaStreamSynchronize_v3020");
}

TEST_CASE(
    "the injection library is loaded once, at the first call; a bad one is said and survived") {
  const Folder folder;
  const Outcome good = shell(std::string("CUDA_INJECTION64_PATH=") + SIMGPU_INJECTION + " " +
                             under_simgpu(folder, "two_streams"));
  CHECK(good.text == "injected\n");
  CHECK(good.status == 0);
  const Folder other;
  const Outcome bad = shell("CUDA_INJECTION64_PATH=/none.so " + under_simgpu(other, "chain"));
  CHECK(bad.text.rfind("simgpu: cannot load the injection library: /none.so", 0) == 0);
  CHECK(bad.status == 0);
}

TEST_CASE("devices are the model's, less what CUDA_VISIBLE_DEVICES hides") {
  const Folder folder;
  CHECK(shell(under_simgpu(folder, "devices", "--devices 3")).text ==
        "Simulated H100 80GB HBM3 1 9.0\nSimulated H100 80GB HBM3 2 9.0\nSimulated H100 80GB HBM3 "
        "3 9.0\n");
  CHECK(shell("CUDA_VISIBLE_DEVICES=1 " + under_simgpu(folder, "devices")).text ==
        "Simulated H100 80GB HBM3 2 9.0\n");
}

TEST_CASE("the command refuses what it cannot do and passes on what the program returns") {
  const Folder folder;
  std::ofstream(folder / "bad.json") << R"({"kernels": 3})";
  const std::string command = SIMGPU_COMMAND;
  const Outcome bad = shell(command + " --model " + (folder / "bad.json") + " true");
  CHECK(WEXITSTATUS(bad.status) == 2);
  CHECK(bad.text == "simgpu: model " + (folder / "bad.json") + ": /kernels: must be an array\n");
  CHECK(WEXITSTATUS(shell(command + " /none").status) == 127);
  CHECK(WEXITSTATUS(shell(command + " --none true").status) == 2);
  CHECK(WEXITSTATUS(shell(command + " sh -c 'exit 9'").status) == 9);
  CHECK(shell(command + " --print-model").status == 0);
}
