// Launches from functions with known names, for tests that say which chain of them a recording must
// have found.
//
//   stacks chains          kernels, a copy, a fill, and a captured graph, each from its own chain
//   stacks deep DEPTH      a launch DEPTH calls deep
//   stacks many COUNT      COUNT launches from one place
//   stacks hostile         frame pointers of every bad kind, tiny stacks, signal stacks, coroutines
//   stacks threads         eight threads, each through chains of its own
//
// Compiled with frame pointers and without them; both must give the same chains.
#include <cuda_runtime.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define NOT_INLINED __attribute__((noinline, noclone))

__global__ void planted_kernel(float* values) {
  values[threadIdx.x] += 1.0f;
}

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "stacks: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr std::size_t kBytes = 1 << 12;
// Of each thread: what threads share they would have to share out.
thread_local float* values = nullptr;
thread_local cudaStream_t stream = nullptr;
thread_local volatile int calls_made =
    0;  // what stands behind a call keeps it from becoming a jump

void prepare() {
  REQUIRE(cudaMalloc(&values, kBytes));
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

}  // namespace

namespace planted {

NOT_INLINED void launch() {
  planted_kernel<<<1, 32, 0, stream>>>(values);
  ++calls_made;
}

NOT_INLINED void copy() {
  static thread_local char host[kBytes];
  REQUIRE(cudaMemcpyAsync(values, host, kBytes, cudaMemcpyHostToDevice, stream));
  ++calls_made;
}

NOT_INLINED void fill() {
  REQUIRE(cudaMemsetAsync(values, 0, kBytes, stream));
  ++calls_made;
}

NOT_INLINED void attention() {
  launch();
  ++calls_made;
}

NOT_INLINED void feed_forward() {
  launch();
  copy();
  ++calls_made;
}

NOT_INLINED void layer() {
  attention();
  feed_forward();
  ++calls_made;
}

NOT_INLINED void capture() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  attention();
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) REQUIRE(cudaGraphLaunch(executable, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  REQUIRE(cudaGraphExecDestroy(executable));
  REQUIRE(cudaGraphDestroy(graph));
}

/// Frames of different sizes, so that 4 KiB of stack hold few of them.
NOT_INLINED void deep(int depth) {
  volatile char room[200];
  room[0] = static_cast<char>(depth);
  if (depth == 0) {
    launch();
  } else {
    deep(depth - 1);
  }
  calls_made = calls_made + room[0];
}

NOT_INLINED void many(int count) {
  for (int i = 0; i < count; ++i) launch();
  ++calls_made;
}

NOT_INLINED void nothing() {
  ++calls_made;
}

/// Launches with a frame pointer that points to `garbage`.
NOT_INLINED void launch_with_frame_pointer(std::size_t garbage) {
  nothing();  // a function that calls others keeps its stack aligned and has no red zone
#if defined(__x86_64__)
  void (*function)() = launch;
  __asm__ volatile(
      "mov %%rbp, %%r12\n\t"
      "mov %0, %%rbp\n\t"
      "call *%1\n\t"
      "mov %%r12, %%rbp"
      : "+D"(garbage), "+a"(function)
      :
      : "r12", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#else
  (void)garbage;
  launch();
#endif
  nothing();
}

ucontext_t main_context, coroutine_context;

NOT_INLINED void coroutine() {
  launch();
  ++calls_made;
}

NOT_INLINED void run_coroutine(void* memory, std::size_t bytes) {
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = memory;
  coroutine_context.uc_stack.ss_size = bytes;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, coroutine, 0);
  swapcontext(&main_context, &coroutine_context);
}

NOT_INLINED void on_signal(int) {
  launch();
  ++calls_made;
}

void* tiny_thread(void*) {
  prepare();
  launch();
  ++calls_made;
  return nullptr;
}

NOT_INLINED void hostile() {
  // Frame pointers.
  char here = 0;
  const auto on_stack = reinterpret_cast<std::size_t>(&here);
  const std::size_t garbage[] = {0,
                                 1,
                                 8,
                                 ~std::size_t{0},
                                 ~std::size_t{7},
                                 on_stack & ~std::size_t{15},
                                 (on_stack | 15) + 1 + (std::size_t{1} << 20),
                                 (on_stack | 15) + 1 + (std::size_t{1} << 30),
                                 std::size_t{1} << 47,
                                 0xdeadbeefdeadbee8u};
  for (const std::size_t pointer : garbage) launch_with_frame_pointer(pointer);

  // A frame record that points to itself, and one whose stack ends behind it.
  std::size_t loop[2] = {reinterpret_cast<std::size_t>(loop), 0};
  launch_with_frame_pointer(reinterpret_cast<std::size_t>(loop));

  // A coroutine on a stack of its own, between pages that cannot be read.
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = 64 * page;
  char* memory = static_cast<char*>(mmap(nullptr, bytes + 2 * page, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  mprotect(memory + page, bytes, PROT_READ | PROT_WRITE);
  run_coroutine(memory + page, bytes);
  munmap(memory, bytes + 2 * page);
  // The same on the heap, and on the thread's own stack.
  void* heap = std::malloc(1 << 18);
  run_coroutine(heap, 1 << 18);
  std::free(heap);
  char inside[1 << 16];
  run_coroutine(inside, sizeof inside);

  // A signal on a stack of its own.
  stack_t alternative{};
  alternative.ss_size = 1 << 17;
  alternative.ss_sp = std::malloc(alternative.ss_size);
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);

  // A thread with as little stack as the system allows to speak of.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, tiny_thread, nullptr) == 0)
    pthread_join(thread, nullptr);
  ++calls_made;
}

void* thread_body(void*) {
  prepare();
  for (int i = 0; i < 50; ++i) {
    layer();
    deep(i % 5);
  }
  return nullptr;
}

NOT_INLINED void threads() {
  pthread_t started[8];
  for (pthread_t& thread : started) pthread_create(&thread, nullptr, thread_body, nullptr);
  for (pthread_t& thread : started) pthread_join(thread, nullptr);
  ++calls_made;
}

NOT_INLINED void chains() {
  layer();
  fill();
  capture();
  ++calls_made;
}

}  // namespace planted

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  prepare();
  if (std::strcmp(what, "chains") == 0) {
    planted::chains();
  } else if (std::strcmp(what, "deep") == 0) {
    planted::deep(number);
  } else if (std::strcmp(what, "many") == 0) {
    planted::many(number);
  } else if (std::strcmp(what, "hostile") == 0) {
    planted::hostile();
  } else if (std::strcmp(what, "threads") == 0) {
    planted::threads();
  } else {
    std::fprintf(stderr, "usage: stacks chains | deep DEPTH | many COUNT | hostile | threads\n");
    return 2;
  }
  REQUIRE(cudaDeviceSynchronize());
  return calls_made >= 0 ? 0 : 1;
}
