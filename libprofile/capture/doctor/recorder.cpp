// Our own library: without it nothing is recorded.
#include <fmt/format.h>

#include <cstdio>

#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

/// The recorder asks for symbols up to this (a test of it reads them).
constexpr int kLeastMajor = 2;
constexpr int kLeastMinor = 17;

void probe_library(const Machine& machine, Findings& findings) {
  if (!machine.injection_library.empty()) {
    findings.push_back({FindingLevel::ok,
                        "recorder",
                        "injection_found",
                        "the recorder is " + machine.injection_library,
                        {},
                        {}});
    return;
  }
  findings.push_back({FindingLevel::problem,
                      "recorder",
                      "injection_missing",
                      "the recorder was not found: " + machine.injection_reason,
                      {"cmake --build build/release --target gprofml_injection",
                       "export GPROFML_INJECTION=/path/to/libgprofml_injection.so"},
                      {}});
}

void probe_libc(const Machine& machine, Findings& findings) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(machine.glibc_version.c_str(), "%d.%d", &major, &minor) != 2) {
    findings.push_back({FindingLevel::warning,
                        "recorder",
                        "glibc_unknown",
                        "the C library is not glibc: programs that use it cannot load the recorder",
                        {},
                        {}});
    return;
  }
  const bool is_enough = major > kLeastMajor || (major == kLeastMajor && minor >= kLeastMinor);
  findings.push_back({is_enough ? FindingLevel::ok : FindingLevel::problem,
                      "recorder",
                      is_enough ? "glibc" : "glibc_too_old",
                      fmt::format("glibc {}; the recorder needs {}.{}", machine.glibc_version,
                                  kLeastMajor, kLeastMinor),
                      is_enough
                          ? std::vector<std::string>{}
                          : std::vector<std::string>{"docker run --gpus all -it ubuntu:22.04"},
                      {}});
}

}  // namespace

void probe_recorder(const Machine& machine, Findings& findings) {
  probe_library(machine, findings);
  probe_libc(machine, findings);
}

}  // namespace gprofml::profile
