#include "libanalysis/report/report.hpp"

namespace gprofml::analysis {

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::gpu:
      return "gpu";
    case Bound::host:
      return "host";
    case Bound::communication:
      return "communication";
    case Bound::copy:
      return "copy";
    case Bound::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(OpSource source) {
  switch (source) {
    case OpSource::range:
      return "range";
    case OpSource::call_stack:
      return "call_stack";
    case OpSource::kernel_family:
      break;
  }
  return "kernel_family";
}

std::string_view name_of(WindowKind kind) {
  switch (kind) {
    case WindowKind::steps:
      return "steps";
    case WindowKind::range:
      return "range";
    case WindowKind::all:
      break;
  }
  return "all";
}

}  // namespace gprofml::analysis
