// One program for test_ends.py: works, has done to it (or does to itself) what the first argument
// names, and ends. What it prints and writes does not depend on whether it is recorded.
//
//   ways_to_end WAY [ARGUMENT [ARGUMENT]]
//
// The work is counted in the grids of its kernels, 1, 2, 3 …, each in a range "step". Ways that end
// without exit handlers first wait until what they did is on disk (`settle`), for a recorder may
// lose the last moments of such a process; then a little more work follows, which may be lost.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <nvtx3/nvToolsExt.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

#define REQUIRE(call)                                                                      \
  do {                                                                                     \
    const int result = static_cast<int>(call);                                             \
    if (result != 0) {                                                                     \
      std::fprintf(stderr, "line %d: %s: %d, errno %d\n", __LINE__, #call, result, errno); \
      _exit(99);                                                                           \
    }                                                                                      \
  } while (false)

__global__ void step(int*) {}
/// The last kernel before settle() waits: where its name is in a spool, all before it is too.
__global__ void settled_marker() {}

int* memory = nullptr;
unsigned steps_done = 0;
std::string argument, second_argument;

void start() {
  if (memory == nullptr) REQUIRE(cudaMalloc(&memory, 4096));
}

void steps(unsigned count) {
  start();
  for (unsigned i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    step<<<++steps_done, 32>>>(memory);
    REQUIRE(cudaMemsetAsync(memory, 0, 4096));
    REQUIRE(cudaStreamSynchronize(nullptr));
    nvtxRangePop();
  }
}

void pause_ms(int milliseconds) {
  usleep(static_cast<useconds_t>(milliseconds) * 1000);
}

/// Bytes of this process's spool, empty without one.
std::string own_spool() {
  const char* const folder = std::getenv("GPROFML_SPOOL_DIR");
  if (folder == nullptr) return {};
  const std::string pid = "-" + std::to_string(getpid()) + "-";
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find(pid) == std::string::npos) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    bytes += text.str();
  }
  return bytes;
}

/// Waits, when somebody records, until all work so far is on disk.
void settle() {
  settled_marker<<<1, 1>>>();
  REQUIRE(cudaStreamSynchronize(nullptr));
  std::size_t size = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = own_spool();
    const bool is_there = bytes.find("settled_marker") != std::string::npos;
    if (bytes.empty() || (is_there && bytes.size() == size)) return;
    size = bytes.size();
    pause_ms(10);
  }
  std::fprintf(stderr, "settle: the marker never reached the spool\n");
}

void say_lowest_descriptor() {
  const int descriptor = open("/dev/null", O_RDONLY);
  std::printf("lowest free descriptor %d\n", descriptor);
  close(descriptor);
}

/// In two writes: beyond a limit the first ends at it, the second fails.
void write_file(const char* name, const std::string& text) {
  const int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  for (int i = 0; i < 2; ++i) {
    const ssize_t written = write(file, text.data(), text.size());
    std::printf("%s: wrote %zd, errno %d\n", name, written, written < 0 ? errno : 0);
  }
  close(file);
}

int say_status(const char* what, pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) status = -1;
  std::printf("%s ended with %d\n", what, status);
  std::fflush(stdout);
  return 0;
}

// --- ends by itself --------------------------------------------------------------------------

int by_return() {
  steps(20);
  return 5;
}

int by_exit() {
  steps(20);
  std::exit(6);
}

int by_exit_of_a_thread() {
  steps(20);
  std::thread([] { std::exit(7); }).join();
  return 1;
}

/// Everything that ends without exit handlers.
int abruptly() {
  steps(20);
  settle();
  steps(3);
  std::fflush(stdout);
  if (argument == "_exit") _exit(8);
  if (argument == "quick_exit") std::quick_exit(9);
  if (argument == "abort") std::abort();
  if (argument == "SIGTERM") raise(SIGTERM);
  if (argument == "SIGKILL") raise(SIGKILL);
  if (argument == "SIGSEGV") raise(SIGSEGV);
  if (argument == "pthread_exit") pthread_exit(nullptr);  // of the main thread, the only one
  return 1;
}

int by_exec() {
  steps(20);
  settle();
  // Not execl(): only this one has the simulator write its log first.
  char name[] = "ways_to_end", way[] = "return";
  char* arguments[] = {name, way, nullptr};
  execve("/proc/self/exe", arguments, environ);
  return 1;
}

/// A handler from before CUDA runs after those of CUDA's libraries and of whoever records.
void late_work() {
  steps(4);
  std::printf("a late handler did %u steps in all\n", steps_done);
}

int late_handler() {
  std::atexit(late_work);
  steps(20);
  return 0;
}

/// 31 handlers of ours wait for the flush; none of them may eat one of the program's.
int many_handlers() {
  for (int i = 0; i < 40; ++i) std::atexit([] { std::printf("handler "); });
  steps(20);
  for (int i = 0; i < 40; ++i) std::atexit([] { std::printf("later "); });
  return 0;
}

