// Copies and fills: bytes really move, the time is the model's.
#include "test/simgpu/cuda/copy.hpp"

#include <cstring>

#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/effects.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/model.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

bool on_device(Memory memory) {
  return memory == Memory::device || memory == Memory::device_static || memory == Memory::managed;
}

/// Whether `bytes` from here lie in one allocation. Pageable memory is the program's business.
bool in_range(std::uint64_t address, std::size_t bytes) {
  const Allocation* allocation = allocation_of(address);
  return address != 0 &&
         (allocation == nullptr || address + bytes <= allocation->base + allocation->bytes);
}

std::size_t reach(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
                  std::size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

std::uint32_t device_at(std::uint64_t address) {
  const Allocation* allocation = allocation_of(address);
  return allocation != nullptr ? allocation->device : 0;
}

const Transfer& transfer_of(CopyKind kind, Memory source, Memory target) {
  const Model& costs = model();
  switch (kind) {
    case CopyKind::host_to_device:
      return source == Memory::pageable ? costs.pageable_to_device : costs.pinned_to_device;
    case CopyKind::device_to_host:
      return target == Memory::pageable ? costs.device_to_pageable : costs.device_to_pinned;
    case CopyKind::peer_to_peer:
      return costs.peer;
    case CopyKind::host_to_host:
      return costs.host_to_host;
    default:
      return costs.device_to_device;
  }
}

CopyKind kind_of_copy(Memory source, Memory target, std::uint32_t source_device,
                      std::uint32_t target_device) {
  if (!on_device(source)) {
    return on_device(target) ? CopyKind::host_to_device : CopyKind::host_to_host;
  }
  if (!on_device(target)) {
    return CopyKind::device_to_host;
  }
  const bool between_devices =
      source != Memory::managed && target != Memory::managed && source_device != target_device;
  return between_devices ? CopyKind::peer_to_peer : CopyKind::device_to_device;
}

void move_box(const Box& box) {
  for (std::size_t z = 0; z < box.depth; ++z) {
    for (std::size_t y = 0; y < box.height; ++y) {
      std::memmove(
          reinterpret_cast<void*>(box.target + z * box.target_slice + y * box.target_pitch),
          reinterpret_cast<const void*>(box.source + z * box.source_slice + y * box.source_pitch),
          box.width);
    }
  }
}

/// Whether one of the two contexts may reach the other's memory itself.
bool have_peer_access(std::uint64_t source, std::uint64_t target) {
  const Allocation* from = allocation_of(source);
  const Allocation* to = allocation_of(target);
  return from != nullptr && to != nullptr && from->context != nullptr && to->context != nullptr &&
         (from->context->peers.count(to->context) != 0 ||
          to->context->peers.count(from->context) != 0);
}

std::int64_t duration_of(const Copy& copy, const Box& box) {
  if (copy.kind == CopyKind::peer_to_peer && !have_peer_access(box.source, box.target)) {
    // Staged through the host: down to it and up from it.
    return model().device_to_pinned.duration_ns(copy.bytes) +
           model().pinned_to_device.duration_ns(copy.bytes);
  }
  return transfer_of(copy.kind, copy.source, copy.target).duration_ns(copy.bytes);
}

std::uint32_t context_id_of_pointer(std::uint64_t address) {
  const Allocation* allocation = allocation_of(address);
  return allocation != nullptr && allocation->context != nullptr ? allocation->context->id : 0;
}

/// Submits a copy or fill and waits for it where the call does.
CUresult run(EngineLock& lock, Operation operation, Stream* stream, bool wait) {
  if (stream == nullptr) {
    return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  }
  const bool staged =
      operation.kind == Operation::Kind::copy &&
      (operation.copy.source == Memory::pageable || operation.copy.target == Memory::pageable);
  if (wait && stream->capture != nullptr) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Submitted submitted;
  const CUresult result = submit(*stream, std::move(operation), &submitted);
  lock.release();
  if (result == CUDA_SUCCESS && !submitted.captured && (wait || staged)) {
    wait_for(submitted.pending);
    wait_until(submitted.end_ns);
  }
  return result;
}

CUresult copy_box(const Box& box, CUstream handle, bool asynchronous) {
  EngineLock lock;
  if (current_context() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (box.width == 0 || box.height == 0 || box.depth == 0) {
    return CUDA_SUCCESS;
  }
  Operation operation;
  const CUresult result = make_copy(box, asynchronous, &operation);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  // Between two places on devices the host does not wait, as documented.
  const bool wait = !asynchronous && operation.copy.kind != CopyKind::device_to_device &&
                    operation.copy.kind != CopyKind::peer_to_peer;
  return run(lock, std::move(operation), stream_of(handle), wait);
}

enum class Side : std::uint8_t { any, host, device };

CUresult copy_line(std::uint64_t target, std::uint64_t source, std::size_t bytes, CUstream stream,
                   bool asynchronous, Side target_side, Side source_side) {
  {
    EngineLock lock;
    const auto fits = [](std::uint64_t address, Side side) {
      const Memory memory = memory_kind(address);
      return side == Side::any || memory == Memory::managed || memory == Memory::pinned ||
             on_device(memory) == (side == Side::device);
    };
    if (bytes != 0 && (!fits(target, target_side) || !fits(source, source_side))) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  Box box;
  box.target = target;
  box.source = source;
  box.width = bytes;
  return copy_box(box, stream, asynchronous);
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

CUresult fill(CUdeviceptr target, std::size_t pitch, unsigned value, unsigned element,
              std::size_t width, std::size_t height, CUstream handle, bool asynchronous) {
  EngineLock lock;
  if (current_context() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (width == 0 || height == 0) {
    return CUDA_SUCCESS;
  }
  Operation operation;
  const CUresult result =
      make_fill(target, pitch, value, element, width, height, asynchronous, &operation);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  const bool wait = !asynchronous && operation.fill.memory != Memory::device &&
                    operation.fill.memory != Memory::device_static;
  return run(lock, std::move(operation), stream_of(handle), wait);
}

CUresult box_of(const CUDA_MEMCPY3D& p, Box* box) {
  const auto address = [](CUmemorytype type, const void* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? address_of(host)
                                      : (type == CU_MEMORYTYPE_ARRAY ? 0 : std::uint64_t{device});
  };
  if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY || p.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  box->width = p.WidthInBytes;
  box->height = p.Height;
  box->depth = p.Depth;
  box->source_pitch = p.srcPitch != 0 ? p.srcPitch : p.WidthInBytes;
  box->target_pitch = p.dstPitch != 0 ? p.dstPitch : p.WidthInBytes;
  box->source_slice = box->source_pitch * (p.srcHeight != 0 ? p.srcHeight : p.Height);
  box->target_slice = box->target_pitch * (p.dstHeight != 0 ? p.dstHeight : p.Height);
  box->source = address(p.srcMemoryType, p.srcHost, p.srcDevice) + p.srcXInBytes +
                p.srcY * box->source_pitch + p.srcZ * box->source_slice;
  box->target = address(p.dstMemoryType, p.dstHost, p.dstDevice) + p.dstXInBytes +
                p.dstY * box->target_pitch + p.dstZ * box->target_slice;
  return box->width > box->source_pitch || box->width > box->target_pitch ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
}

CUresult copy_3d(const CUDA_MEMCPY3D* parameters, CUstream stream, bool asynchronous) {
  Box box;
  if (parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUresult result = box_of(*parameters, &box);
  return result == CUDA_SUCCESS ? copy_box(box, stream, asynchronous) : result;
}

CUDA_MEMCPY3D in_3d(const CUDA_MEMCPY2D& p) {
  CUDA_MEMCPY3D result{};
  result.srcXInBytes = p.srcXInBytes;
  result.srcY = p.srcY;
  result.srcMemoryType = p.srcMemoryType;
  result.srcHost = p.srcHost;
  result.srcDevice = p.srcDevice;
  result.srcPitch = p.srcPitch;
  result.dstXInBytes = p.dstXInBytes;
  result.dstY = p.dstY;
  result.dstMemoryType = p.dstMemoryType;
  result.dstHost = p.dstHost;
  result.dstDevice = p.dstDevice;
  result.dstPitch = p.dstPitch;
  result.WidthInBytes = p.WidthInBytes;
  result.Height = p.Height;
  result.Depth = 1;
  return result;
}

CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& p) {
  CUDA_MEMCPY3D result{};
  result.srcXInBytes = p.srcXInBytes;
  result.srcY = p.srcY;
  result.srcZ = p.srcZ;
  result.srcMemoryType = p.srcMemoryType;
  result.srcHost = p.srcHost;
  result.srcDevice = p.srcDevice;
  result.srcPitch = p.srcPitch;
  result.srcHeight = p.srcHeight;
  result.dstXInBytes = p.dstXInBytes;
  result.dstY = p.dstY;
  result.dstZ = p.dstZ;
  result.dstMemoryType = p.dstMemoryType;
  result.dstHost = p.dstHost;
  result.dstDevice = p.dstDevice;
  result.dstPitch = p.dstPitch;
  result.dstHeight = p.dstHeight;
  result.WidthInBytes = p.WidthInBytes;
  result.Height = p.Height;
  result.Depth = p.Depth;
  return result;
}

/// Whether every copy of a batch has one set of attributes, of a kind that exists.
bool valid_attributes(const CUmemcpyAttributes* attributes, const std::size_t* first_copies,
                      std::size_t attribute_count, std::size_t count) {
  if (attributes == nullptr || first_copies == nullptr || attribute_count == 0 ||
      attribute_count > count || first_copies[0] != 0) {
    return false;
  }
  for (std::size_t i = 0; i < attribute_count; ++i) {
    const bool in_order = i == 0 || first_copies[i] > first_copies[i - 1];
    const int access = attributes[i].srcAccessOrder;
    if (!in_order || first_copies[i] >= count || access < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        access > CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
      return false;
    }
  }
  return true;
}

}  // namespace

CUresult make_copy(const Box& box, bool asynchronous, Operation* operation) {
  if (!in_range(box.target,
                reach(box.width, box.height, box.depth, box.target_pitch, box.target_slice)) ||
      !in_range(box.source,
                reach(box.width, box.height, box.depth, box.source_pitch, box.source_slice))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Copy& copy = operation->copy;
  operation->kind = Operation::Kind::copy;
  copy.source = memory_kind(box.source);
  copy.target = memory_kind(box.target);
  copy.source_device = device_at(box.source);
  copy.target_device = device_at(box.target);
  copy.source_context_id = context_id_of_pointer(box.source);
  copy.target_context_id = context_id_of_pointer(box.target);
  copy.kind = kind_of_copy(copy.source, copy.target, copy.source_device, copy.target_device);
  copy.asynchronous = asynchronous;
  copy.bytes = box.width * box.height * box.depth;
  operation->duration_ns = duration_of(copy, box);
  operation->effect = [box] { move_box(box); };
  return CUDA_SUCCESS;
}

CUresult make_copy(const CUDA_MEMCPY3D& parameters, bool asynchronous, Operation* operation) {
  Box box;
  CUresult result = box_of(parameters, &box);
  if (result == CUDA_SUCCESS) {
    result = make_copy(box, asynchronous, operation);
  }
  operation->copy_parameters = parameters;
  return result;
}

CUresult make_fill(CUdeviceptr target, std::size_t pitch, unsigned value, unsigned element,
                   std::size_t width, std::size_t height, bool asynchronous, Operation* operation) {
  const std::size_t row = width * element;
  if (height > 1 && pitch < row) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (target % element != 0 || allocation_of(target) == nullptr ||
      !in_range(target, reach(row, height, 1, pitch, 0))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  operation->kind = Operation::Kind::fill;
  operation->fill.memory = memory_kind(target);
  operation->fill.asynchronous = asynchronous;
  operation->fill.bytes = row * height;
  operation->fill.value = value;
  operation->duration_ns = model().fill.duration_ns(row * height);
  operation->effect = [=] {
    for (std::size_t y = 0; y < height; ++y) {
      auto* at = reinterpret_cast<unsigned char*>(target + y * pitch);
      if (element == 1) {
        std::memset(at, static_cast<int>(value), width);
        continue;
      }
      for (std::size_t i = 0; i < width; ++i) {
        std::memcpy(at + i * element, &value, element);
      }
    }
  };
  operation->fill_parameters.dst = target;
  operation->fill_parameters.pitch = pitch;
  operation->fill_parameters.value = value;
  operation->fill_parameters.elementSize = element;
  operation->fill_parameters.width = width;
  operation->fill_parameters.height = height;
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return copy_line(target, source, bytes, nullptr, false, Side::any, Side::any);
}

CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_line(target, source, bytes, stream, true, Side::any, Side::any);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  return copy_line(target, address_of(source), bytes, nullptr, false, Side::device, Side::host);
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  return copy_line(address_of(target), source, bytes, nullptr, false, Side::host, Side::device);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return copy_line(target, source, bytes, nullptr, false, Side::device, Side::device);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                              CUstream stream) {
  return copy_line(target, address_of(source), bytes, stream, true, Side::device, Side::host);
}

CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_line(address_of(target), source, bytes, stream, true, Side::host, Side::device);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_line(target, source, bytes, stream, true, Side::device, Side::device);
}

CUresult cuMemcpyPeer(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes) {
  return copy_line(target, source, bytes, nullptr, false, Side::device, Side::device);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext,
                           size_t bytes, CUstream stream) {
  return copy_line(target, source, bytes, stream, true, Side::device, Side::device);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* parameters) {
  return copy_3d(parameters, nullptr, false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* parameters, CUstream stream) {
  return copy_3d(parameters, stream, true);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* parameters) {
  if (parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUDA_MEMCPY3D box = without_contexts(*parameters);
  return copy_3d(&box, nullptr, false);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* parameters, CUstream stream) {
  if (parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUDA_MEMCPY3D box = without_contexts(*parameters);
  return copy_3d(&box, stream, true);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* targets, CUdeviceptr* sources, size_t* bytes,
                               size_t count, CUmemcpyAttributes* attributes, size_t* first_copies,
                               size_t attribute_count, CUstream handle) {
  if (targets == nullptr || sources == nullptr || bytes == nullptr ||
      !valid_attributes(attributes, first_copies, attribute_count, count)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  {
    const EngineLock lock;
    const Stream* stream = stream_of(handle);
    if (stream == nullptr || stream->flag == StreamInfo::Flag::null_stream) {
      return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
  }
  // In order: the batch promises none among its copies.
  CUresult result = CUDA_SUCCESS;
  for (std::size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    result = copy_line(targets[i], sources[i], bytes[i], handle, true, Side::any, Side::any);
  }
  return result;
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* parameters) {
  const CUDA_MEMCPY3D box = in_3d(*parameters);
  return copy_3d(&box, nullptr, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* parameters) {
  return driver::cuMemcpy2D_v2(parameters);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* parameters, CUstream stream) {
  const CUDA_MEMCPY3D box = in_3d(*parameters);
  return copy_3d(&box, stream, true);
}

CUresult cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t count) {
  return fill(target, count, value, 1, count, 1, nullptr, false);
}

CUresult cuMemsetD16_v2(CUdeviceptr target, unsigned short value, size_t count) {
  return fill(target, count * 2, value, 2, count, 1, nullptr, false);
}

CUresult cuMemsetD32_v2(CUdeviceptr target, unsigned value, size_t count) {
  return fill(target, count * 4, value, 4, count, 1, nullptr, false);
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return fill(target, count, value, 1, count, 1, stream, true);
}

CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return fill(target, count * 2, value, 2, count, 1, stream, true);
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return fill(target, count * 4, value, 4, count, 1, stream, true);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return fill(target, pitch, value, 1, width, height, nullptr, false);
}

CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return fill(target, pitch, value, 1, width, height, stream, true);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  return fill(target, pitch, value, 4, width, height, nullptr, false);
}

CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return fill(target, pitch, value, 4, width, height, stream, true);
}

}  // namespace gprofml::simgpu::driver
