// As much of CUDA's runtime as llama_infer uses, carried out on the host: kernels really compute.
//
// It stands in the place of NVIDIA's header when the sample's device code is compiled as C++ (after
// launches.py has written its launches as calls). Slow, but every index, barrier and shuffle of the
// kernels is exercised without a GPU. What it cannot show: races, and what ptxas makes of the code.
//
// Each thread of a block is a fiber. One runs until it waits or ends; when none can run, those
// whose whole group (the warp for a shuffle, the block for __syncthreads) waits go on. A group that
// can never be complete ends the program, where a GPU would hang or worse. Memory that is allocated
// is filled with NaNs.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  template <typename X = int, typename Y = int>
  dim3(X columns = 1, Y rows = 1)
      : x(static_cast<unsigned>(columns)), y(static_cast<unsigned>(rows)) {}
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace host_cuda {

constexpr unsigned kWarp = 32;
constexpr std::size_t kStackBytes = 64 * 1024;

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "host_cuda: %s\n", what);
  std::abort();
}

enum class State { kRuns, kWaitsForWarp, kWaitsForBlock, kEnded };

/// A thread, made once and used for one block after the other. It begins in a context of its own;
/// from then on jumps lead in and out, for they cost no system call.
struct Fiber {
  ucontext_t beginning;
  jmp_buf place;
  bool has_begun = false;
  std::vector<char> stack = std::vector<char>(kStackBytes);
  State state = State::kEnded;
  dim3 thread;
  float exchanged = 0.0f;
};

/// The threads of the block that runs.
class Block {
 public:
  static Block& instance() {
    static Block block;
    return block;
  }

  void run(dim3 threads, std::function<void()> kernel) {
    kernel_ = std::move(kernel);
    count_ = threads.x * threads.y;
    while (fibers_.size() < count_) fibers_.push_back(std::make_unique<Fiber>());
    for (unsigned i = 0; i < count_; ++i) {
      fibers_[i]->state = State::kRuns;
      fibers_[i]->thread = dim3(i % threads.x, i / threads.x);
    }
    while (step()) release();
  }

  void wait(State state) {
    Fiber& fiber = *fibers_[current_];
    fiber.state = state;
    if (_setjmp(fiber.place) == 0) _longjmp(scheduler_, 1);
  }

  float exchange(float value, unsigned distance) {
    const unsigned self = current_;
    fibers_[self]->exchanged = value;
    wait(State::kWaitsForWarp);
    if ((self ^ distance) >= count_ || fibers_[self ^ distance]->state == State::kEnded) {
      fail("a shuffle with a lane that is not there");
    }
    const float other = fibers_[self ^ distance]->exchanged;
    wait(State::kWaitsForWarp);  // nobody overwrites before all have read
    return other;
  }

  std::vector<float> dynamic_shared;

 private:
  /// Lets a fiber run until it waits or ends.
  void resume(Fiber& fiber) {
    threadIdx = fiber.thread;
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.has_begun) _longjmp(fiber.place, 1);
    fiber.has_begun = true;
    getcontext(&fiber.beginning);
    fiber.beginning.uc_stack.ss_sp = fiber.stack.data();
    fiber.beginning.uc_stack.ss_size = fiber.stack.size();
    fiber.beginning.uc_link = nullptr;
    makecontext(&fiber.beginning, &Block::run_kernels, 0);
    setcontext(&fiber.beginning);
  }

  [[noreturn]] static void run_kernels() {
    for (Block& block = instance();;) {
      block.kernel_();
      block.wait(State::kEnded);
    }
  }

  /// Runs all that can; false when all have ended.
  bool step() {
    bool any_left = false;
    for (current_ = 0; current_ < count_; ++current_) {
      Fiber& fiber = *fibers_[current_];
      if (fiber.state == State::kRuns) resume(fiber);
      any_left = any_left || fiber.state != State::kEnded;
    }
    return any_left;
  }

  bool all_in(unsigned first, unsigned end, State state) const {
    for (unsigned i = first; i < end; ++i) {
      if (fibers_[i]->state != state) return false;
    }
    return true;
  }

  void release() {
    bool any = false;
    const auto let_go = [this, &any](unsigned first, unsigned end, State state) {
      if (!all_in(first, end, state)) return;
      for (unsigned i = first; i < end; ++i) fibers_[i]->state = State::kRuns;
      any = true;
    };
    let_go(0, count_, State::kWaitsForBlock);
    for (unsigned first = 0; first < count_; first += kWarp) {
      let_go(first, first + kWarp < count_ ? first + kWarp : count_, State::kWaitsForWarp);
    }
    if (!any) fail("a barrier or shuffle that not all threads of its group reach");
  }

  std::function<void()> kernel_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  unsigned count_ = 0, current_ = 0;
  jmp_buf scheduler_;
};

template <typename Element>
Element* dynamic_shared() {
  return reinterpret_cast<Element*>(Block::instance().dynamic_shared.data());
}

using Work = std::function<void()>;

/// Work is done at once, or put into the graph that is being captured.
inline std::vector<Work>* captured = nullptr;
inline void submit(Work work) {
  if (captured != nullptr) {
    captured->push_back(std::move(work));
  } else {
    work();
  }
}

/// What launches.py makes of kernel<<<grid, block, shared_bytes, stream>>>.
template <typename... Parameters>
auto launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes, void*) {
  return [=](std::decay_t<Parameters>... arguments) {
    submit([=] {
      Block::instance().dynamic_shared.assign(shared_bytes / sizeof(float), NAN);
      gridDim = grid;
      blockDim = block;
      for (unsigned y = 0; y < grid.y; ++y) {
        for (unsigned x = 0; x < grid.x; ++x) {
          blockIdx = dim3(x, y);
          Block::instance().run(block, [&] { kernel(arguments...); });
        }
      }
    });
  };
}

}  // namespace host_cuda

inline void __syncthreads() {
  host_cuda::Block::instance().wait(host_cuda::State::kWaitsForBlock);
}
inline float __shfl_xor_sync(unsigned, float value, int distance) {
  return host_cuda::Block::instance().exchange(value, static_cast<unsigned>(distance));
}

enum cudaError_t { cudaSuccess, cudaErrorNoDevice };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaStreamNonBlocking };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
using cudaStream_t = void*;
using cudaGraph_t = std::vector<host_cuda::Work>*;
using cudaGraphExec_t = std::vector<host_cuda::Work>*;
struct cudaDeviceProp {
  char name[32];
};

inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) {
  return "no error";
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  return *count = 1, cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "host_cuda");
  return cudaSuccess;
}

inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  std::memset(*memory, 0xff, bytes);  // NaNs
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFree(void* memory) {
  return std::free(memory), cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) {
  return std::free(memory), cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  host_cuda::submit([=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  host_cuda::submit([=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  if (host_cuda::captured != nullptr)
    host_cuda::fail("a stream that is captured cannot be awaited");
  return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  host_cuda::captured = new std::vector<host_cuda::Work>;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = host_cuda::captured;
  host_cuda::captured = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, int) {
  *executable = new std::vector<host_cuda::Work>(*graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const host_cuda::Work& work : *executable) work();
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return delete graph, cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return delete graph, cudaSuccess;
}
