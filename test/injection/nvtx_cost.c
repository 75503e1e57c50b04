// What an NVTX range costs the program: prints the median over many bursts of the time that one
// push and pop take. Bursts are short enough that no ring fills up, which would make them cheaper.
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kBursts = 101, kPairs = 2000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(void) {
  double per_pair[kBursts];
  nvtxRangePushA("the first call starts the recorder");
  nvtxRangePop();
  for (int burst = 0; burst < kBursts; ++burst) {
    const double start = now_ns();
    for (int pair = 0; pair < kPairs; ++pair) {
      nvtxRangePushA("a range with a name of usual length");
      nvtxRangePop();
    }
    per_pair[burst] = (now_ns() - start) / kPairs;
    usleep(20000);
  }
  qsort(per_pair, kBursts, sizeof per_pair[0], ascending);
  printf("%.1f ns a pair, least %.1f\n", per_pair[kBursts / 2], per_pair[0]);
  return 0;
}
