// What is to be recorded, as the launcher tells the recorder: one environment variable, inherited
// by every process of the program, so that containers and schedulers can carry it too.
//
//   GPROFML_OPTIONS=level=2;graphs=whole;range=decode%3Bstep;range_index=3
//
// KEY=VALUE separated by semicolons. In values `;`, `%`, `=` and control characters are %XX. A
// reader ignores keys that it does not know; a value that it cannot read leaves the default.
#pragma once

#include <cstdint>

namespace gprofml::spool {

inline constexpr char kOptionsVariable[] = "GPROFML_OPTIONS";
inline constexpr char kFolderVariable[] = "GPROFML_SPOOL_DIR";

/// What can be recorded or left out; a set is the sum of its bits.
enum Group : std::uint32_t {
  kKernels = 1u << 0,
  kCopies = 1u << 1,
  kFills = 1u << 2,
  kGraphNodes = 1u << 3,      ///< work of graphs node by node; without it, graphs as a whole
  kLaunches = 1u << 4,        ///< calls that launch, copy, wait, allocate: what level 1 records
  kAllCalls = 1u << 5,        ///< all calls of runtime and driver but the noisy ones
  kSyncs = 1u << 6,           ///< what synchronisations waited for
  kEvents = 1u << 7,          ///< CUDA events put on streams
  kMemory = 1u << 8,          ///< allocations and frees
  kPools = 1u << 9,           ///< pools of memory
  kUnifiedMemory = 1u << 10,  ///< migrations and faults of managed memory
  kRanges = 1u << 11,         ///< NVTX
  kOverhead = 1u << 12,       ///< CUPTI's own
  kStacks = 1u << 13,         ///< call stacks at launches and captures
};

struct GroupName {
  const char* name;  ///< as `--kinds` and the option `kinds` spell it
  std::uint32_t bit;
};
inline constexpr GroupName kGroupNames[] = {
    {"kernels", kKernels},
    {"copies", kCopies},
    {"fills", kFills},
    {"graph-nodes", kGraphNodes},
    {"launches", kLaunches},
    {"calls", kAllCalls},
    {"syncs", kSyncs},
    {"events", kEvents},
    {"memory", kMemory},
    {"pools", kPools},
    {"unified-memory", kUnifiedMemory},
    {"ranges", kRanges},
    {"overhead", kOverhead},
    {"stacks", kStacks},
};

inline constexpr std::uint32_t kHighestLevel = 3;
inline constexpr std::uint32_t kDefaultLevel = 1;

/// The groups of a level.
///   0  steps (NVTX ranges) and graphs as a whole, with the calls that launch those
///   1  all GPU work, the calls that matter, synchronisation, events, ranges
///   2  all calls but the noisy ones, memory, pools, unified memory
///   3  call stacks too
constexpr std::uint32_t groups_of_level(std::uint32_t level) {
  if (level == 0) return kRanges | kOverhead;
  std::uint32_t groups = kKernels | kCopies | kFills | kGraphNodes | kLaunches | kSyncs | kEvents |
                         kRanges | kOverhead;
  if (level >= 2) groups |= kAllCalls | kMemory | kPools | kUnifiedMemory;
  if (level >= 3) groups |= kStacks;
  return groups;
}

// The keys. Times in nanoseconds, shares in parts per million.
inline constexpr char kLevelKey[] = "level";            ///< 0 … 3
inline constexpr char kKindsKey[] = "kinds";            ///< names of groups, by commas
inline constexpr char kGraphsKey[] = "graphs";          ///< "nodes" or "whole"
inline constexpr char kPythonKey[] = "python";          ///< 1: Python frames in stacks
inline constexpr char kMostBytesKey[] = "max_bytes";    ///< of all spools of the recording together
inline constexpr char kBudgetKey[] = "budget_ppm";      ///< of wall time, accounted cost; 0: none
inline constexpr char kRedactKey[] = "redact";          ///< 1: no arguments in the command line
inline constexpr char kPausedKey[] = "paused";          ///< 1: nothing until somebody says so
inline constexpr char kDelayKey[] = "delay_ns";         ///< since the recorder's start
inline constexpr char kDurationKey[] = "duration_ns";   ///< of a window, at most
inline constexpr char kKeepLastKey[] = "keep_last_ns";  ///< only the last so long is kept
inline constexpr char kRangeKey[] = "range";            ///< name of the range that is a window
inline constexpr char kRangeIndexKey[] = "range_index";    ///< only its k-th occurrence, from 0
inline constexpr char kStepsKey[] = "steps";               ///< wait,warmup,active,repeat
inline constexpr char kStepKey[] = "step";                 ///< a range's name, "graph" or "sync"
inline constexpr char kProfilerApiKey[] = "profiler_api";  ///< 1: cudaProfilerStart/Stop

}  // namespace gprofml::spool
