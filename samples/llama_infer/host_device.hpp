// Marks functions that compile for both sides, the host and the device.
#pragma once

#ifdef __CUDACC__
#define LLAMA_HOST_DEVICE __host__ __device__
#else
#define LLAMA_HOST_DEVICE
#endif
