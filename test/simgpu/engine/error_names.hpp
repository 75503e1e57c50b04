// Names and texts of error codes, whose numbers runtime and driver share.
#pragma once

namespace gprofml::simgpu {

/// "CUDA_ERROR_INVALID_VALUE" or "cudaErrorInvalidValue"; nullptr: no such error.
const char* error_name(int error, bool driver);

/// What it means, in a few words; nullptr: no such error.
const char* error_text(int error);

}  // namespace gprofml::simgpu
