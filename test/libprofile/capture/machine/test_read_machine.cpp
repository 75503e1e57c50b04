#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

#include "libprofile/capture/machine/read_machine.hpp"
#include "libprofile/spool/chunk_file.hpp"
#include "libprofile/spool/machine_records.hpp"

#include "test/temporary_folder.hpp"

namespace gprofml::profile {
namespace {

constexpr const char* kUuid = "GPU-00000000-0000-0000-0000-000000000001";
constexpr const char* kOther = "GPU-00000000-0000-0000-0000-000000000002";

void process(ChunkFile& file, std::uint32_t id, std::uint32_t pid, std::string_view spool) {
  spool::MachineProcess record{};
  record.id = id;
  record.pid = pid;
  record.name_bytes = static_cast<std::uint32_t>(spool.size());
  file.add(spool::kMachineProcess, record, spool);
}

void thread(ChunkFile& file, std::uint32_t id, std::uint32_t of, std::uint32_t tid,
            std::string_view name) {
  spool::MachineThread record{};
  record.id = id;
  record.process = of;
  record.tid = tid;
  record.name_bytes = static_cast<std::uint32_t>(name.size());
  file.add(spool::kMachineThread, record, name);
}

void sample(ChunkFile& file, std::uint32_t of, std::int64_t time_ns) {
  spool::ThreadSample record{};
  record.time_ns = time_ns;
  record.on_cpu_ns = time_ns + 1;
  record.runnable_ns = time_ns + 2;
  record.timeslices = time_ns + 3;
  record.thread = of;
  record.last_cpu = of == 2 ? -1 : 4;
  file.add(spool::kThreadSample, record);
}

void gpu(ChunkFile& file, std::uint32_t id, std::string_view uuid) {
  spool::MachineGpu record{};
  record.id = id;
  record.uuid_bytes = static_cast<std::uint32_t>(uuid.size());
  file.add(spool::kMachineGpu, record, uuid);
  spool::GpuSample look{};
  look.time_ns = 1000;
  look.memory_used_bytes = 1;
  look.throttle_reasons = 2;
  look.power_mw = 3;
  look.gpu = id;
  look.sm_clock_mhz = 4;
  look.memory_clock_mhz = 5;
  look.temperature_c = 6;
  look.busy_percent = -1;
  look.foreign_processes = 8;
  file.add(spool::kGpuSample, look);
}

void module(ChunkFile& file, std::uint32_t of, const std::string& path,
            const std::string& build_id) {
  spool::MachineModule record{};
  record.base = 0x1000;
  record.bytes = 0x2000;
  record.process = of;
  record.path_bytes = static_cast<std::uint32_t>(path.size());
  record.build_id_bytes = static_cast<std::uint32_t>(build_id.size());
  file.add(spool::kMachineModule, record, path + build_id);
}

/// Two processes, of which the launcher also saw a third that is not in the recording, and two GPUs
/// of which one is.
void write_machine(const std::string& folder) {
  ChunkFile file;
  REQUIRE(file.create(folder + "/" + spool::kMachineName));
  process(file, 0, 10, "a.spool");
  process(file, 1, 20, "b.spool");
  process(file, 2, 30, "gone.spool");
  thread(file, 0, 0, 10, "python3");
  thread(file, 1, 0, 11, "loader");
  REQUIRE(file.flush());
  thread(file, 2, 1, 20, "rank1");
  thread(file, 3, 2, 30, "other");
  module(file, 0, "/lib/a.so", "0a1b");
  module(file, 1, "/lib/b.so", "");
  module(file, 2, "/lib/gone.so", "");
  for (std::uint32_t of = 0; of < 4; ++of) sample(file, of, 100 + of);
  gpu(file, 0, kUuid);
  gpu(file, 1, kOther);
  thread(file, 1, 0, 11, "pt_data_worker");  // named itself
  sample(file, 1, 200);
  spool::MachineCost cost{};
  cost.cpu_ns = 12345;
  cost.looks = 6;
  file.add(spool::kMachineCost, cost);
  REQUIRE(file.flush());
}

Trace recorded() {
  Trace trace;
  for (const char* const spool : {"a.spool", "b.spool"}) {
    Process process;
    process.pid = trace.processes.empty() ? 10 : 20;
    process.source = trace.intern(spool);
    trace.processes.push_back(process);
  }
  trace.threads.push_back({0, 10, 10, trace.intern("main of NVTX")});
  trace.threads.push_back({1, 20, 20, 0});
  Device device;
  device.uuid = trace.intern(kUuid);
  trace.devices.push_back(device);
  return trace;
}

TEST_CASE("Samples find their threads and devices") {
  const test::TemporaryFolder folder;
  write_machine(folder.path().string());
  Trace trace = recorded();
  add_machine_samples(folder.path().string(), {}, trace);
  CHECK_FALSE(first_inconsistency(trace).has_value());
  REQUIRE(trace.threads.size() == 3);
  CHECK(trace.text(trace.threads[0].name) == "main of NVTX");
  CHECK(trace.text(trace.threads[1].name) == "rank1");
  CHECK(trace.text(trace.threads[2].name) == "pt_data_worker");
  CHECK(trace.threads[2].process == 0);
  CHECK(trace.threads[2].tid == 11);
  const ThreadSampleColumns& threads = trace.thread_samples;
  CHECK(threads.time_ns == std::vector<Nanoseconds>{100, 101, 102, 200});
  CHECK(threads.thread == std::vector<RowIndex>{0, 2, 1, 2});
  CHECK(threads.on_cpu_ns == std::vector<std::int64_t>{101, 102, 103, 201});
  CHECK(threads.runnable_ns == std::vector<std::int64_t>{102, 103, 104, 202});
  CHECK(threads.timeslices == std::vector<std::int64_t>{103, 104, 105, 203});
  CHECK(threads.last_cpu == std::vector<std::int64_t>{4, 4, kUnknown, 4});
  const GpuSampleColumns& gpus = trace.gpu_samples;
  REQUIRE(gpus.size() == 1);
  CHECK(gpus.device[0] == 0);
  CHECK(gpus.time_ns[0] == 1000);
  CHECK(gpus.memory_used_bytes[0] == 1);
  CHECK(gpus.throttle_reasons[0] == 2);
  CHECK(gpus.power_mw[0] == 3);
  CHECK(gpus.sm_clock_mhz[0] == 4);
  CHECK(gpus.memory_clock_mhz[0] == 5);
  CHECK(gpus.temperature_c[0] == 6);
  CHECK(gpus.busy_percent[0] == kUnknown);
  CHECK(gpus.foreign_processes[0] == 8);
  CHECK(trace.meta.at("sampler_cpu_ns") == "12345");
  CHECK(trace.meta.at("sampler_looks") == "6");
  CHECK(trace.meta.count("machine_samples") == 0);
}

TEST_CASE("Modules are those of processes that did not record theirs, on whatever clock") {
  const test::TemporaryFolder folder;
  write_machine(folder.path().string());
  Trace trace = recorded();
  trace.modules.process.push_back(1);
  trace.modules.path.push_back(trace.intern("/lib/own.so"));
  trace.modules.build_id.push_back(0);
  trace.modules.base.push_back(1);
  trace.modules.bytes.push_back(2);
  add_machine_samples(folder.path().string(), {"a.spool"}, trace);
  REQUIRE(trace.modules.size() == 2);
  CHECK(trace.modules.process == std::vector<RowIndex>{1, 0});
  CHECK(trace.text(trace.modules.path[1]) == "/lib/a.so");
  CHECK(trace.text(trace.modules.build_id[1]) == "0a1b");
  CHECK(trace.modules.base[1] == 0x1000);
  CHECK(trace.modules.bytes[1] == 0x2000);
}

TEST_CASE("Samples of the wall clock are not joined with events of a simulated one") {
  const test::TemporaryFolder folder;
  write_machine(folder.path().string());
  Trace trace = recorded();
  add_machine_samples(folder.path().string(), {"a.spool"}, trace);
  CHECK(trace.thread_samples.time_ns == std::vector<Nanoseconds>{102});  // of the other process
  CHECK(trace.threads.size() == 2);
  CHECK(trace.gpu_samples.size() == 0);
  CHECK(trace.meta.at("machine_samples").find("simulated") != std::string::npos);
}

TEST_CASE("A file cut off gives what is whole, one of nonsense nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder / spool::kMachineName;
  write_machine(folder.path().string());
  const auto size = std::filesystem::file_size(path);
  std::size_t most = 0;
  for (auto cut = size; cut-- > 0;) {
    std::filesystem::resize_file(path, cut);
    Trace trace = recorded();
    add_machine_samples(folder.path().string(), {}, trace);
    most = std::max(most, trace.thread_samples.size());
  }
  CHECK(most == 0);  // all samples stand in the last chunk
  std::ofstream(path) << "nonsense";
  Trace trace = recorded();
  add_machine_samples(folder.path().string(), {}, trace);
  CHECK(trace.threads.size() == 2);
  const test::TemporaryFolder empty;
  add_machine_samples(empty.path().string(), {}, trace);
  CHECK(trace.thread_samples.size() == 0);
}

}  // namespace
}  // namespace gprofml::profile
