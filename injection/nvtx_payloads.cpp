#include "injection/nvtx_payloads.hpp"

#include <cstring>

#include "injection/recorder.hpp"
#include "injection/registrations.hpp"

namespace gprofml::injection {
namespace {

std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

void count_cut() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->payloads_cut.fetch_add(1, std::memory_order_relaxed);
  }
}

std::uint32_t in_32_bits(std::size_t bytes) {
  return bytes < 0xffffffffu ? static_cast<std::uint32_t>(bytes) : 0xffffffffu;
}

/// What a schema says of its size, for a program that leaves it to us; 0: nothing.
std::size_t size_of_schema(const Domain* domain, std::uint64_t schema) {
  if (const std::size_t known = size_of_type(schema)) return known;
  const SchemaRegistration* found = domain == nullptr ? nullptr : find_schema(*domain, schema);
  return found == nullptr ? 0 : found->record.static_bytes;
}

}  // namespace

std::size_t size_of_type(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return 2;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
      return 4;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return 8;
    default:
      return 0;
  }
}

void Extras::add(std::uint64_t schema, const void* data, std::size_t bytes) {
  if (parts_ == kMostPayloads || data == nullptr) return count_cut();
  const std::size_t kept = bytes < left_ ? bytes : left_;
  if (kept < bytes) count_cut();
  part_[parts_++] = {data, schema, static_cast<std::uint32_t>(kept), in_32_bits(bytes)};
  left_ -= kept;
  bytes_ += sizeof(PayloadPart) + padded(kept);
}

void Extras::add_all(const Domain* domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  if (payloads == nullptr) {
    if (count > 0) count_cut();
    return;
  }
  if (count > kMostPayloads) {
    count_cut();
    count = kMostPayloads;
  }
  for (std::size_t at = 0; at < count; ++at) {
    const nvtxPayloadData_t& payload = payloads[at];
    std::size_t bytes = payload.size;
    if (bytes == ~std::size_t{0}) bytes = size_of_schema(domain, payload.schemaId);
    if (bytes == 0) {
      if (payload.size != 0) count_cut();
      continue;
    }
    add(payload.schemaId, payload.payload, bytes);
  }
}

Extras::Extras(const nvtxEventAttributes_t& attributes) {
  if (attributes.colorType == NVTX_COLOR_ARGB) {
    has_color_ = true;
    color_ = attributes.color;
  }
  add_payload_of(attributes);
}

void Extras::add_payload_of(const nvtxEventAttributes_t& attributes) {
  const auto& value = attributes.payload;
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, &value, sizeof value.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_INT64, &value, sizeof value.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &value, sizeof value.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, &value, sizeof value.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_INT32, &value, sizeof value.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return add(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, &value, sizeof value.fValue);
    case NVTX_PAYLOAD_TYPE_EXT: {
      const auto address = static_cast<std::uintptr_t>(value.ullValue);
      const std::int32_t count = attributes.reserved0;
      return add_all(nullptr, reinterpret_cast<const nvtxPayloadData_t*>(address),
                     count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    default:
      return;
  }
}

void Extras::copy_to(unsigned char* target) const {
  const EventExtras head{color_, has_color_, parts_};
  std::memcpy(target, &head, sizeof head);
  target += sizeof head;
  for (std::uint16_t at = 0; at < parts_; ++at) {
    const Part& part = part_[at];
    const PayloadPart described{part.schema, part.bytes, part.whole_bytes};
    std::memcpy(target, &described, sizeof described);
    target += sizeof described;
    std::memcpy(target, part.data, part.bytes);
    target += padded(part.bytes);
  }
}

}  // namespace gprofml::injection
