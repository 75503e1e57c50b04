// An NVML of two GPUs with planted answers. FEW leaves out what old drivers lack, and hides who
// uses the GPUs. FAKE_NVML_PIDS names process ids on the first GPU, by commas.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

static int devices[2];

static int index_of(void* device) {
  return device == &devices[1];
}

SHOWN int nvmlInit_v2(void) {
  return getenv("FAKE_NVML_BROKEN") == NULL ? 0 : 9;
}
SHOWN int nvmlShutdown(void) {
  return 0;
}
SHOWN int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;  // the third is lost
  return 0;
}
SHOWN int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return 15;
  *device = &devices[index];
  return 0;
}
SHOWN int nvmlDeviceGetUUID(void* device, char* text, unsigned room) {
  const char* const first = getenv("FAKE_NVML_UUID");
  if (index_of(device) == 0 && first != NULL) {
    snprintf(text, room, "%s", first);
  } else {
    snprintf(text, room, "GPU-00000000-0000-0000-0000-00000000000%d", index_of(device) + 1);
  }
  return 0;
}
SHOWN int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* mhz) {
  *mhz = (kind == 1 ? 1500u : 2600u) + (unsigned)index_of(device);
  return kind == 1 || kind == 2 ? 0 : 2;
}
SHOWN int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 350000u + (unsigned)index_of(device);
  return 0;
}
SHOWN int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  *celsius = 60u + (unsigned)index_of(device);
  return sensor == 0 ? 0 : 2;
}
SHOWN int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = index_of(device) == 0 ? 0x24u : 0u;
  return 0;
}
SHOWN int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  if (index_of(device) != 0) return 3;  // not supported, as on MIG
  rates[0] = 87;
  rates[1] = 12;
  return 0;
}

#ifndef FEW
SHOWN int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  memory[0] = 100;
  memory[1] = 60;
  memory[2] = 40u + (unsigned)index_of(device);
  return 0;
}
SHOWN int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* into) {
  struct {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu, compute;
  }* processes = into;
  const char* at = getenv("FAKE_NVML_PIDS");
  unsigned found = 0;
  while (index_of(device) == 0 && at != NULL && *at != '\0' && found < *count) {
    processes[found++].pid = (unsigned)strtoul(at, NULL, 10);
    at = strchr(at, ',');
    if (at != NULL) ++at;
  }
  *count = found;
  return 0;
}
#endif
