// The command line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "samples/llama_infer/model_weights.hpp"

namespace llama_infer {

/// A command line that cannot be carried out; what() says which option and why.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  ModelShape shape;
  int prompt_length = 16;
  int output_length = 64;
  int batch = 1;
  std::uint64_t seed = 1;
  std::string weights;        // file to read, may be empty
  std::string write_weights;  // file to write, may be empty
  bool graph = false;
  bool cpu = false;
  bool verify = false;
  bool ranges = true;
  bool help = false;

  int positions() const { return prompt_length + output_length; }
};

/// Throws UsageError. Values are `--option VALUE` or `--option=VALUE`.
Options parse_options(int argument_count, const char* const* arguments);

/// What --help prints.
extern const char* const kHelp;

}  // namespace llama_infer
