#include <catch2/catch.hpp>

#include "libprofile/capture/join_recordings.hpp"

namespace gprofml::profile {
namespace {

constexpr const char* kUuid = "GPU-1";

/// A recording of one process of that rank, with one kernel on a device of that UUID.
Trace recording(std::int64_t pid, std::int64_t rank, const char* uuid, Nanoseconds start_ns) {
  Trace trace;
  Process process;
  process.pid = pid;
  process.rank = rank;
  process.source = trace.intern("spool " + std::to_string(pid));
  trace.processes.push_back(process);
  Device device;
  device.uuid = trace.intern(uuid);
  trace.devices.push_back(device);
  trace.contexts.push_back({0, 0, 1});
  Stream stream;
  stream.context = 0;
  stream.id = 7;
  trace.streams.push_back(stream);
  KernelColumns& kernels = trace.kernels;
  kernels.start_ns.push_back(start_ns);
  kernels.end_ns.push_back(start_ns + 100);
  kernels.name.push_back(trace.intern("kernel"));
  kernels.stream.push_back(0);
  kernels.launch.push_back(kNoRow);
  kernels.correlation.push_back(kUnknown);
  kernels.graph_node.push_back(kNoRow);
  kernels.op.push_back(kNoRow);
  kernels.sequence.push_back(0);
  kernels.launch_config.push_back(kNoRow);
  trace.meta["start_ns"] = std::to_string(start_ns);
  trace.meta["command"] = "train";
  trace.meta["end"] = "orderly";
  canonicalise(trace);
  return trace;
}

std::vector<NamedTrace> two(Trace a, Trace b) {
  std::vector<NamedTrace> inputs;
  inputs.push_back({"a.db", std::move(a)});
  inputs.push_back({"b.db", std::move(b)});
  return inputs;
}

TEST_CASE("Ranks become processes of one recording, on devices by their UUID", "[join]") {
  // The first input sorts behind the second, so that rows move.
  Trace a = recording(200, 1, kUuid, 1000);
  Trace b = recording(100, 0, kUuid, 1050);
  a.meta["env.RANK"] = "1";
  b.meta["env.RANK"] = "0";
  a.meta["only"] = "here";
  b.meta["simulated"] = "true";
  a.meta["process.0.cuda"] = "recorded";
  b.meta["end"] = "abrupt";
  const JoinedRecordings joined = join_recordings(two(a, b));
  CHECK(joined.warnings.empty());
  const Trace& trace = joined.trace;
  CHECK_FALSE(first_inconsistency(trace).has_value());
  REQUIRE(trace.processes.size() == 2);
  CHECK(trace.devices.size() == 1);
  CHECK(trace.kernels.size() == 2);
  const std::size_t of_a = trace.processes[0].pid == 200 ? 0 : 1;
  const std::string at_a = "process." + std::to_string(of_a) + ".";
  const std::string at_b = "process." + std::to_string(1 - of_a) + ".";
  CHECK(trace.processes[of_a].rank == 1);
  CHECK(trace.processes[1 - of_a].rank == 0);
  const std::map<std::string, std::string> expected = {
      {"command", "train"},        {"start_ns", "1000"},      {"simulated", "true"},
      {at_a + "env.RANK", "1"},    {at_b + "env.RANK", "0"},  {at_a + "only", "here"},
      {at_a + "cuda", "recorded"}, {at_a + "end", "orderly"}, {at_b + "end", "abrupt"}};
  CHECK(trace.meta == expected);
}

TEST_CASE("What does not look like one run is said", "[join]") {
  const auto warnings = [](const Trace& a, const Trace& b) {
    return join_recordings(two(a, b)).warnings;
  };
  const Trace a = recording(1, 0, kUuid, 1000);
  CHECK(warnings(a, recording(2, 1, "GPU-2", 1100)).empty());  // they touch
  const auto apart = warnings(a, recording(2, 1, "GPU-2", 1101));
  REQUIRE(apart.size() == 1);
  CHECK(apart[0] == "a.db and b.db do not overlap in time: they are not of one run");
  CHECK(warnings(recording(2, 1, "GPU-2", 1101), a) == apart);
  const auto same_rank = warnings(a, recording(2, 0, "GPU-2", 1000));
  REQUIRE(same_rank.size() == 1);
  CHECK(same_rank[0] == "a.db and b.db both hold rank 0");
  Trace of_job = recording(2, 1, "GPU-2", 1000);
  Trace of_other = a;
  of_job.meta["env.SLURM_JOB_ID"] = "17";
  CHECK(warnings(a, of_job).empty());  // one does not say
  of_other.meta["env.SLURM_JOB_ID"] = "18";
  const auto jobs = warnings(of_job, of_other);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0] == "a.db and b.db differ in SLURM_JOB_ID (17, 18): they may be of two jobs");
  CHECK(warnings(recording(1, kUnknown, kUuid, 1000), recording(2, kUnknown, kUuid, 1000)).empty());
}

TEST_CASE("One recording stays what it is", "[join]") {
  std::vector<NamedTrace> one;
  one.push_back({"a.db", recording(1, 0, kUuid, 1000)});
  const Trace before = one[0].trace;
  const JoinedRecordings joined = join_recordings(std::move(one));
  CHECK(joined.trace.meta == before.meta);
  CHECK(joined.trace.kernels.start_ns == before.kernels.start_ns);
  CHECK(joined.warnings.empty());
}

TEST_CASE("Two inputs that look alike stay two", "[join]") {
  const Trace twin = recording(1, kUnknown, kUuid, 1000);
  const JoinedRecordings joined = join_recordings(two(twin, twin));
  CHECK(joined.trace.processes.size() == 2);
  CHECK(joined.trace.kernels.size() == 2);
}

}  // namespace
}  // namespace gprofml::profile
