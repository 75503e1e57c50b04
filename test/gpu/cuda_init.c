// Calls cuInit of the driver and counts the devices; prints one JSON object. No runtime, so that
// nothing but the driver decides.
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Init)(unsigned);
typedef int (*Count)(int*);

int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) {
    printf("{\"error\": \"libcuda.so.1 cannot be opened\"}\n");
    return 1;
  }
  Init init = NULL;
  Count count = NULL;
  *(void**)&init = dlsym(driver, "cuInit");
  *(void**)&count = dlsym(driver, "cuDeviceGetCount");
  int devices = 0;
  const int result = init != NULL ? init(0) : -1;
  if (result == 0 && count != NULL) count(&devices);
  printf("{\"cuInit\": %d, \"devices\": %d}\n", result, devices);
  return 0;
}
