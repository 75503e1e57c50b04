// What the program's environment gets so that the driver and NVTX load the recorder.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libprofile/capture/manifest.hpp"

namespace gprofml::profile {

/// The recorder library's file name.
inline constexpr char kInjectionLibrary[] = "libgprofml_injection.so";

struct InjectionLibrary {
  std::string path;    ///< absolute; empty: not found
  std::string reason;  ///< why not: one clause with the places looked at
};

/// Looks for the recorder library: where GPROFML_INJECTION says, else in ../lib and ../lib/gprof-ml
/// beside the folder of this executable.
InjectionLibrary find_injection_library();

struct RecordingEnvironment {
  std::map<std::string, std::string> variables;  ///< to set in the program
  std::vector<RecordingProblem> problems;        ///< parts that another tool keeps from us
};

/// The value of a variable, nullptr when it is not set.
using ReadVariable = std::function<const char*(const char*)>;

/// The variables that make a program record itself into `spool_folder`. One that another tool has
/// set stays as it is: then that part is not recorded, and a problem says so.
RecordingEnvironment recording_environment(const std::string& library,
                                           const std::string& spool_folder,
                                           const ReadVariable& read);

}  // namespace gprofml::profile
