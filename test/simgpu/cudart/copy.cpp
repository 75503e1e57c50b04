// Copies and fills.
#include "test/simgpu/cudart/copy.hpp"

#include <cstring>
#include <vector>

// The driver's per-thread twins, which cuda.h declares for its own use only.
extern "C" {
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void*, size_t);
CUresult cuMemcpyDtoH_v2_ptds(void*, CUdeviceptr, size_t);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpy_ptds(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D*);
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER*);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr, unsigned char, size_t);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr, size_t, unsigned char, size_t, size_t);
}

namespace gprofml::simgpu::runtime {
namespace {

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

bool is_device(const void* pointer) {
  unsigned type = 0;
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer)) ==
             CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_DEVICE;
}

cudaError_t copy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return with_context([&]() -> CUresult {
    const bool own = per_thread();
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return own ? cuMemcpyHtoD_v2_ptds(address(target), source, bytes)
                   : cuMemcpyHtoD(address(target), source, bytes);
      case cudaMemcpyDeviceToHost:
        return own ? cuMemcpyDtoH_v2_ptds(target, address(source), bytes)
                   : cuMemcpyDtoH(target, address(source), bytes);
      case cudaMemcpyDeviceToDevice:
        return own ? cuMemcpyDtoD_v2_ptds(address(target), address(source), bytes)
                   : cuMemcpyDtoD(address(target), address(source), bytes);
      case cudaMemcpyHostToHost:
      case cudaMemcpyDefault:
        return own ? cuMemcpy_ptds(address(target), address(source), bytes)
                   : cuMemcpy(address(target), address(source), bytes);
    }
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  });
}

cudaError_t copy_async(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  return with_context([&]() -> CUresult {
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync(address(target), source, bytes, stream_of(stream));
      case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync(target, address(source), bytes, stream_of(stream));
      case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync(address(target), address(source), bytes, stream_of(stream));
      case cudaMemcpyHostToHost:
      case cudaMemcpyDefault:
        return cuMemcpyAsync(address(target), address(source), bytes, stream_of(stream));
    }
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  });
}

cudaError_t copy_box(const CUDA_MEMCPY3D& box, bool asynchronous, cudaStream_t stream) {
  return with_context([&] {
    if (asynchronous) {
      return cuMemcpy3DAsync(&box, stream_of(stream));
    }
    return per_thread() ? cuMemcpy3D_v2_ptds(&box) : cuMemcpy3D(&box);
  });
}

/// The part of a variable that a symbol copy is about; false: out of its bounds.
bool part_of(const void* symbol, std::size_t bytes, std::size_t offset, char** pointer) {
  const Variable variable = variable_of(symbol);
  *pointer = reinterpret_cast<char*>(variable.address) + offset;
  return variable.address != 0 && offset <= variable.bytes && bytes <= variable.bytes - offset;
}

cudaError_t symbol_error(const void* symbol) {
  return variable_of(symbol).address == 0 ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
}

CUDA_MEMCPY3D_PEER peer_box(const cudaMemcpy3DPeerParms& p) {
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = p.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = address(p.srcPtr.ptr);
  box.srcPitch = p.srcPtr.pitch;
  box.srcHeight = p.srcPtr.ysize;
  box.srcXInBytes = p.srcPos.x;
  box.srcY = p.srcPos.y;
  box.srcZ = p.srcPos.z;
  box.srcContext = primary_context(p.srcDevice);
  box.dstMemoryType = p.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  box.dstDevice = address(p.dstPtr.ptr);
  box.dstPitch = p.dstPtr.pitch;
  box.dstHeight = p.dstPtr.ysize;
  box.dstXInBytes = p.dstPos.x;
  box.dstY = p.dstPos.y;
  box.dstZ = p.dstPos.z;
  box.dstContext = primary_context(p.dstDevice);
  box.WidthInBytes = p.extent.width;
  box.Height = p.extent.height;
  box.Depth = p.extent.depth;
  return box;
}

}  // namespace

bool fits(cudaMemcpyKind kind, const void* target, const void* source) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return is_device(target);
    case cudaMemcpyDeviceToHost:
      return is_device(source);
    case cudaMemcpyDeviceToDevice:
      return is_device(source) && is_device(target);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

CUDA_MEMCPY3D box_2d(void* target, std::size_t target_pitch, const void* source,
                     std::size_t source_pitch, std::size_t width, std::size_t height,
                     cudaMemcpyKind) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = address(source);
  box.srcPitch = source_pitch;
  box.dstDevice = address(target);
  box.dstPitch = target_pitch;
  box.WidthInBytes = width;
  box.Height = height;
  box.Depth = 1;
  return box;
}

CUDA_MEMCPY3D box_1d(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return box_2d(target, bytes, source, bytes, bytes, 1, kind);
}

