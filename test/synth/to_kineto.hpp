// An Execution as a Kineto (PyTorch profiler) JSON file, in the spellings of several years.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/synth/execution.hpp"
#include "test/synth/to_trace.hpp"

namespace gprofml::synth {

/// Kineto's dialects, by the time they were written.
enum class KinetoEra : std::uint8_t {
  array_2020,     ///< bare array, whole microseconds, "Kernel", "Runtime", "Operator"
  object_2021,    ///< the same categories in an object; CPU tids are strings
  lower_2022,     ///< "kernel", "cuda_runtime", "cpu_op"; External id equals the correlation
  absolute_2024,  ///< three decimals, counted from the Unix epoch
  modern,         ///< three decimals, counted from baseTimeNanoseconds
};

struct KinetoOptions : RecordOptions {
  KinetoEra era = KinetoEra::modern;
  bool flows = true;                          ///< "ac2g" arrows from calls to their work
  bool header_first = true;                   ///< header keys before traceEvents, else after
  std::optional<std::uint64_t> shuffle_seed;  ///< events in a random order of the file
  std::string trace_name;                     ///< "traceName"; empty: key absent
  std::vector<std::pair<std::string, std::string>> header;  ///< more header keys and their raw JSON
};

/// One event a line. Throws std::invalid_argument when the era writes whole microseconds and a
/// time is not (see `scaled`).
std::string to_kineto_json(const Execution& execution, const KinetoOptions& options = {});

}  // namespace gprofml::synth
