#include "samples/llama_infer/model_weights.hpp"

#include <cmath>

#include "samples/llama_infer/random_value.hpp"

namespace llama_infer {
namespace {

/// Hands out places in the flat buffer.
class Places {
 public:
  Tensor matrix(int rows, int columns) {
    // Keeps the variance of what it is multiplied with: 3 / columns is that of [-1, 1) spread so.
    return next(rows, columns, 0.0f, std::sqrt(3.0f / static_cast<float>(columns)));
  }
  Tensor norm(int columns) { return next(1, columns, 1.0f, 0.1f); }
  /// Small beside what the layers add, so that a token depends on more than the one before it.
  Tensor embedding(int rows, int columns) { return next(rows, columns, 0.0f, 0.02f); }
  std::size_t used() const { return used_; }

 private:
  Tensor next(int rows, int columns, float center, float spread) {
    const Tensor tensor{used_, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                        center, spread};
    used_ += tensor.size();
    return tensor;
  }

  std::size_t used_ = 0;
};

}  // namespace

std::string problem_with(const ModelShape& shape) {
  if (shape.layers < 1 || shape.layers > kMostLayers) return "layers must be 1 to 256";
  if (shape.width < kWidthStep || shape.width > kMostWidth || shape.width % kWidthStep != 0) {
    return "width must be a multiple of 32 from 32 to 16384";
  }
  if (shape.heads < 1 || shape.width % shape.heads != 0 || shape.head_size() % 2 != 0) {
    return "heads must divide the width into parts of even size";
  }
  return "";
}

WeightLayout::WeightLayout(const ModelShape& shape) {
  Places places;
  embedding = places.embedding(kVocabulary, shape.width);
  for (int i = 0; i < shape.layers; ++i) {
    LayerTensors layer;
    layer.attention_norm = places.norm(shape.width);
    layer.qkv = places.matrix(3 * shape.width, shape.width);
    layer.attention_out = places.matrix(shape.width, shape.width);
    layer.mlp_norm = places.norm(shape.width);
    layer.gate_up = places.matrix(2 * shape.hidden(), shape.width);
    layer.down = places.matrix(shape.width, shape.hidden());
    layers.push_back(layer);
  }
  final_norm = places.norm(shape.width);
  output = places.matrix(kVocabulary, shape.width);
  size = places.used();
}

std::vector<Tensor> WeightLayout::tensors() const {
  std::vector<Tensor> all{embedding};
  for (const LayerTensors& layer : layers) {
    all.insert(all.end(), {layer.attention_norm, layer.qkv, layer.attention_out, layer.mlp_norm,
                           layer.gate_up, layer.down});
  }
  all.insert(all.end(), {final_norm, output});
  return all;
}

std::vector<float> random_weights(const WeightLayout& layout, std::uint64_t seed) {
  std::vector<float> weights(layout.size);
  for (const Tensor& tensor : layout.tensors()) {
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
      weights[i] = tensor.center + tensor.spread * random_value(seed, i);
    }
  }
  return weights;
}

}  // namespace llama_infer
