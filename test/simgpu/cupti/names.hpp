// Names that the real library knows, from the toolkit's headers (tables.py writes names.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::simgpu::cupti {

struct NameTable {
  const char* const* names;  ///< by id; nullptr: no such id
  std::size_t size;

  /// nullptr when there is no such id.
  const char* at(std::size_t id) const { return id < size ? names[id] : nullptr; }
};

extern const NameTable kRuntimeNames;  ///< cudaLaunchKernel_v7000, as cuptiGetCallbackName
extern const NameTable
    kRuntimeFunctions;                ///< cudaLaunchKernel, as CUpti_CallbackData::functionName
extern const NameTable kDriverNames;  ///< cuLaunchKernel; the same in both places
extern const NameTable kKindNames;    ///< MEMCPY of CUPTI_ACTIVITY_KIND_MEMCPY

struct ResultName {
  int code;
  const char* name;
};

struct ResultNames {
  const ResultName* names;
  std::size_t size;
};

extern const ResultNames kResultNames;

}  // namespace gprofml::simgpu::cupti
