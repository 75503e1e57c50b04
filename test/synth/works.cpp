#include "test/synth/works.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace gprofml::synth {
namespace {

const char* direction(profile::CopyKind kind) {
  using profile::CopyKind;
  switch (kind) {
    case CopyKind::host_to_device:
      return "HtoD";
    case CopyKind::device_to_host:
      return "DtoH";
    case CopyKind::device_to_device:
      return "DtoD";
    case CopyKind::host_to_host:
      return "HtoH";
    case CopyKind::peer_to_peer:
      return "PtoP";
    default:
      throw std::invalid_argument("copy_work knows no name for this kind of copy");
  }
}

const char* memory(profile::MemoryKind kind) {
  using profile::MemoryKind;
  switch (kind) {
    case MemoryKind::pageable:
      return "Pageable";
    case MemoryKind::pinned:
      return "Pinned";
    case MemoryKind::device:
      return "Device";
    default:
      throw std::invalid_argument("copy_work knows no name for this kind of memory");
  }
}

}  // namespace

Work kernel_work(std::string name, Nanoseconds duration_ns) {
  Work work;
  work.name = std::move(name);
  work.duration_ns = duration_ns;
  return work;
}

Work communication_work(std::string name, Nanoseconds duration_ns) {
  Work work = kernel_work(std::move(name), duration_ns);
  work.kind = WorkKind::communication;
  return work;
}

Work copy_work(profile::CopyKind kind, profile::MemoryKind source, profile::MemoryKind target,
               std::int64_t bytes, Nanoseconds duration_ns) {
  Work work = kernel_work(
      fmt::format("Memcpy {} ({} -> {})", direction(kind), memory(source), memory(target)),
      duration_ns);
  work.kind = WorkKind::copy;
  work.bytes = bytes;
  work.copy_kind = kind;
  work.source_memory = source;
  work.target_memory = target;
  return work;
}

Work fill_work(std::int64_t bytes, Nanoseconds duration_ns) {
  Work work = kernel_work("Memset (Device)", duration_ns);
  work.kind = WorkKind::fill;
  work.bytes = bytes;
  work.target_memory = profile::MemoryKind::device;
  return work;
}

}  // namespace gprofml::synth
