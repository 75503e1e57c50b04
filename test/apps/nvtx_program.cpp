// A program that uses NVTX and nothing else: nvtx_program MODE [COUNT]. It says "ready" once all
// its ranges are done, then, by MODE:
//   exit    returns 7
//   wait    waits for a line on standard input, makes one more range and returns 0
//   endless makes ranges named by the time at which they began, and prints each, until it is killed
//   fork    has a child make the ranges, as a forked worker does
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

void make_ranges(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
  }
}

long long now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Each range and each line carry the same time, so that the last line says what can be missing.
[[noreturn]] void make_endless_ranges() {
  while (true) {
    const std::string name = std::to_string(now_ns());
    nvtxRangePushA(name.c_str());
    nvtxRangePop();
    std::puts(name.c_str());
    usleep(1000);
  }
}

int fork_ranges(int count) {
  const pid_t child = fork();
  if (child == 0) {
    make_ranges(count);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "exit";
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (mode == "endless") make_endless_ranges();
  if (mode == "fork") return fork_ranges(count);
  make_ranges(count);
  std::puts("ready");
  if (mode == "exit") return 7;
  std::getchar();
  make_ranges(1);
  return 0;
}
