/* Calls the real NCCL without a GPU: each call fails, but says through NVTX what it was to do. */
#include <dlfcn.h>
#include <stdio.h>

enum { kFloat = 7, kSum = 0 };

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 77;
  }
  int (*all_reduce)(const void*, void*, size_t, int, int, void*, void*);
  *(void**)&all_reduce = dlsym(library, "ncclAllReduce");
  printf("ncclAllReduce: %d\n", all_reduce(NULL, NULL, 2049000, kFloat, kSum, NULL, NULL));
  int (*send)(const void*, size_t, int, int, void*, void*);
  *(void**)&send = dlsym(library, "ncclSend");
  printf("ncclSend: %d\n", send(NULL, 100, kFloat, 3, NULL, NULL));
  return 0;
}
