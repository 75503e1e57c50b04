#include <catch2/catch.hpp>

#include "libanalysis/graph/call_traits.hpp"
#include "libanalysis/graph/communication.hpp"

using namespace gprofml::analysis;

TEST_CASE("names are compared without vendor prefix and ABI suffix") {
  CHECK(bare_call_name("cudaMemcpyAsync_v3020") == "MemcpyAsync");
  CHECK(bare_call_name("cuMemcpyHtoDAsync_v2_ptsz") == "MemcpyHtoDAsync");
  CHECK(bare_call_name("hipDeviceSynchronize") == "DeviceSynchronize");
  CHECK(bare_call_name("cuLaunchKernel") == "LaunchKernel");
  CHECK(bare_call_name("customThing") == "customThing");  // "cu" not followed by a capital
  CHECK(bare_call_name("cudaEventRecord_ptsz") == "EventRecord");
  CHECK(bare_call_name("") == "");
  CHECK(bare_call_name("cuda") == "cuda");
}

TEST_CASE("what blocks by name") {
  CHECK(call_traits("cudaStreamSynchronize").blocking == Blocking::stream);
  CHECK(call_traits("cuEventSynchronize").blocking == Blocking::event);
  CHECK(call_traits("cudaDeviceSynchronize_v3020").blocking == Blocking::device);
  CHECK(call_traits("cuCtxSynchronize").blocking == Blocking::device);
  CHECK(call_traits("cudaThreadSynchronize").blocking == Blocking::device);
  for (const char* free : {"cudaFree", "cudaFreeHost", "hipHostFree", "cudaFreeArray",
                           "cuMemFree_v2", "cuMemFreeHost"}) {
    CHECK(call_traits(free).blocking == Blocking::free);
  }
  for (const char* other : {"cudaFreeAsync", "cuMemFreeAsync", "cudaEventQuery", "cudaStreamQuery",
                            "cudaMalloc", "cudaStreamWaitEvent", "cudaFreeMipmappedArray"}) {
    CHECK(call_traits(other).blocking == Blocking::no);
  }
}

TEST_CASE("what submits by name") {
  for (const char* name : {"cudaLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch",
                           "hipExtModuleLaunchKernel", "cudaMemcpyAsync", "cudaMemset"}) {
    CHECK(call_traits(name).submits);
  }
  CHECK_FALSE(call_traits("cudaMalloc").submits);
  CHECK_FALSE(
      call_traits("cudaLaunchHostFunc").submits);  // waits on a stream, but runs on the host
  CHECK_FALSE(call_traits("cuLaunchHostFunc_ptsz").submits);
  CHECK(call_traits("cudaGraphLaunch_v10000").graph_launch);
  CHECK(call_traits("hipMemcpyWithStream").copies);
  CHECK_FALSE(call_traits("hipMemcpyWithStream").async);
  CHECK(call_traits("cudaMemcpy2DAsync").async);
}

TEST_CASE("communication kernels by name, whatever the case") {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void AllReduceKernel<float>", "all_gather_x",
        "ReduceScatter", "reduce_scatter_kernel", "AllToAll", "all_toall",
        "cross_device_reduce_1stage", "multimem_all_reduce_kernel", "nvshmemi_put",
        "deep_ep::dispatch", "DeepEP_combine", "mscclKernel", "RCCL_Generic"}) {
    INFO(name);
    CHECK(is_communication_kernel(name));
  }
  for (const char* name :
       {"gemm", "all__reduce", "reduce_kernel<512>", "ncl", "cross_device_copy", "allto_al", ""}) {
    INFO(name);
    CHECK_FALSE(is_communication_kernel(name));
  }
}
