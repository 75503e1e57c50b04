// Where the recorder will look for CUPTI in a program that is yet to start, in its own order. The
// rule is that of injection/cupti_search.cpp, which this library may not include: the test
// "doctor and recorder take the same CUPTI" holds the two together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/capture/doctor/machine.hpp"

namespace gprofml::profile {

enum class CuptiPlaceState : std::uint8_t { missing, found, stub };

/// CuptiPlace::because of places that depend on the program.
inline constexpr char kBesideTheRuntime[] = "beside the CUDA runtime";

struct CuptiPlace {
  std::string path;
  std::string because;  ///< "beside the CUDA runtime", "CUDA_HOME", …
  CuptiPlaceState state = CuptiPlaceState::missing;
};

/// Folders from which the program may load its CUDA runtime, likeliest first: where the running
/// program `pid` has it, else the library path and the wheels of the active Python.
std::vector<std::string> runtime_folders(const Machine& machine);

/// The places for one folder of the CUDA runtime (empty: linked statically, or there is none). The
/// first that is `found` is the one that the recorder takes.
std::vector<CuptiPlace> cupti_places(const Machine& machine, const std::string& runtime_folder);

/// The CUPTI that the program `pid` has loaded already, which comes before all places; else empty.
std::string loaded_cupti(const Machine& machine);

}  // namespace gprofml::profile
