// Says that a library is simulated, to whoever looks for this symbol.
extern "C" {
[[gnu::visibility("default")]] extern const int gprofml_simulated;
const int gprofml_simulated = 1;
}
