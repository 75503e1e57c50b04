#include "injection/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12"};

void* loaded_cupti() {
  for (const char* soname : kSonames) {
    if (void* handle = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD)) return handle;
  }
  return nullptr;
}

/// dlerror() texts name the library and what it lacks.
bool try_open(const char* path, void* argument) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  *static_cast<void**>(argument) = handle;
  return handle != nullptr;
}

void fill_table(CuptiLibrary& library, void* handle, Mailbox& mailbox) {
  char missing[1024] = {};
  std::size_t used = 0;
  const auto find = [&](const char* symbol) {
    void* function = dlsym(handle, symbol);
    if (function == nullptr && used + std::strlen(symbol) + 2 < sizeof missing) {
      used += static_cast<std::size_t>(
          std::snprintf(missing + used, sizeof missing - used, "%s%s", used ? " " : "", symbol));
    }
    return function;
  };
#define GPROFML_CUPTI_FIND(name) \
  library.name = reinterpret_cast<decltype(library.name)>(find("cupti" #name));
  GPROFML_CUPTI_FUNCTIONS(GPROFML_CUPTI_FIND)
#undef GPROFML_CUPTI_FIND
  library.subscribe_v2 = reinterpret_cast<SubscribeV2>(dlsym(handle, "cuptiSubscribe_v2"));
  library.enable_all_sync_records = reinterpret_cast<decltype(library.enable_all_sync_records)>(
      dlsym(handle, "cuptiActivityEnableAllSyncRecords"));
  library.enable_allocation_source = reinterpret_cast<decltype(library.enable_allocation_source)>(
      dlsym(handle, "cuptiActivityEnableAllocationSource"));
  library.configure_unified_memory = reinterpret_cast<decltype(library.configure_unified_memory)>(
      dlsym(handle, "cuptiActivityConfigureUnifiedMemoryCounter"));
  if (used > 0) mailbox.note("cupti_lacks_functions", missing);
}

void post_identity(CuptiLibrary& library, void* handle, Mailbox& mailbox) {
  Dl_info info{};
  void* any = dlsym(handle, "cuptiGetVersion");
  if (any != nullptr && dladdr(any, &info) != 0 && info.dli_fname != nullptr) {
    char absolute[4096];  // PATH_MAX
    mailbox.fact("cupti_path",
                 realpath(info.dli_fname, absolute) != nullptr ? absolute : info.dli_fname);
  }
  if (library.GetVersion != nullptr && library.GetVersion(&library.version) == CUPTI_SUCCESS) {
    char text[16];
    std::snprintf(text, sizeof text, "%u", library.version);
    mailbox.fact("cupti_version", text);
  }
  library.is_simulated = dlsym(handle, "gprofml_simulated") != nullptr ||
                         dlsym(RTLD_DEFAULT, "gprofml_simulated") != nullptr;
  if (library.is_simulated) mailbox.fact("simulated", "1");
}

void take_clock(decltype(&::cuptiGetTimestamp) function) {
  // The same but for the result, an enumeration that is passed as the int that it is.
  cupti_clock.store(reinterpret_cast<TimestampFunction>(function), std::memory_order_relaxed);
}

}  // namespace

const char* CuptiLibrary::text(CUptiResult result) const {
  const char* text = nullptr;
  if (GetResultString == nullptr || GetResultString(result, &text) != CUPTI_SUCCESS ||
      text == nullptr) {
    return "no text";
  }
  return text;
}

bool CuptiLibrary::is_usable() const {
  return (Subscribe != nullptr || subscribe_v2 != nullptr) &&
         ActivityRegisterCallbacks != nullptr && ActivityEnable != nullptr &&
         ActivityGetNextRecord != nullptr && ActivityFlushAll != nullptr;
}

bool open_cupti(CuptiLibrary& library, Mailbox& mailbox) {
  void* handle = loaded_cupti();
  if (handle == nullptr && !search_cupti(try_open, &handle, mailbox)) {
    mailbox.fact("cuda",
                 "CUPTI was not found: looked at what the program has loaded, beside its "
                 "CUDA runtime, in $CUDA_HOME, /usr/local/cuda and the library path");
    return false;
  }
  fill_table(library, handle, mailbox);
  post_identity(library, handle, mailbox);
  if (!library.is_usable()) {
    mailbox.fact("cuda", "the CUPTI that was found lacks functions that recording needs");
    return false;
  }
  if (library.GetTimestamp != nullptr) take_clock(library.GetTimestamp);
  return true;
}

void use_clock_of_loaded_cupti() {
  if (cuda_is_lost() || cupti_clock.load(std::memory_order_relaxed) != nullptr) return;
  void* handle = loaded_cupti();
  if (handle == nullptr) return;
  auto* function =
      reinterpret_cast<decltype(&::cuptiGetTimestamp)>(dlsym(handle, "cuptiGetTimestamp"));
  if (function != nullptr) take_clock(function);
}

}  // namespace gprofml::injection
