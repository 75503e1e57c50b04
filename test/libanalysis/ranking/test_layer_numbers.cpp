#include <catch2/catch.hpp>

#include "libanalysis/ranking/layer_numbers.hpp"

namespace gprofml::analysis {

TEST_CASE("layer numbers: layers of one model become one") {
  CHECK(star_layer_numbers("model.layers.12.mlp") == "model.layers.*.mlp");
  CHECK(star_layer_numbers("transformer.h.3") == "transformer.h.*");
  CHECK(star_layer_numbers("decode/layer_3/mlp") == "decode/layer_*/mlp");
  CHECK(star_layer_numbers("layer3/conv2d") == "layer*/conv2d");
  CHECK(star_layer_numbers("LlamaDecoderLayer_17") == "LlamaDecoderLayer_*");
  CHECK(star_layer_numbers("Block 7 of blocks[12]") == "Block * of blocks[*]");
  CHECK(star_layer_numbers("layer_10_mlp") == "layer_*_mlp");
  CHECK(star_layer_numbers("layers.0.blocks.11.attn") == "layers.*.blocks.*.attn");
}

TEST_CASE("layer numbers: digits that are part of a name stay") {
  for (const char* name : {"aten::conv2d", "aten::_scaled_dot_product_attention_0x7f", "fp16",
                           "AddmmBackward0", "batch_32", "lr 0.5", "v1.2", "layer3x",
                           "sm90_xmma_gemm_bf16f32_128x256", "12", ".5", "", "multilayers of 2"}) {
    INFO(name);
    CHECK(star_layer_numbers(name) == name);
  }
}

}  // namespace gprofml::analysis
