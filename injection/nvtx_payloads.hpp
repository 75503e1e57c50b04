// Colour and payloads of an NVTX event on their way into a ring, and the events that carry them.
//
// What a payload points to is copied in the callback, at most kMostPayloadBytes an event and
// without a look at its layout: that is the reader's. More is cut off and counted.
#pragma once

#include <cstddef>
#include <cstdint>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>

#include "injection/event_ring.hpp"

namespace gprofml::injection {

inline constexpr std::size_t kMostPayloadBytes = 4096;
inline constexpr std::size_t kMostPayloads = 16;

/// Bytes of a value of a predefined type (NVTX_PAYLOAD_ENTRY_TYPE_*), 0: none of one size.
std::size_t size_of_type(std::uint64_t type);

/// Refers to what the program passed; lives as long as the call.
class Extras {
 public:
  /// Colour and payload of the attributes, which are whole.
  explicit Extras(const nvtxEventAttributes_t& attributes);
  Extras(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count) {
    add_all(&domain, payloads, count);
  }
  Extras(const Extras&) = delete;
  Extras& operator=(const Extras&) = delete;

  /// Length in a ring, a multiple of 8.
  std::size_t bytes() const { return bytes_; }
  void copy_to(unsigned char* target) const;

 private:
  struct Part {
    const void* data;
    std::uint64_t schema;
    std::uint32_t bytes;
    std::uint32_t whole_bytes;
  };

  void add_payload_of(const nvtxEventAttributes_t& attributes);
  void add_all(const Domain* domain, const nvtxPayloadData_t* payloads, std::size_t count);
  void add(std::uint64_t schema, const void* data, std::size_t bytes);

  std::uint32_t color_ = 0;
  bool has_color_ = false;
  std::uint16_t parts_ = 0;
  std::size_t bytes_ = sizeof(EventExtras);
  std::size_t left_ = kMostPayloadBytes;
  Part part_[kMostPayloads];
};

/// The domain of a handle that the program passed; a handle that we never gave is counted and
/// stands for the default domain.
const Domain& domain_of(nvtxDomainHandle_t handle);

// The functions of nvtx.cpp for events that have nothing but payloads.
int push_with(const Domain& domain, const Extras& extras);
int pop_with(const Domain& domain, const Extras& extras);
void mark_with(const Domain& domain, const Extras& extras);
nvtxRangeId_t start_with(const Domain& domain, const Extras& extras);
void end_with(const Domain& domain, nvtxRangeId_t range, const Extras& extras);

/// Payloads may name this string by its handle.
void register_handle(const RegisteredString& string);

/// Takes over the functions of an extension module (an nvtxExtModuleInfo_t): payloads, counters.
void attach_to_extension(const nvtxExtModuleInfo_t& module);

}  // namespace gprofml::injection
