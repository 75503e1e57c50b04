// What the outside calls: the CUDA driver in cuInit, NVTX at its first call. Both always say that
// all went well: what fails here is noted in the spool and is not the program's business.
#include <cerrno>
#include <cstdint>

#include "injection/cupti_library.hpp"
#include "injection/cupti_session.hpp"
#include "injection/nvtx.hpp"
#include "injection/nvtx_payloads.hpp"
#include "injection/recorder.hpp"

#define GPROFML_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using GetExportTable = const void* (*)(std::uint32_t);

/// Ranges open and close windows too.
bool wants_ranges(const gprofml::injection::Options& options) {
  return options.records(gprofml::spool::kRanges) || options.has_windows();
}

int attach(GetExportTable get_export_table) {
  using namespace gprofml::injection;
  const int saved_errno = errno;
  Recorder* recorder = start_recorder();
  if (recorder != nullptr && get_export_table != nullptr && wants_ranges(recorder->options)) {
    use_clock_of_loaded_cupti();
    nvtx_is_attached(*recorder);
    attach_to_nvtx(get_export_table);
  }
  errno = saved_errno;
  return 1;
}

}  // namespace

GPROFML_EXPORT int InitializeInjection() {
  using namespace gprofml::injection;
  const int saved_errno = errno;
  if (Recorder* recorder = start_recorder()) {
    cuda_is_used();
    start_cupti(*recorder);
  }
  errno = saved_errno;
  return 1;
}

GPROFML_EXPORT int InitializeInjectionNvtx(GetExportTable get_export_table) {
  return attach(get_export_table);
}

GPROFML_EXPORT int InitializeInjectionNvtx2(GetExportTable get_export_table) {
  return attach(get_export_table);
}

/// Called once for each extension module (payloads, counters …) of each copy of NVTX, after the
/// entry above.
GPROFML_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace gprofml::injection;
  const int saved_errno = errno;
  Recorder* recorder = module == nullptr ? nullptr : start_recorder();
  if (recorder != nullptr && wants_ranges(recorder->options)) attach_to_extension(*module);
  errno = saved_errno;
  return 1;
}
