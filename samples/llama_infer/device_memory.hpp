// Owners of memory that a CUDA program uses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "samples/llama_infer/cuda_check.hpp"

namespace llama_infer {

enum class MemoryKind { kDevice, kPinnedHost };

/// An array that is allocated once. Its memory is not initialised.
template <typename Element, MemoryKind kKind>
class CudaArray {
 public:
  explicit CudaArray(std::size_t size) : size_(size) {
    void** address = reinterpret_cast<void**>(&data_);
    if constexpr (kKind == MemoryKind::kDevice) {
      LLAMA_CHECK(cudaMalloc(address, size * sizeof(Element)));
    } else {
      LLAMA_CHECK(cudaMallocHost(address, size * sizeof(Element)));
    }
  }
  /// Errors are left out: they would be those of earlier work, and nobody could act on them here.
  ~CudaArray() {
    if constexpr (kKind == MemoryKind::kDevice) {
      cudaFree(data_);
    } else {
      cudaFreeHost(data_);
    }
  }
  CudaArray(const CudaArray&) = delete;
  CudaArray& operator=(const CudaArray&) = delete;

  Element* get() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(Element); }

 private:
  Element* data_ = nullptr;
  std::size_t size_;
};

template <typename Element>
using DeviceArray = CudaArray<Element, MemoryKind::kDevice>;
template <typename Element>
using PinnedArray = CudaArray<Element, MemoryKind::kPinnedHost>;

}  // namespace llama_infer