CUDA_MEMCPY3D box_3d(const cudaMemcpy3DParms& p) {
  CUDA_MEMCPY3D box = box_2d(p.dstPtr.ptr, p.dstPtr.pitch, p.srcPtr.ptr, p.srcPtr.pitch,
                             p.extent.width, p.extent.height, p.kind);
  box.srcMemoryType = p.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : box.srcMemoryType;
  box.dstMemoryType = p.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : box.dstMemoryType;
  box.srcXInBytes = p.srcPos.x;
  box.srcY = p.srcPos.y;
  box.srcZ = p.srcPos.z;
  box.srcHeight = p.srcPtr.ysize;
  box.dstXInBytes = p.dstPos.x;
  box.dstY = p.dstPos.y;
  box.dstZ = p.dstPos.z;
  box.dstHeight = p.dstPtr.ysize;
  box.Depth = p.extent.depth;
  return box;
}

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, enum cudaMemcpyKind kind) {
  return copy(target, source, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_async(target, source, bytes, kind, stream);
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
  return copy_box(box_2d(target, target_pitch, source, source_pitch, width, height, kind), false,
                  nullptr);
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_box(box_2d(target, target_pitch, source, source_pitch, width, height, kind), true,
                  stream);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* parameters) {
  return parameters == nullptr ? cudaErrorInvalidValue
                               : copy_box(box_3d(*parameters), false, nullptr);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return parameters == nullptr ? cudaErrorInvalidValue
                               : copy_box(box_3d(*parameters), true, stream);
}

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes) {
  return with_context([&] {
    return cuMemcpyPeer(address(target), primary_context(target_device), address(source),
                        primary_context(source_device), bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream) {
  return with_context([&] {
    return cuMemcpyPeerAsync(address(target), primary_context(target_device), address(source),
                             primary_context(source_device), bytes, stream_of(stream));
  });
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* parameters) {
  return with_context([&] {
    if (parameters == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUDA_MEMCPY3D_PEER box = peer_box(*parameters);
    return per_thread() ? cuMemcpy3DPeer_ptds(&box) : cuMemcpy3DPeer(&box);
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* parameters,
                                  cudaStream_t stream) {
  return with_context([&] {
    if (parameters == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUDA_MEMCPY3D_PEER box = peer_box(*parameters);
    return cuMemcpy3DPeerAsync(&box, stream_of(stream));
  });
}

cudaError_t cudaMemcpyBatchAsync(void* const* targets, const void* const* sources,
                                 const size_t* bytes, size_t count,
                                 struct cudaMemcpyAttributes* attributes, size_t* first_copies,
                                 size_t attribute_count, cudaStream_t stream) {
  static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
  return with_context([&] {
    if (targets == nullptr || sources == nullptr || bytes == nullptr || attributes == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::vector<CUdeviceptr> to;
    std::vector<CUdeviceptr> from;
    for (std::size_t i = 0; i < count; ++i) {
      to.push_back(address(targets[i]));
      from.push_back(address(sources[i]));
    }
    std::vector<std::size_t> sizes(bytes, bytes + count);
    std::vector<CUmemcpyAttributes> driver_attributes(attribute_count);
    if (attribute_count != 0) {
      std::memcpy(driver_attributes.data(), attributes,
                  attribute_count * sizeof(CUmemcpyAttributes));
    }
    return cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), count, driver_attributes.data(),
                              first_copies, attribute_count, stream_of(stream));
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
  char* target = nullptr;
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  return part_of(symbol, bytes, offset, &target) ? copy(target, source, bytes, kind)
                                                 : symbol_error(symbol);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
  char* target = nullptr;
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  return part_of(symbol, bytes, offset, &target) ? copy_async(target, source, bytes, kind, stream)
                                                 : symbol_error(symbol);
}

cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
  char* source = nullptr;
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  return part_of(symbol, bytes, offset, &source) ? copy(target, source, bytes, kind)
                                                 : symbol_error(symbol);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  char* source = nullptr;
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  return part_of(symbol, bytes, offset, &source) ? copy_async(target, source, bytes, kind, stream)
                                                 : symbol_error(symbol);
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return with_context([&] {
    const auto byte = static_cast<unsigned char>(value);
    return per_thread() ? cuMemsetD8_v2_ptds(address(target), byte, bytes)
                        : cuMemsetD8(address(target), byte, bytes);
  });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
  return with_context([&] {
    return cuMemsetD8Async(address(target), static_cast<unsigned char>(value), bytes,
                           stream_of(stream));
  });
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return with_context([&] {
    const auto byte = static_cast<unsigned char>(value);
    return per_thread() ? cuMemsetD2D8_v2_ptds(address(target), pitch, byte, width, height)
                        : cuMemsetD2D8(address(target), pitch, byte, width, height);
  });
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return with_context([&] {
    return cuMemsetD2D8Async(address(target), pitch, static_cast<unsigned char>(value), width,
                             height, stream_of(stream));
  });
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr target, int value, struct cudaExtent extent) {
  return runtime::cudaMemset2D(
      target.ptr, target.pitch, value, extent.width,
      target.ysize == extent.height ? extent.height * extent.depth : extent.height);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr target, int value, struct cudaExtent extent,
                              cudaStream_t stream) {
  return runtime::cudaMemset2DAsync(
      target.ptr, target.pitch, value, extent.width,
      target.ysize == extent.height ? extent.height * extent.depth : extent.height, stream);
}

}  // namespace gprofml::simgpu::runtime
