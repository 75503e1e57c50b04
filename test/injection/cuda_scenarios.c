// A program that "initialises CUDA" as the driver does it: opens CUDA_INJECTION64_PATH and calls
// InitializeInjection. Then it has old_cupti.c hand over its records, if that is the CUPTI in use.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(void* cupti, const char* name) {
  void (*function)(void) = NULL;
  if (cupti != NULL) *(void**)&function = dlsym(cupti, name);
  if (function != NULL) function();
}

static void initialise_cuda(void) {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  int (*initialize)(void) = NULL;
  if (library != NULL) *(void**)&initialize = dlsym(library, "InitializeInjection");
  if (initialize != NULL && initialize() != 1) printf("the recorder stops CUDA\n");
}

static void launch_late(void) {
  call(dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD), "old_cupti_launch");
}

int main(int count, char** arguments) {
  const char* scenario = count > 1 ? arguments[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(scenario, "late") == 0) atexit(launch_late);  // runs after the recorder's
  nvtxRangePushA("before CUDA");
  initialise_cuda();
  initialise_cuda();
  void* cupti = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
  call(cupti, "old_cupti_run");
  if (strcmp(scenario, "again") == 0) call(cupti, "old_cupti_run_again");
  if (strcmp(scenario, "break") == 0) call(cupti, "old_cupti_break");
  if (strcmp(scenario, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      initialise_cuda();  // the driver refuses, but may have looked at the variable before
      call(cupti, "old_cupti_tell_graph");
      nvtxRangePushA("child");
      nvtxRangePop();
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        nvtxRangePushA("grandchild");
        nvtxRangePop();
        exit(0);
      }
      waitpid(grandchild, NULL, 0);
      exit(0);
    }
    waitpid(child, NULL, 0);
  }
  nvtxRangePop();
  printf("done\n");
  return 6;
}
