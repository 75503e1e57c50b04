// CUPTI behind a table of functions, found when the program runs and never linked: what a version
// of CUPTI lacks is a null pointer here and disables one feature.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "injection/mailbox.hpp"

namespace gprofml::injection {

/// Every function of CUPTI that is used; X(name) for each, without "cupti".
#define GPROFML_CUPTI_FUNCTIONS(X) \
  X(GetVersion)                    \
  X(GetResultString)               \
  X(GetTimestamp)                  \
  X(Subscribe)                     \
  X(EnableCallback)                \
  X(GetCallbackName)               \
  X(SetThreadIdType)               \
  X(GetGraphId)                    \
  X(GetGraphNodeId)                \
  X(ActivitySetAttribute)          \
  X(ActivityRegisterCallbacks)     \
  X(ActivityEnable)                \
  X(ActivityDisable)               \
  X(ActivityEnableDriverApi)       \
  X(ActivityEnableRuntimeApi)      \
  X(ActivityGetNextRecord)         \
  X(ActivityGetNumDroppedRecords)  \
  X(ActivityFlushAll)

/// cuptiSubscribe_v2 and its parameters, which headers before 13.0 do not have.
struct SubscriberParameters {
  std::size_t struct_size;
  const char* name;
  char* other_name;
  std::size_t other_name_room;
};
using SubscribeV2 = CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                                    SubscriberParameters*);

struct CuptiLibrary {
#define GPROFML_CUPTI_MEMBER(name) decltype(&::cupti##name) name = nullptr;
  GPROFML_CUPTI_FUNCTIONS(GPROFML_CUPTI_MEMBER)
#undef GPROFML_CUPTI_MEMBER
  // Newer than the oldest CUPTI that is supported; nobody misses them there.
  SubscribeV2 subscribe_v2 = nullptr;
  CUptiResult (*enable_all_sync_records)(std::uint8_t) = nullptr;
  CUptiResult (*enable_allocation_source)(std::uint8_t) = nullptr;
  decltype(&::cuptiActivityConfigureUnifiedMemoryCounter) configure_unified_memory = nullptr;

  std::uint32_t version = 0;
  bool is_simulated = false;

  /// What a result means, never nullptr.
  const char* text(CUptiResult result) const;
  /// Whether what a recording cannot do without is there.
  bool is_usable() const;
};

/// Opens the CUPTI that belongs to this program and says in facts and notes which it is. False,
/// with the fact `cuda` posted, when there is none.
bool open_cupti(CuptiLibrary& library, Mailbox& mailbox);

/// Where CUPTI may lie, best place first: calls `try_path(const char*)` until one returns true.
/// Paths through a folder of stubs are noted and left out.
bool search_cupti(bool (*try_path)(const char* path, void* argument), void* argument,
                  Mailbox& mailbox);

/// Takes CUPTI's clock if the program has loaded CUPTI already (the simulator preloads its own).
void use_clock_of_loaded_cupti();

}  // namespace gprofml::injection
