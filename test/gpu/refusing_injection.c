// An injection library that refuses: does cuInit of the driver survive it?
__attribute__((visibility("default"))) int InitializeInjection(void) {
  return 0;
}
