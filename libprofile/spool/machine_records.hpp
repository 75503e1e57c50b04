// What the launcher saw of the machine while the program ran: file `machine` in the spool folder,
// of the same form as a spool (format.hpp), with these records alone. Written by the launcher as it
// looks, so it is there for `recover` too. Times are CLOCK_REALTIME.
//
// Kinds 60 to 68 of RecordKind are set aside for this file.
#pragma once

#include <cstdint>

#include "libprofile/spool/format.hpp"

namespace gprofml::spool {

inline constexpr char kMachineName[] = "machine";

inline constexpr auto kMachineProcess = static_cast<RecordKind>(60);
inline constexpr auto kMachineThread = static_cast<RecordKind>(61);
inline constexpr auto kMachineGpu = static_cast<RecordKind>(62);
inline constexpr auto kThreadSample = static_cast<RecordKind>(63);
inline constexpr auto kGpuSample = static_cast<RecordKind>(64);
inline constexpr auto kMachineCost = static_cast<RecordKind>(65);
inline constexpr auto kMachineModule = static_cast<RecordKind>(66);

/// "Not told" in the fields of samples.
inline constexpr std::int64_t kNotTold = -1;

/// A recorded process whose threads are looked at. Its spool's file name follows.
struct MachineProcess {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t pid;
  std::uint32_t name_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(MachineProcess) == 24);

/// A thread, again when it has taken another name. The name follows.
struct MachineThread {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t process;  ///< MachineProcess
  std::uint32_t tid;
  std::uint32_t name_bytes;
};
static_assert(sizeof(MachineThread) == 24);

/// A GPU, as NVML names it: "GPU-8c2f…" follows.
struct MachineGpu {
  RecordHeader header;
  std::uint32_t id;
  std::uint32_t uuid_bytes;
};
static_assert(sizeof(MachineGpu) == 16);

/// What a thread did since it began. A thread that did nothing since the sample before has none.
struct ThreadSample {
  RecordHeader header;
  std::int64_t time_ns;
  std::int64_t on_cpu_ns;
  std::int64_t runnable_ns;
  std::int64_t timeslices;
  std::uint32_t thread;  ///< MachineThread
  std::int32_t last_cpu;
};
static_assert(sizeof(ThreadSample) == 48);

struct GpuSample {
  RecordHeader header;
  std::int64_t time_ns;
  std::int64_t memory_used_bytes;
  std::int64_t throttle_reasons;
  std::int64_t power_mw;
  std::uint32_t gpu;  ///< MachineGpu
  std::int32_t sm_clock_mhz;
  std::int32_t memory_clock_mhz;
  std::int32_t temperature_c;
  std::int32_t busy_percent;
  std::int32_t foreign_processes;
};
static_assert(sizeof(GpuSample) == 64);

/// What looking has cost, since its start.
struct MachineCost {
  RecordHeader header;
  std::int64_t cpu_ns;
  std::int64_t looks;
};
static_assert(sizeof(MachineCost) == 24);

/// A program or library mapped into a process, once. Its path follows, behind it the build id as
/// hexadecimal digits.
struct MachineModule {
  RecordHeader header;
  std::uint64_t base;
  std::uint64_t bytes;
  std::uint32_t process;  ///< MachineProcess
  std::uint32_t path_bytes;
  std::uint32_t build_id_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(MachineModule) == 40);

}  // namespace gprofml::spool
