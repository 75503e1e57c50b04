// Writes the sample traces into a folder: make_samples FOLDER (the project's samples/).
#include <fstream>

#include <fmt/format.h>

#include "test/synth/samples.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_samples FOLDER\n");
    return 2;
  }
  for (const gprofml::synth::Sample& sample : gprofml::synth::samples()) {
    const std::string path = fmt::format("{}/{}", argv[1], sample.file);
    std::ofstream file(path, std::ios::binary);
    file << sample.json;
    file.close();
    if (!file) {
      fmt::print(stderr, "make_samples: cannot write {}; is the folder there and writable?\n",
                 path);
      return 2;
    }
    fmt::print("{} {} bytes\n", path, sample.json.size());
  }
  return 0;
}
