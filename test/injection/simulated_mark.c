// Preloaded, it looks like the simulator to the recorder.
__attribute__((visibility("default"))) const int gprofml_simulated = 1;
