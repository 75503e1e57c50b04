// Faults on purpose, compiled with a sanitizer: a set-up that finds nothing finds these.
#include <stdlib.h>

int planted_race_counter;

__attribute__((visibility("default"))) void planted_fault(void) {
  ++planted_race_counter;  // by several threads at once
  volatile char* bytes = malloc(8);
  bytes[8] = 1;  // one behind the end
  free((void*)bytes);
}
