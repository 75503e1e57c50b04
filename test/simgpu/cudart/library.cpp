// Libraries that a program loads itself, and their kernels.
#include "test/simgpu/cudart/common.hpp"

namespace gprofml::simgpu::runtime {
namespace {

CUlibrary library_of(cudaLibrary_t library) {
  return reinterpret_cast<CUlibrary>(library);
}

template <class Load>
cudaError_t load(cudaLibrary_t* library, Load&& driver_load) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(driver_load(reinterpret_cast<CUlibrary*>(library)))
                              : ready;
}

}  // namespace

// Options are about compilation, and nothing is compiled.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, enum cudaJitOption*,
                                void**, unsigned, enum cudaLibraryOption*, void**, unsigned) {
  return load(library, [code](CUlibrary* made) {
    return cuLibraryLoadData(made, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, enum cudaJitOption*,
                                    void**, unsigned, enum cudaLibraryOption*, void**, unsigned) {
  return load(library, [path](CUlibrary* made) {
    return cuLibraryLoadFromFile(made, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return error_of(cuLibraryUnload(library_of(library)));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return error_of(
      cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel), library_of(library), name));
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return with_context([&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library_of(library),
                              name);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute name,
                                            int value, int device) {
  return error_of(cuKernelSetAttribute(static_cast<CUfunction_attribute>(name), value,
                                       reinterpret_cast<CUkernel>(kernel), device));
}

}  // namespace gprofml::simgpu::runtime
