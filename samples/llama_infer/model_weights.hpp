// What the model consists of: its shape and, in one flat buffer, its weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "samples/llama_infer/host_device.hpp"

namespace llama_infer {

constexpr int kVocabulary = 1024;
constexpr int kMostLayers = 256;
constexpr int kMostWidth = 16384;
constexpr int kWidthStep = 32;  // what a warp takes at once; gemm's tiles divide it

/// The sizes of a Llama-like decoder. All counts are of float elements.
struct ModelShape {
  int layers = 6;
  int width = 256;
  int heads = 8;

  LLAMA_HOST_DEVICE int head_size() const { return width / heads; }
  /// 8/3 of the width, as Llama has it, up to a multiple of 64.
  int hidden() const { return (width * 8 / 3 + 63) / 64 * 64; }
  bool operator==(const ModelShape&) const = default;
};

/// What is wrong with a shape, in words; empty when kernels and file format can carry it.
std::string problem_with(const ModelShape& shape);

/// One matrix (or vector, of one row) and how random ones are made: center + spread * [-1, 1).
/// A matrix has one row for each output element.
struct Tensor {
  std::size_t offset;  // of its first element in the flat buffer
  std::size_t rows;
  std::size_t columns;
  float center;
  float spread;

  LLAMA_HOST_DEVICE std::size_t size() const { return rows * columns; }
};

/// The tensors of one layer. qkv holds the rows of the query, key and value projections one after
/// the other, gate_up those of the two halves of the gated MLP.
struct LayerTensors {
  Tensor attention_norm, qkv, attention_out, mlp_norm, gate_up, down;
};

/// Where each tensor lies; the order is the one of the weight file.
struct WeightLayout {
  explicit WeightLayout(const ModelShape& shape);

  Tensor embedding;
  std::vector<LayerTensors> layers;
  Tensor final_norm, output;
  std::size_t size;  // elements of all tensors

  /// All tensors in the order of their offsets.
  std::vector<Tensor> tensors() const;
};

/// The weights that belong to a seed. The device makes the same ones by itself.
std::vector<float> random_weights(const WeightLayout& layout, std::uint64_t seed);

}  // namespace llama_infer
