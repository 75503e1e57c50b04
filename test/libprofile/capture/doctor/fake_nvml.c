// An NVML that answers what the test planted in FAKE_NVML: words NAME=VALUE, among them
//   init (result of nvmlInit_v2), driver, cuda, devices, mig, virtualisation, confidential, devtools.
// What is not named is answered as by a healthy H100.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

typedef struct {
  unsigned environment, feature, devtools_mode;
} ConfidentialState;

static const char* planted(const char* name, const char* otherwise) {
  static char value[64];
  const char* at = getenv("FAKE_NVML");
  const size_t length = strlen(name);
  while (at != NULL && *at != '\0') {
    if (strncmp(at, name, length) == 0 && at[length] == '=') {
      sscanf(at + length + 1, "%63s", value);
      return value;
    }
    at = strchr(at, ' ');
    if (at != NULL) ++at;
  }
  return otherwise;
}

static unsigned number(const char* name, const char* otherwise) {
  return (unsigned)strtoul(planted(name, otherwise), NULL, 10);
}

SHOWN int nvmlInit_v2(void) { return (int)number("init", "0"); }
SHOWN int nvmlShutdown(void) { return 0; }
SHOWN const char* nvmlErrorString(int error) {
  return error == 9 ? "Driver Not Loaded" : "Unknown Error";
}
SHOWN int nvmlSystemGetDriverVersion(char* text, unsigned room) {
  snprintf(text, room, "%s", planted("driver", "580.95.05"));
  return 0;
}
SHOWN int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = (int)number("cuda", "13000");
  return 0;
}
SHOWN int nvmlSystemGetConfComputeState(ConfidentialState* state) {
  state->feature = number("confidential", "0");
  state->devtools_mode = number("devtools", "0");
  return 0;
}
SHOWN int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = number("devices", "1");
  return 0;
}
SHOWN int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[64];
  *device = &devices[index];
  return 0;
}
SHOWN int nvmlDeviceGetName(void* device, char* text, unsigned room) {
  (void)device;
  snprintf(text, room, "NVIDIA H100");
  return 0;
}
SHOWN int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  (void)device;
  *current = *pending = number("mig", "0");
  return 0;
}
SHOWN int nvmlDeviceGetVirtualizationMode(void* device, unsigned* mode) {
  (void)device;
  *mode = number("virtualisation", "0");
  return 0;
}
