// The least that the driver accepts as an injection library.
#include <cstdio>

extern "C" int InitializeInjection() {
  std::puts("injected");
  return 1;
}
