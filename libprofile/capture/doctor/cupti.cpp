// Which CUPTI the recorder takes, and whether it fits the driver.
#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <optional>

#include "libprofile/capture/doctor/cupti_places.hpp"
#include "libprofile/capture/doctor/library_path.hpp"
#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

/// CUDA's version as 1000 * major + 10 * minor.
struct NumberedVersion {
  std::uint32_t number;
  int cuda;
};

/// CUPTI's own numbers before they became CUDA's (cupti_version.h).
constexpr NumberedVersion kOldCuptis[] = {{18, 11080}, {19, 12000}, {20, 12020}, {21, 12030},
                                          {22, 12040}, {23, 12050}, {24, 12060}, {25, 12070},
                                          {26, 12080}, {27, 12090}, {28, 12090}};
/// The newest CUDA of a driver branch (CUDA's release notes).
constexpr NumberedVersion kDrivers[] = {{525, 12000}, {530, 12010}, {535, 12020}, {545, 12030},
                                        {550, 12040}, {555, 12050}, {560, 12060}, {565, 12070},
                                        {570, 12080}, {575, 12090}, {580, 13000}, {590, 13010}};

/// 0: unknown.
int cuda_of_cupti(std::uint32_t version) {
  constexpr std::uint32_t kFirstOfCuda = 120000;  // 130001 is 13.0 update 1
  if (version >= kFirstOfCuda) return static_cast<int>(version / 100 * 10);
  int cuda = 0;
  for (const NumberedVersion& known : kOldCuptis) {
    if (known.number == version) cuda = known.cuda;
  }
  return cuda;
}

int cuda_of_driver(const std::string& version) {
  const auto branch = static_cast<std::uint32_t>(std::strtoul(version.c_str(), nullptr, 10));
  int cuda = 0;
  for (const NumberedVersion& known : kDrivers) {
    if (known.number <= branch) cuda = known.cuda;
  }
  return cuda;
}

std::string cuda_text(int cuda) {
  return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

/// 13 of libcupti.so.13, 0 when the name has none.
int soname_major(const std::string& path) {
  constexpr const char* kStart = "libcupti.so.";
  const std::size_t at = path.rfind(kStart);
  return at == std::string::npos
             ? 0
             : std::atoi(path.c_str() + at + std::char_traits<char>::length(kStart));
}

std::vector<std::string> looked_at(const std::vector<CuptiPlace>& places) {
  std::vector<std::string> lines;
  for (const CuptiPlace& place : places) {
    const char* state = "missing";
    if (place.state == CuptiPlaceState::found) state = "found";
    if (place.state == CuptiPlaceState::stub) state = "stub, left out";
    lines.push_back(fmt::format("{}: {} ({})", place.path, state, place.because));
  }
  return lines;
}

std::optional<CuptiPlace> first_found(const std::vector<CuptiPlace>& places) {
  for (const CuptiPlace& place : places) {
    if (place.state == CuptiPlaceState::found) return place;
  }
  return std::nullopt;
}

void say_missing(const Machine& machine, std::vector<std::string> places, Findings& findings) {
  const bool is_debian =
      machine.read("/etc/os-release").value_or("").find("ID=debian") != std::string::npos;
  findings.push_back(
      {FindingLevel::problem,
       "cupti",
       "cupti_missing",
       "CUPTI was not found: GPU work is not recorded unless the program brings its own, as "
       "PyTorch does",
       {"pip install nvidia-cuda-cupti",
        is_debian ? "sudo apt-get install libcupti-dev" : "sudo apt-get install cuda-cupti-13-0",
        "export CUDA_HOME=/path/to/cuda"},
       std::move(places)});
}

/// The CUDA_HOME under which the recorder finds that file, empty when none leads there.
std::string toolkit_of(const std::string& file) {
  const std::string folder = file.substr(0, file.rfind('/'));
  for (const std::string below : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
    const bool is_below = folder.size() > below.size() &&
                          folder.compare(folder.size() - below.size(), below.size(), below) == 0;
    if (is_below) return folder.substr(0, folder.size() - below.size());
  }
  return {};
}

/// What makes the recorder take a CUPTI of that major in place of `chosen`; empty when nothing
/// does: the one beside the program's runtime always comes first.
std::string command_for_other(const std::vector<CuptiPlace>& places, const CuptiPlace& chosen,
                              int major) {
  if (chosen.because == kBesideTheRuntime || soname_major(chosen.path) == major) return {};
  for (const CuptiPlace& place : places) {
    if (place.state != CuptiPlaceState::found || soname_major(place.path) != major) continue;
    const std::string toolkit = toolkit_of(place.path);
    if (!toolkit.empty()) return "export CUDA_HOME=" + toolkit;
  }
  return {};
}

void compare_with_driver(const Machine& machine, const NvmlFacts& nvml, const CuptiPlace& chosen,
                         const std::vector<CuptiPlace>& places, Findings& findings) {
  const std::string version = kernel_driver_version(machine);
  const int driver = nvml.cuda_version > 0 ? nvml.cuda_version : cuda_of_driver(version);
  int cupti = cuda_of_cupti(machine.cupti_version(machine.root + chosen.path));
  if (cupti == 0) cupti = soname_major(chosen.path) * 1000;
  if (driver == 0 || cupti <= driver) return;
  const bool is_other_major = cupti / 1000 > driver / 1000;
  Finding finding{
      is_other_major ? FindingLevel::problem : FindingLevel::warning,
      "cupti",
      "cupti_newer_than_driver",
      fmt::format("CUPTI of CUDA {} is newer than the driver, which takes CUDA up to {}: CUPTI {} "
                  "it (CUPTI_ERROR_NOT_INITIALIZED)",
                  cuda_text(cupti), cuda_text(driver), is_other_major ? "refuses" : "may refuse"),
      {},
      {}};
  const std::string other = command_for_other(places, chosen, driver / 1000);
  if (!other.empty()) finding.repair.push_back(other);
  finding.repair.push_back(
      fmt::format("pip install 'nvidia-cuda-cupti-cu{}=={}.*'", driver / 1000, cuda_text(driver)));
  finding.repair.emplace_back("sudo apt-get install cuda-drivers && sudo reboot");
  findings.push_back(std::move(finding));
}

/// Which majors could come together in one process: the recorder's, and those on the library path.
void look_for_two_majors(const Machine& machine, const CuptiPlace& chosen,
                         const std::vector<CuptiPlace>& places, Findings& findings) {
  const LibraryPath path(machine);
  for (const char* const soname : {"libcupti.so.12", "libcupti.so.13"}) {
    const int major = soname_major(soname);
    if (major == soname_major(chosen.path)) continue;
    const std::vector<std::string> found = path.find(soname);
    if (found.empty()) continue;
    Finding finding{
        FindingLevel::warning,
        "cupti",
        "cupti_two_majors",
        fmt::format("the recorder takes {}, but {} is on the library path: a program that loads "
                    "that one too has two CUPTIs, and only one of them is told anything",
                    chosen.path, found.front()),
        {},
        {}};
    const std::string other = command_for_other(places, chosen, major);
    if (!other.empty()) finding.repair.push_back(other);
    finding.repair.emplace_back("gprof-ml doctor --pid $(pgrep -n PROGRAM)");
    findings.push_back(std::move(finding));
  }
}

void look_for_stubs(const Machine& machine, Findings& findings) {
  const LibraryPath path(machine);
  std::string rest;
  std::string stubs;
  for (const std::string& folder : path.variable_folders()) {
    const bool is_stub = folder.find("/stubs") != std::string::npos;
    std::string& list = is_stub ? stubs : rest;
    list += (list.empty() ? "" : ":") + folder;
  }
  if (stubs.empty()) return;
  findings.push_back(
      {FindingLevel::problem,
       "cupti",
       "stubs_on_path",
       fmt::format("LD_LIBRARY_PATH names {}: CUPTI opens the stub of libcuda that lies there, "
                   "and nothing is recorded",
                   stubs),
       {rest.empty() ? "unset LD_LIBRARY_PATH" : "export LD_LIBRARY_PATH=" + rest},
       {}});
}

std::string chosen_text(const CuptiPlace& place, const std::string& runtime,
                        std::uint32_t version) {
  std::string text = "the recorder takes " + place.path + " (" + place.because + ")";
  const int cuda = cuda_of_cupti(version);
  if (cuda > 0) text += ", of CUDA " + cuda_text(cuda);
  if (!runtime.empty())
    text += fmt::format(", if the program loads its CUDA runtime from {}", runtime);
  return text;
}

}  // namespace

