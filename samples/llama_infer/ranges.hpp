// NVTX ranges in the default domain. Without a tool that listens, each costs a few nanoseconds.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

namespace llama_infer {

/// Whether there are any. Set once, before the first.
inline bool ranges_are_made = true;

/// Names that are made at run time and come up in each step: registered once, so that no text is
/// handed to the tool again.
class RegisteredName {
 public:
  explicit RegisteredName(const std::string& name)
      : handle_(ranges_are_made ? nvtxDomainRegisterStringA(nullptr, name.c_str()) : nullptr) {}
  nvtxStringHandle_t handle() const { return handle_; }

 private:
  nvtxStringHandle_t handle_;
};

/// "layer_0", "layer_1" ...
inline std::vector<RegisteredName> layer_names(int layers) {
  std::vector<RegisteredName> names;
  names.reserve(static_cast<std::size_t>(layers));
  for (int i = 0; i < layers; ++i) names.emplace_back("layer_" + std::to_string(i));
  return names;
}

/// A range of the calling thread, from construction to destruction.
class Range {
 public:
  explicit Range(const char* name) {
    if (ranges_are_made) nvtxRangePushA(name);
  }
  explicit Range(const RegisteredName& name) {
    if (!ranges_are_made) return;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = name.handle();
    nvtxRangePushEx(&attributes);
  }
  ~Range() {
    if (ranges_are_made) nvtxRangePop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace llama_infer
