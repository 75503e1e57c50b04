#include "injection/api_rules.hpp"

#include <cstddef>
#include <cstring>

#include "libprofile/spool/options.hpp"

namespace gprofml::injection {
namespace {

// Names without cu/cuda in front and without suffixes; a star stands for any ending. Left out on
// purpose: queries of streams and events, which programs poll by the million.
constexpr const char* kRecorded[] = {
    // initialise: what makes and ends contexts and streams takes long, and has to be named
    "Init", "InitDevice", "SetDevice", "DeviceReset", "DevicePrimaryCtxRetain",
    "DevicePrimaryCtxReset", "DevicePrimaryCtxRelease", "CtxCreate*", "CtxDestroy", "StreamCreate*",
    "StreamDestroy",
    // launch
    "Launch*", "GraphLaunch",
    // copy and fill
    "Memcpy*", "Memset*", "MemPrefetch*", "MemDiscardAndPrefetch*",
    // synchronise
    "DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize", "StreamSynchronize",
    "EventSynchronize",
    // record and await
    "EventRecord*", "StreamWaitEvent", "CtxRecordEvent", "CtxWaitEvent", "GreenCtxRecordEvent",
    "GreenCtxWaitEvent", "StreamWaitValue*", "StreamWriteValue*", "StreamBatchMemOp",
    "SignalExternalSemaphores*", "WaitExternalSemaphores*",
    // allocate and free
    "Malloc*", "Free*", "HostAlloc", "MemAlloc*", "MemFree*", "MemHostAlloc", "MemCreate",
    "MemRelease", "MemMap", "MemUnmap", "MemMapArrayAsync", "MemSetAccess", "MemAddressReserve",
    "MemAddressFree", "MemPoolCreate", "MemPoolDestroy", "MemPoolTrimTo", "ArrayCreate",
    "Array3DCreate", "ArrayDestroy", "MipmappedArrayCreate", "MipmappedArrayDestroy",
    // load code
    "ModuleLoad*", "ModuleUnload", "LibraryLoad*", "LibraryUnload", "LinkComplete", "InitModule",
    // graphs
    "GraphInstantiate*", "GraphUpload", "GraphExecUpdate",
    // host memory
    "HostRegister", "HostUnregister", "MemHostRegister", "MemHostUnregister"};

// A launch by <<<>>> is the launch and two calls that only carry its configuration.
constexpr const char* kNoisy[] = {"GetDevice",
                                  "GetLastError",
                                  "PeekAtLastError",
                                  "StreamIsCapturing",
                                  "CtxGetCurrent",
                                  "CtxGetDevice",
                                  "KernelGetAttribute",
                                  "DevicePrimaryCtxGetState",
                                  "PointerGetAttribute",
                                  "PointerGetAttributes",
                                  "PushCallConfiguration",
                                  "PopCallConfiguration"};

constexpr const char* kGraphLaunches[] = {"GraphLaunch"};

constexpr const char* kSubmitting[] = {"Launch*",      "GraphLaunch",
                                       "Memcpy*",      "Memset*",
                                       "MemPrefetch*", "MemDiscardAndPrefetch*"};

bool matches(const char* pattern, const char* name, std::size_t length) {
  const std::size_t pattern_length = std::strlen(pattern);
  if (pattern[pattern_length - 1] == '*') {
    return length >= pattern_length - 1 && std::strncmp(pattern, name, pattern_length - 1) == 0;
  }
  return length == pattern_length && std::strncmp(pattern, name, length) == 0;
}

const char* without_prefix(const char* name) {
  while (*name == '_') ++name;  // __cudaLaunchKernel, what <<<>>> calls since CUDA 13
  if (std::strncmp(name, "cuda", 4) == 0) return name + 4;
  return std::strncmp(name, "cu", 2) == 0 ? name + 2 : name;
}

template <std::size_t kCount>
bool is_one_of(const char* const (&patterns)[kCount], const char* name) {
  name = without_prefix(name);
  const std::size_t length = std::strcspn(name, "_");
  for (const char* pattern : patterns) {
    if (matches(pattern, name, length)) return true;
  }
  return false;
}

bool records_whole_graphs(std::uint32_t groups) {
  return (groups & spool::kGraphNodes) == 0;
}

}  // namespace

bool is_recorded_call(const char* name, std::uint32_t groups) {
  if ((groups & spool::kAllCalls) != 0) return !is_one_of(kNoisy, name);
  if ((groups & spool::kLaunches) != 0) return is_one_of(kRecorded, name);
  return records_whole_graphs(groups) && is_one_of(kGraphLaunches, name);
}

bool records_calls(std::uint32_t groups) {
  return (groups & (spool::kAllCalls | spool::kLaunches)) != 0 || records_whole_graphs(groups);
}

bool submits_work(const char* name) {
  return is_one_of(kSubmitting, name);
}

bool is_call(const char* name, const char* plain) {
  name = without_prefix(name);
  return matches(plain, name, std::strcspn(name, "_"));
}

}  // namespace gprofml::injection