// --- children ----------------------------------------------------------------------------------

int fork_later() {
  steps(20);
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("of a child without CUDA");
    nvtxRangePop();
    if (argument == "_exit") _exit(3);
    if (argument == "abort") std::abort();
    std::exit(3);
  }
  say_status("child", child);
  steps(5);
  return 0;
}

int fork_first() {
  const pid_t child = fork();
  if (child == 0) {
    steps(7);
    if (argument == "_exit") {
      settle();
      _exit(3);
    }
    std::exit(3);
  }
  say_status("child", child);
  steps(20);
  return 0;
}

int by_vfork() {
  steps(10);
  pid_t child = vfork();
  // Not _exit(): the simulator would write the parent's log, in a child that shares its memory.
  if (child == 0) syscall(SYS_exit_group, 3);
  say_status("vfork", child);
  child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "echo from the child; exit 4", nullptr);
    _exit(127);
  }
  say_status("vfork and exec", child);
  steps(10);
  return 0;
}

int by_posix_spawn() {
  steps(10);
  char name[] = "ways_to_end", way[] = "return";
  char* arguments[] = {name, way, nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ));
  say_status("posix_spawn", child);
  steps(10);
  return 0;
}

int by_system() {
  steps(10);
  std::printf("system: %d\n", std::system("echo by system; exit 4"));
  steps(10);
  return 0;
}

int by_popen() {
  steps(10);
  FILE* const pipe = popen("echo by popen; exit 5", "r");
  char text[64] = {};
  REQUIRE(std::fgets(text, sizeof text, pipe) == nullptr ? 1 : 0);
  std::printf("popen: %s%d\n", text, pclose(pipe));
  steps(10);
  return 0;
}

/// Neither pthread_atfork nor anything else of libc knows of this child.
int raw_clone() {
  steps(10);
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) syscall(SYS_exit_group, 3);
  say_status("clone", static_cast<pid_t>(child));
  steps(10);
  return 0;
}

// --- what it does to itself ----------------------------------------------------------------------

void close_from_3() {
  REQUIRE(syscall(SYS_close_range, 3U, ~0U, 0U));
}

/// Afterwards files of its own get the numbers that somebody may have had.
int close_range_at_the_start() {
  close_from_3();
  steps(20);
  say_lowest_descriptor();
  return 0;
}

int close_range_in_the_middle() {
  steps(10);
  close_from_3();
  std::vector<int> files;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "own-" + std::to_string(i % 20);
    files.push_back(open(name.c_str(), O_CREAT | O_RDWR, 0644));
  }
  std::printf("first %d\n", files.front());
  steps(10);
  settle();
  for (int i = 0; i < 20; ++i) REQUIRE(write(files[static_cast<std::size_t>(i)], "own", 3) != 3);
  return 0;
}

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit));
}

/// The limit is hit by whoever writes more than it: the recorder must not bring the signal here.
int limited_file_size() {
  steps(10);
  std::signal(SIGXFSZ, [](int) { write_file("signal.txt", "the program's own"); });
  settle();
  limit_files(24 * 1024);
  steps(2000);
  write_file("large.txt", std::string(64 * 1024, 'x'));
  return 4;
}

/// As before, but the program dies of its own large file.
int died_of_file_size() {
  steps(10);
  settle();
  std::fflush(stdout);
  limit_files(1024);
  const int file = open("large.txt", O_CREAT | O_WRONLY, 0644);
  for (int i = 0; i < 3; ++i) {
    const ssize_t written = write(file, std::string(2048, 'x').data(), 2048);
    std::fprintf(stderr, "wrote %zd\n", written);
  }
  return 1;
}

void become_nobody() {
  REQUIRE(setgroups(0, nullptr));
  REQUIRE(setgid(65534));
  REQUIRE(setuid(65534));
}

int nobody_first() {
  become_nobody();
  steps(20);
  std::printf("uid %d\n", static_cast<int>(getuid()));
  return 0;
}

int nobody_later() {
  steps(10);
  become_nobody();
  steps(10);
  std::printf("uid %d\n", static_cast<int>(getuid()));
  return 0;
}

void change_root() {
  REQUIRE(mkdir("root", 0755) != 0 && errno != EEXIST ? 1 : 0);
  REQUIRE(chroot("root"));
  REQUIRE(chdir("/"));
}

int chroot_later() {
  steps(10);
  change_root();
  steps(10);
  write_file("inside", "inside");
  return 0;
}

/// The recorder can neither write nor open its file again.
int chroot_and_close() {
  steps(10);
  settle();
  change_root();
  close_from_3();
  steps(10);
  return 0;
}

