// Looks at the machine's GPUs through NVML.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libprofile/capture/machine/nvml_library.hpp"
#include "libprofile/spool/machine_records.hpp"

namespace gprofml::profile {

/// All GPUs that NVML shows: which of them the program uses is known when its spools are read.
class GpuWatch {
 public:
  explicit GpuWatch(const std::string& library = kNvmlName);

  /// "GPU-8c2f…", in the order of GpuSample::gpu. Empty where NVML does not load.
  const std::vector<std::string>& uuids() const { return uuids_; }

  /// One sample a GPU. `recorded` are the processes that are recorded; those on a GPU that are not
  /// among them are foreign. Where NVML has never shown one of ours its ids are not ours (in
  /// containers they are the host's) and nobody can be told apart.
  std::vector<spool::GpuSample> look(std::int64_t time_ns, const std::set<std::uint32_t>& recorded);

 private:
  struct Gpu {
    NvmlLibrary::Device device;
    std::vector<std::uint32_t> pids;
    bool lists_pids = false;
  };

  void list_processes(Gpu& gpu);
  spool::GpuSample measure(const Gpu& gpu) const;

  NvmlLibrary nvml_;
  std::vector<Gpu> gpus_;
  std::vector<std::string> uuids_;
  std::uint32_t looks_ = 0;
  bool has_shown_ours_ = false;
};

}  // namespace gprofml::profile
