// Ends the program when a CUDA call fails, saying where and why.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// A macro, for it names its place and the call.
#define LLAMA_CHECK(call)                                                             \
  do {                                                                                \
    const cudaError_t llama_error = (call);                                           \
    if (llama_error != cudaSuccess) {                                                 \
      std::fprintf(stderr, "llama_infer: %s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(llama_error));                                  \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (false)
