// Looks at the machine around the recorded processes, ten times a second, from the launcher; less
// often where that would take more than a hundredth of a CPU.
//
// Two threads of its own, so that the launcher's wait is never held up: one reads /proc, one asks
// NVML, which hangs where a driver does. Both begin to look when the first process has begun to
// record, and write what they see into the file `machine` of the spool folder at once.
#pragma once

#include <memory>
#include <string>

#include "libprofile/capture/machine/nvml_library.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

struct SamplerOptions {
  std::string folder;  ///< of the spools
  std::string host;    ///< as it stands in front of the names of this machine's spools
  Nanoseconds period_ns = 100'000'000;
  std::string nvml = kNvmlName;
};

/// Nothing here fails: what cannot be looked at is not in the recording. The threads block all
/// signals.
class Sampler {
 public:
  explicit Sampler(SamplerOptions options);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// As stop().
  ~Sampler();

  /// A last look, then nothing more is written. Waits for that half a second at most: a thread that
  /// hangs in the driver is left behind.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive this
};

}  // namespace gprofml::profile
