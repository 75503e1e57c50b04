// Makes the layers of a model one: "model.layers.12.mlp" becomes "model.layers.*.mlp".
#pragma once

#include <string>
#include <string_view>

namespace gprofml::analysis {

/// An op path with every layer number replaced by '*'. A run of digits is a layer number when no
/// letter or digit follows it and either
///   - it is a whole component of a dotted name and the component before it ends with a letter
///     ("layers.12.mlp", "h.3"; not the 5 of "0.5"), or
///   - the word before it is layer, layers, block or blocks in any case, joined by nothing or by
///     one of _ - # : [ and space ("layer_3", "DecoderLayer12", "blocks[7]").
/// All other digits are names: conv2d, fp16, AddmmBackward0, batch_32.
std::string star_layer_numbers(std::string_view path);

}  // namespace gprofml::analysis
