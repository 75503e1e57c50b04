// Weights in a file: a header of 32 bytes, then the flat buffer of model_weights.hpp.
//
//   bytes  0..7   "LLAMAF32"
//          8..11  version, 1
//         12..27  layers, width, heads, vocabulary
//         28..31  0
//         32..    all weights as 32-bit floats, in the order of WeightLayout::tensors()
//
// Integers are 32 bits wide; everything is little-endian.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "samples/llama_infer/model_weights.hpp"

namespace llama_infer {

/// A file that cannot be read, written or used; what() names the file and what is wrong.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A model as it stands in a file.
struct StoredModel {
  ModelShape shape;
  std::vector<float> weights;
};

/// Throws FileError, also for a file that is too short or too long for the shape it states.
StoredModel read_weights(const std::string& path);

/// Replaces the file. Throws FileError.
void write_weights(const std::string& path, const ModelShape& shape,
                   const std::vector<float>& weights);

}  // namespace llama_infer
