#include <catch2/catch.hpp>

#include "libprofile/capture/machine/machine_doubts.hpp"

namespace gprofml::profile {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

void sample(Trace& trace, RowIndex thread, Nanoseconds time_ns, std::int64_t on_cpu_ns,
            std::int64_t runnable_ns, std::int64_t cpu) {
  ThreadSampleColumns& samples = trace.thread_samples;
  samples.time_ns.push_back(time_ns);
  samples.thread.push_back(thread);
  samples.on_cpu_ns.push_back(on_cpu_ns);
  samples.runnable_ns.push_back(runnable_ns);
  samples.timeslices.push_back(1);
  samples.last_cpu.push_back(cpu);
}

void sample_gpu(Trace& trace, std::int64_t throttle_reasons, std::int64_t foreign) {
  GpuSampleColumns& samples = trace.gpu_samples;
  samples.time_ns.push_back(0);
  samples.device.push_back(0);
  samples.throttle_reasons.push_back(throttle_reasons);
  samples.foreign_processes.push_back(foreign);
  for (auto* column : {&samples.sm_clock_mhz, &samples.memory_clock_mhz, &samples.power_mw,
                       &samples.temperature_c, &samples.memory_used_bytes, &samples.busy_percent}) {
    column->push_back(kUnknown);
  }
}

Trace with_threads() {
  Trace trace;
  trace.processes.emplace_back();
  trace.threads.push_back({0, 1, 1, trace.intern("python3")});
  trace.threads.push_back({0, 1, 2, trace.intern("loader")});
  trace.threads.push_back({0, 1, 3, trace.intern("gprof-ml")});
  Device device;
  device.ordinal = 3;
  trace.devices.push_back(device);
  return trace;
}

TEST_CASE("Threads that wait for CPUs are told with what there was") {
  Trace trace = with_threads();
  // What was before the first sample does not count: 8 s of waiting.
  sample(trace, 0, 2 * kSecond, kSecond + 700'000'000, 8 * kSecond + 300'000'000, 1);
  sample(trace, 0, 1 * kSecond, kSecond, 8 * kSecond, 0);
  sample(trace, 1, 1 * kSecond, 0, 0, 1);
  sample(trace, 1, 2 * kSecond, 840'000'000, 160'000'000, 1);
  sample(trace, 2, 1 * kSecond, 0, 0, 7);
  sample(trace, 2, 2 * kSecond, 0, 5 * kSecond, 7);  // our own
  CHECK(
      machine_doubts(trace) ==
      std::vector<std::string>{"the host threads waited for a CPU 23 % of the time that they could "
                               "have run (2 threads on 2 CPUs): use fewer threads, or give the "
                               "program more CPUs"});
}

TEST_CASE("Threads that hardly wait, and programs too short to judge, are no doubt") {
  Trace little = with_threads();
  sample(little, 0, 1 * kSecond, 0, 0, 0);
  sample(little, 0, 10 * kSecond, 9 * kSecond, 400'000'000, 0);  // 4 %
  CHECK(machine_doubts(little).empty());
  Trace brief = with_threads();
  sample(brief, 0, 1 * kSecond, 0, 0, 0);
  sample(brief, 0, 2 * kSecond, 90'000'000, 90'000'000, 0);
  CHECK(machine_doubts(brief).empty());
  CHECK(machine_doubts(Trace{}).empty());
}

TEST_CASE("A clock that was held down, and others on the GPU") {
  Trace trace = with_threads();
  for (int i = 0; i < 90; ++i) sample_gpu(trace, 0x1, 0);  // idle is no reason
  for (int i = 0; i < 6; ++i) sample_gpu(trace, 0x4, 2);
  for (int i = 0; i < 4; ++i) sample_gpu(trace, 0x40, 1);  // 4 %
  CHECK(machine_doubts(trace) ==
        std::vector<std::string>{
            "the clock of GPU 3 was held down by its power limit in 6 % of the samples",
            "2 other processes used GPU 3: its times are not this program's alone"});
  Trace unknown = with_threads();
  for (int i = 0; i < 10; ++i) sample_gpu(unknown, kUnknown, kUnknown);
  CHECK(machine_doubts(unknown).empty());
}

}  // namespace
}  // namespace gprofml::profile
