// Where a recording is written.
#include <fmt/format.h>

#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20;
/// A minute of a busy GPU, about.
constexpr std::uint64_t kLittle = 1024 * kMebibyte;
constexpr std::uint64_t kNothing = 16 * kMebibyte;

std::string size_text(std::uint64_t bytes) {
  if (bytes >= 1024 * kMebibyte) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1024.0 * kMebibyte));
  }
  return fmt::format("{} MiB", bytes / kMebibyte);
}

void probe_folder(const Machine& machine, const std::string& folder, const char* what,
                  const char* code, FindingLevel worst, const std::string& repair,
                  Findings& findings) {
  const FolderState state = machine.folder_state(machine.root + folder);
  Finding finding{FindingLevel::ok, "disk", code, "", {}, {}};
  if (!state.exists || !state.writable) {
    finding.level = worst;
    finding.code = fmt::format("{}_not_writable", code);
    finding.text = fmt::format("{} {}: {}", what, folder,
                               state.exists ? "cannot be written to" : "there is no such folder");
    finding.repair = {repair};
  } else if (state.free_bytes < kLittle) {
    finding.level = state.free_bytes < kNothing ? worst : FindingLevel::warning;
    finding.code = fmt::format("{}_full", code);
    finding.text = fmt::format("{} {}: only {} are free; a recording may not fit", what, folder,
                               size_text(state.free_bytes));
    finding.repair = {repair};
  } else {
    finding.text =
        fmt::format("{} {}: writable, {} free", what, folder, size_text(state.free_bytes));
  }
  findings.push_back(std::move(finding));
}

void probe_shared_memory(const Machine& machine, Findings& findings) {
  constexpr std::uint64_t kDockerDefault = 64 * kMebibyte;
  const FolderState state = machine.folder_state(machine.root + "/dev/shm");
  if (state.exists && state.writable && state.free_bytes > kDockerDefault) return;
  findings.push_back(
      {FindingLevel::note,
       "disk",
       "shared_memory_small",
       state.exists && state.writable
           ? fmt::format("/dev/shm has {} free: workers of PyTorch's DataLoader die of that; "
                         "recording does not need it",
                         size_text(state.free_bytes))
           : std::string("/dev/shm cannot be written to: programs that share memory fail; "
                         "recording does not need it"),
       {container_name(machine).empty() ? "sudo mount -o remount,size=8G /dev/shm"
                                        : "docker run --shm-size=8g --gpus all IMAGE PROGRAM"},
       {}});
}

}  // namespace

void probe_disk(const Machine& machine, Findings& findings) {
  probe_folder(machine, machine.output_folder, "recordings go to", "output", FindingLevel::problem,
               "gprof-ml run -o /path/with/room/run.db -- PROGRAM", findings);
  const std::string chosen = machine.variable("TMPDIR");
  probe_folder(machine, chosen.empty() ? "/tmp" : chosen, "temporary files go to", "temporary",
               FindingLevel::warning, "export TMPDIR=/path/with/room", findings);
  probe_shared_memory(machine, findings);
}

}  // namespace gprofml::profile
