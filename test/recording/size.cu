// Programs that do much of one thing, and say how much.
//
//   size launches N           N kernels one by one on four streams, waiting every 1,000
//   size replays NODES TIMES  a graph of NODES kernels, captured in the range "captured_step" with
//                             one range a layer of ten, replayed TIMES times
//
// The last line is "kernels=K calls=C waits=W loop_ns=T peak_kib=P": kernels run, calls that launched
// them, synchronisations, wall time of it all but the preparation, and the process's largest
// resident size.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "size: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

__global__ void work(float* value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *value += 1.0f;
}

struct Done {
  long kernels = 0;
  long calls = 0;
  long waits = 0;
  long long loop_ns = 0;
};

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Done launches(long count, float* value) {
  constexpr long kBetweenWaits = 1000;
  cudaStream_t streams[4];
  for (cudaStream_t& stream : streams) REQUIRE(cudaStreamCreate(&stream));
  Done done;
  work<<<1, 64>>>(value);  // the first of a kernel takes longer
  REQUIRE(cudaDeviceSynchronize());
  const long long begin_ns = now_ns();
  for (long i = 0; i < count; ++i) {
    work<<<static_cast<unsigned>(1 + i % 7), 64, 0, streams[i % 4]>>>(value);
    if (i % kBetweenWaits == kBetweenWaits - 1) {
      REQUIRE(cudaDeviceSynchronize());
      ++done.waits;
    }
  }
  REQUIRE(cudaGetLastError());
  done.loop_ns = now_ns() - begin_ns;
  done.kernels = done.calls = count + 1;
  ++done.waits;
  return done;
}

Done replays(long nodes, long times, float* value) {
  constexpr long kLayer = 10;
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  nvtxRangePushA("captured_step");
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (long i = 0; i < nodes; ++i) {
    if (i % kLayer == 0) nvtxRangePushA(("layer_" + std::to_string(i / kLayer)).c_str());
    work<<<16, 64, 0, stream>>>(value);
    if (i % kLayer == kLayer - 1 || i == nodes - 1) nvtxRangePop();
  }
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  nvtxRangePop();
  cudaGraphExec_t executable;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
  Done done;
  const long long begin_ns = now_ns();
  for (long i = 0; i < times; ++i) {
    REQUIRE(cudaGraphLaunch(executable, stream));
    if (i % 10 == 9) {
      REQUIRE(cudaStreamSynchronize(stream));
      ++done.waits;
    }
  }
  REQUIRE(cudaStreamSynchronize(stream));
  ++done.waits;
  done.loop_ns = now_ns() - begin_ns;
  done.kernels = nodes * times;
  done.calls = times;
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  float* value = nullptr;
  REQUIRE(cudaMalloc(&value, sizeof *value));
  Done done;
  if (argc == 3 && std::strcmp(argv[1], "launches") == 0) {
    done = launches(std::atol(argv[2]), value);
  } else if (argc == 4 && std::strcmp(argv[1], "replays") == 0) {
    done = replays(std::atol(argv[2]), std::atol(argv[3]), value);
  } else {
    std::fprintf(stderr, "usage: size launches N | size replays NODES TIMES\n");
    return 2;
  }
  REQUIRE(cudaDeviceSynchronize());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("kernels=%ld calls=%ld waits=%ld loop_ns=%lld peak_kib=%ld\n", done.kernels,
              done.calls, done.waits + 1, done.loop_ns, usage.ru_maxrss);
  return 0;
}