/// Removes what the recorder writes to, as `rm -rf` of a temporary folder would.
int folder_removed() {
  steps(10);
  settle();
  const char* const folder = std::getenv("GPROFML_SPOOL_DIR");
  if (folder != nullptr) std::filesystem::remove_all(folder);
  steps(10);
  return 0;
}

int many_signals_blocked() {
  std::signal(SIGUSR1, [](int) {});
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  steps(10);
  kill(getpid(), SIGUSR1);
  sigset_t pending;
  sigpending(&pending);
  std::printf("SIGUSR1 pending: %d\n", sigismember(&pending, SIGUSR1));
  steps(10);
  return 0;
}

// --- what is done to it -----------------------------------------------------------------------

/// Says in a file that it works and goes on when another is there.
int wait_for_go() {
  steps(10);
  settle();
  steps(argument.empty() ? 10 : static_cast<unsigned>(std::atoi(argument.c_str())));
  std::fflush(stdout);
  close(open("waiting", O_CREAT | O_WRONLY, 0644));
  for (int i = 0; i < 30000 && access("go", F_OK) != 0; ++i) pause_ms(1);
  steps(20);
  write_file("result.txt", "all done\n");
  return 6;
}

/// Fills whatever disk its spool is on.
int much() {
  steps(10);
  settle();
  steps(static_cast<unsigned>(std::atoi(argument.c_str())));
  return 4;
}

// --- CUDA at odds ------------------------------------------------------------------------------

int context_reset() {
  steps(20);
  REQUIRE(cudaDeviceReset());
  memory = nullptr;
  steps(10);
  return 0;
}

/// Kernels of modules that come and go; the name of one may then lie where another's was.
int modules() {
  start();
  for (int i = 0; i < 6; ++i) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    REQUIRE(cudaLibraryLoadData(&library, "any image", nullptr, nullptr, 0, nullptr, nullptr, 0));
    const std::string name = "kernel_of_module_" + std::to_string(i);
    REQUIRE(cudaLibraryGetKernel(&kernel, library, name.c_str()));
    void* arguments[] = {&memory};
    for (int round = 0; round < 5; ++round) {
      REQUIRE(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(32), arguments, 0,
                               nullptr));
    }
    REQUIRE(cudaDeviceSynchronize());
    REQUIRE(cudaLibraryUnload(library));
  }
  return 0;
}

/// A graph of so many kernels, launched so often.
int graph() {
  start();
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream));
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const int count = std::atoi(argument.c_str());
  const int launches = std::atoi(second_argument.c_str());
  for (int i = 0; i < count; ++i) step<<<static_cast<unsigned>(i + 1), 32, 0, stream>>>(memory);
  REQUIRE(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, captured, 0));
  for (int i = 0; i < launches; ++i) REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  return 0;
}

/// Another CUPTI than the one that belongs to the program is there first.
int two_cuptis() {
  void* const other = dlopen(argument.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(other == nullptr ? 1 : 0);
  steps(20);
  return 0;
}

// --- exit() by many threads ----------------------------------------------------------------------

int exits_of_many() {
  steps(20);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&ready] {
      ++ready;
      while (ready.load() < 8) {
      }
      std::exit(5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 1;
}

const std::map<std::string, std::function<int()>> kWays{
    {"return", by_return},
    {"exit", by_exit},
    {"exit_of_a_thread", by_exit_of_a_thread},
    {"abruptly", abruptly},
    {"exec", by_exec},
    {"late_handler", late_handler},
    {"many_handlers", many_handlers},
    {"fork_later", fork_later},
    {"fork_first", fork_first},
    {"vfork", by_vfork},
    {"posix_spawn", by_posix_spawn},
    {"system", by_system},
    {"popen", by_popen},
    {"raw_clone", raw_clone},
    {"close_range_at_the_start", close_range_at_the_start},
    {"close_range_in_the_middle", close_range_in_the_middle},
    {"limited_file_size", limited_file_size},
    {"died_of_file_size", died_of_file_size},
    {"nobody_first", nobody_first},
    {"nobody_later", nobody_later},
    {"chroot_later", chroot_later},
    {"chroot_and_close", chroot_and_close},
    {"folder_removed", folder_removed},
    {"many_signals_blocked", many_signals_blocked},
    {"wait_for_go", wait_for_go},
    {"much", much},
    {"context_reset", context_reset},
    {"modules", modules},
    {"graph", graph},
    {"two_cuptis", two_cuptis},
    {"exits_of_many", exits_of_many},
};

}  // namespace

int main(int count, char** arguments) {
  const auto way = kWays.find(count > 1 ? arguments[1] : "");
  if (way == kWays.end()) {
    std::fprintf(stderr, "usage: ways_to_end WAY [ARGUMENT [ARGUMENT]]\n");
    return 2;
  }
  if (count > 2) argument = arguments[2];
  if (count > 3) second_argument = arguments[3];
  say_lowest_descriptor();
  return way->second();
}
