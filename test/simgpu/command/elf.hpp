// What an executable says about the CUDA runtime that it will use.
#pragma once

#include <string>
#include <vector>

namespace gprofml::simgpu {

struct ElfFacts {
  bool is_elf = false;
  std::vector<std::string> needed;      ///< libraries it names (DT_NEEDED)
  bool needs_cudart = false;            ///< libcudart.so.N is among its needed libraries
  bool contains_static_cudart = false;  ///< its text says so
  std::string run_path_to_cudart;  ///< DT_RPATH (stronger than our path) that holds a libcudart
};

/// Facts of a 64-bit ELF file. Of anything else, or when it cannot be read: is_elf is false.
ElfFacts read_elf(const std::string& path);

}  // namespace gprofml::simgpu