void probe_cupti(const Machine& machine, const NvmlFacts& nvml, Findings& findings) {
  look_for_stubs(machine, findings);
  const std::string loaded = loaded_cupti(machine);
  if (!loaded.empty()) {
    findings.push_back({FindingLevel::ok,
                        "cupti",
                        "cupti_loaded",
                        fmt::format("process {} has loaded {}, and so the recorder takes that",
                                    machine.pid, loaded),
                        {},
                        {}});
    return compare_with_driver(machine, nvml, {loaded, kBesideTheRuntime, CuptiPlaceState::found},
                               {}, findings);
  }
  std::vector<std::string> runtimes = runtime_folders(machine);
  const std::string runtime = runtimes.empty() ? std::string() : runtimes.front();
  const std::vector<CuptiPlace> places = cupti_places(machine, runtime);
  const std::optional<CuptiPlace> chosen = first_found(places);
  if (!chosen) return say_missing(machine, looked_at(places), findings);
  const std::uint32_t version = machine.cupti_version(machine.root + chosen->path);
  findings.push_back({FindingLevel::ok,
                      "cupti",
                      "cupti_found",
                      chosen_text(*chosen, runtime, version),
                      {},
                      looked_at(places)});
  // Programs with another runtime, say of a Python wheel, get the CUPTI beside that.
  for (std::size_t i = 1; i < runtimes.size(); ++i) {
    const std::optional<CuptiPlace> other = first_found(cupti_places(machine, runtimes[i]));
    if (!other || machine.resolved(other->path) == machine.resolved(chosen->path)) continue;
    findings.push_back(
        {FindingLevel::note,
         "cupti",
         "cupti_of_other_runtime",
         chosen_text(*other, runtimes[i], machine.cupti_version(machine.root + other->path)),
         {},
         {}});
  }
  compare_with_driver(machine, nvml, *chosen, places, findings);
  look_for_two_majors(machine, *chosen, places, findings);
}

}  // namespace gprofml::profile
