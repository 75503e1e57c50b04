#include "libprofile/capture/doctor/cupti_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "libprofile/capture/doctor/library_path.hpp"

namespace gprofml::profile {
namespace {

// As in injection/cupti_search.cpp.
constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kBesideRuntime[] = {
    "",
    "/../extras/CUPTI/lib64",
    "/../../../extras/CUPTI/lib64",
    "/../../cuda_cupti/lib",
    "/../../cu13/lib",
};
constexpr const char* kInToolkit[] = {"/lib64", "/extras/CUPTI/lib64", "/lib"};

constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12"};
constexpr const char* kWheels[] = {"nvidia/cu13/lib", "nvidia/cuda_runtime/lib"};

class Places {
 public:
  explicit Places(const Machine& machine) : machine_(machine) {}

  void add(const std::string& path, const std::string& because) {
    CuptiPlace place{path, because, CuptiPlaceState::missing};
    if (machine_.is_readable(path)) {
      const bool is_stub = path.find("/stubs") != std::string::npos;
      place.state = is_stub ? CuptiPlaceState::stub : CuptiPlaceState::found;
    }
    places_.push_back(std::move(place));
  }
  void add_folder(const std::string& folder, const std::string& because) {
    for (const char* const soname : kSonames) add(folder + "/" + soname, because);
  }
  void add_toolkit(const std::string& folder, const std::string& because) {
    if (folder.empty()) return;
    for (const char* const below : kInToolkit) add_folder(folder + below, because);
  }
  std::vector<CuptiPlace> take() { return std::move(places_); }

 private:
  const Machine& machine_;
  std::vector<CuptiPlace> places_;
};

/// The first file that the program has mapped and whose name starts so.
std::string mapped_file(const Machine& machine, const std::string& start) {
  if (machine.pid == 0) return {};
  std::istringstream maps(machine.read(fmt::format("/proc/{}/maps", machine.pid)).value_or(""));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    if (path.compare(path.rfind('/') + 1, start.size(), start) == 0) return path;
  }
  return {};
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

void add_new(std::vector<std::string>& folders, const std::string& folder) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
    folders.push_back(folder);
  }
}

void add_wheels(const Machine& machine, const std::string& library_folder,
                std::vector<std::string>& folders) {
  for (const std::string& name : machine.names_in(library_folder)) {
    if (name.rfind("python3", 0) != 0) continue;
    for (const char* const packages : {"site-packages", "dist-packages"}) {
      for (const char* const wheel : kWheels) {
        const std::string folder =
            fmt::format("{}/{}/{}/{}", library_folder, name, packages, wheel);
        for (const char* const runtime : kRuntimes) {
          if (machine.is_readable(folder + "/" + runtime)) add_new(folders, folder);
        }
      }
    }
  }
}

}  // namespace

std::vector<std::string> runtime_folders(const Machine& machine) {
  std::vector<std::string> folders;
  if (machine.pid != 0) {
    const std::string loaded = mapped_file(machine, "libcudart");
    if (!loaded.empty()) folders.push_back(folder_of(loaded));
    return folders;
  }
  const LibraryPath path(machine);
  for (const char* const runtime : kRuntimes) {
    for (const std::string& file : path.find(runtime)) add_new(folders, folder_of(file));
  }
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string root = machine.variable(variable);
    if (!root.empty()) add_wheels(machine, root + "/lib", folders);
  }
  add_wheels(machine, "/usr/local/lib", folders);
  add_wheels(machine, "/usr/lib", folders);
  return folders;
}

std::vector<CuptiPlace> cupti_places(const Machine& machine, const std::string& runtime_folder) {
  Places places(machine);
  if (!runtime_folder.empty()) {
    for (const char* const below : kBesideRuntime) {
      places.add_folder(runtime_folder + below, kBesideTheRuntime);
    }
  }
  places.add_toolkit(machine.variable("CUDA_HOME"), "CUDA_HOME");
  places.add_toolkit(machine.variable("CUDA_PATH"), "CUDA_PATH");
  places.add_toolkit("/usr/local/cuda", "/usr/local/cuda");
  const LibraryPath path(machine);
  for (const char* const soname : kSonames) {
    const std::vector<std::string> found = path.find(soname);
    places.add(found.empty() ? soname : found.front(), "library path");
  }
  return places.take();
}

std::string loaded_cupti(const Machine& machine) {
  return mapped_file(machine, "libcupti.so.");
}

}  // namespace gprofml::profile
