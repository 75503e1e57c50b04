#include "samples/llama_infer/host_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "samples/llama_infer/arithmetic.hpp"
#include "samples/llama_infer/ordered_sum.hpp"
#include "samples/llama_infer/ranges.hpp"

namespace llama_infer {
namespace {

using Index = std::size_t;

/// A matrix of activations, one row for each token.
class Matrix {
 public:
  Matrix(Index rows, Index columns) : rows_(rows), columns_(columns), elements_(rows * columns) {}
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  float* row(Index i) { return elements_.data() + i * columns_; }
  const float* row(Index i) const { return elements_.data() + i * columns_; }

 private:
  Index rows_, columns_;
  std::vector<float> elements_;
};

/// Puts the dot product of each row of `in` with each row of the weights to its place in `out`, or
/// adds it there. In the order of gemv.
void gemv(const Matrix& in, const float* weights, Matrix& out, bool accumulate) {
  const int inputs = static_cast<int>(in.columns());
  for (Index column = 0; column < out.columns(); ++column) {
    for (Index row = 0; row < in.rows(); ++row) {
      const float dot = warp_dot_on_host(weights + column * in.columns(), in.row(row), inputs);
      float& result = out.row(row)[column];
      result = accumulate ? result + dot : dot;
    }
  }
}

/// The same in the order of gemm: each sum takes one product after the other. Rows are
/// summed side by side, which the compiler can turn into vector instructions.
void gemm(const Matrix& in, const float* weights, Matrix& out, bool accumulate) {
  constexpr Index kRows = 16;
  Matrix columns(in.columns(), kRows);  // a group of rows, transposed
  for (Index first = 0; first < in.rows(); first += kRows) {
    const Index rows = std::min(kRows, in.rows() - first);
    for (Index k = 0; k < in.columns(); ++k) {
      for (Index i = 0; i < rows; ++i) columns.row(k)[i] = in.row(first + i)[k];
    }
    for (Index column = 0; column < out.columns(); ++column) {
      float sums[kRows] = {};
      for (Index k = 0; k < in.columns(); ++k) {
        const float weight = weights[column * in.columns() + k];
        const float* elements = columns.row(k);
        for (Index i = 0; i < kRows; ++i) sums[i] = sums[i] + weight * elements[i];
      }
      for (Index i = 0; i < rows; ++i) {
        float& result = out.row(first + i)[column];
        result = accumulate ? result + sums[i] : sums[i];
      }
    }
  }
}

void rms_norm(const float* in, const float* weight, float* out, int width) {
  const float squares = block_sum_on_host(width, [in](int i) { return in[i] * in[i]; });
  const float scale = norm_scale(squares, width);
  for (int i = 0; i < width; ++i) out[i] = in[i] * scale * weight[i];
}

/// Of equal logits the first.
int choose_token(const float* logits) {
  return static_cast<int>(std::max_element(logits, logits + kVocabulary) - logits);
}

class HostDecoder : public Decoder {
 public:
  HostDecoder(const ModelShape& shape, int batch, int positions, std::vector<float> weights)
      : shape_(shape),
        width_(static_cast<Index>(shape.width)),
        batch_(static_cast<Index>(batch)),
        capacity_(static_cast<Index>(positions)),
        layout_(shape),
        layer_names_(layer_names(shape.layers)),
        weights_(std::move(weights)),
        keys_(layout_.layers.size() * batch_ * capacity_, width_),
        values_(keys_) {}

  std::vector<int> prefill(const Prompts& prompts) override {
    position_ = 0;
    return forward(prompts.tokens, static_cast<Index>(prompts.length));
  }

  std::vector<int> decode_step() override { return forward(chosen_, 1); }

 private:
  const float* weights_of(const Tensor& tensor) const { return weights_.data() + tensor.offset; }

  /// The row in the caches of a position of a sequence.
  Index cached(Index layer, Index sequence, Index position) const {
    return (layer * batch_ + sequence) * capacity_ + position;
  }

  /// `count` tokens of each sequence; returns the next token of each.
  std::vector<int> forward(const std::vector<int>& tokens, Index count) {
    count_ = count;
    Matrix hidden(tokens.size(), width_);
    embed(tokens, hidden);
    for (Index i = 0; i < layout_.layers.size(); ++i) {
      const Range range(layer_names_[i]);
      add_attention(i, layout_.layers[i], hidden);
      add_mlp(layout_.layers[i], hidden);
    }
    const Matrix logits = logits_of(hidden);
    const Range range("sample");
    chosen_.resize(batch_);
    for (Index i = 0; i < batch_; ++i) chosen_[i] = choose_token(logits.row(i));
    position_ += count;
    return chosen_;
  }

  void embed(const std::vector<int>& tokens, Matrix& hidden) const {
    const Range range("embedding");
    for (Index i = 0; i < tokens.size(); ++i) {
      const float* row = weights_of(layout_.embedding) + static_cast<Index>(tokens[i]) * width_;
      std::copy(row, row + width_, hidden.row(i));
    }
  }

  void add_attention(Index layer, const LayerTensors& tensors, Matrix& hidden) {
    const Matrix normed = normalize(hidden, tensors.attention_norm);
    Matrix qkv(hidden.rows(), 3 * width_);
    {
      const Range range("qkv");
      multiply(normed, tensors.qkv, qkv, false);
    }
    rotate(qkv);
    remember(layer, qkv);
    const Matrix attended = attend(layer, qkv);
    const Range range("out_proj");
    multiply(attended, tensors.attention_out, hidden, true);
  }

  void add_mlp(const LayerTensors& tensors, Matrix& hidden) const {
    const Matrix normed = normalize(hidden, tensors.mlp_norm);
    const Range range("mlp");
    const Index size = tensors.down.columns;
    Matrix gate_up(hidden.rows(), 2 * size);
    multiply(normed, tensors.gate_up, gate_up, false);
    Matrix result(hidden.rows(), size);
    for (Index row = 0; row < hidden.rows(); ++row) {
      const float* gate = gate_up.row(row);
      for (Index i = 0; i < size; ++i) result.row(row)[i] = gated(gate[i], gate[size + i]);
    }
    multiply(result, tensors.down, hidden, true);
  }

  Matrix logits_of(const Matrix& hidden) const {
    const Range range("logits");
    Matrix normed(batch_, width_);
    for (Index i = 0; i < batch_; ++i) {
      rms_norm(hidden.row((i + 1) * count_ - 1), weights_of(layout_.final_norm), normed.row(i),
               shape_.width);
    }
    Matrix logits(batch_, kVocabulary);
    gemv(normed, weights_of(layout_.output), logits, false);
    return logits;
  }

  Matrix normalize(const Matrix& hidden, const Tensor& weight) const {
    const Range range("rms_norm");
    Matrix normed(hidden.rows(), width_);
    for (Index i = 0; i < hidden.rows(); ++i) {
      rms_norm(hidden.row(i), weights_of(weight), normed.row(i), shape_.width);
    }
    return normed;
  }

  void multiply(const Matrix& in, const Tensor& weights, Matrix& out, bool accumulate) const {
    const auto function = count_ == 1 ? gemv : gemm;
    function(in, weights_of(weights), out, accumulate);
  }

  void rotate(Matrix& qkv) const {
    const Range range("rope");
    const Index head_size = static_cast<Index>(shape_.head_size());
    for (Index row = 0; row < qkv.rows(); ++row) {
      const int position = static_cast<int>(position_ + row % count_);
      for (Index pair = 0; pair < head_size / 2; ++pair) {
        const SineCosine turn = rotation(position, static_cast<int>(pair), shape_.head_size());
        // Queries and keys lie side by side: twice the heads.
        for (Index start = 0; start < 2 * width_; start += head_size) {
          rotate_pair(qkv.row(row) + start + 2 * pair, turn);
        }
      }
    }
  }

  void remember(Index layer, const Matrix& qkv) {
    const Range range("kv_cache");
    for (Index row = 0; row < qkv.rows(); ++row) {
      const Index place = cached(layer, row / count_, position_ + row % count_);
      const float* keys = qkv.row(row) + width_;
      std::copy(keys, keys + width_, keys_.row(place));
      std::copy(keys + width_, keys + 2 * width_, values_.row(place));
    }
  }

  Matrix attend(Index layer, const Matrix& qkv) const {
    const Range range("attention");
    Matrix attended(qkv.rows(), width_);
    for (Index row = 0; row < qkv.rows(); ++row) {
      const Index first = cached(layer, row / count_, 0);
      const Index positions = position_ + row % count_ + 1;
      for (int head = 0; head < shape_.heads; ++head) {
        const Index offset = static_cast<Index>(head) * static_cast<Index>(shape_.head_size());
        attend_head(qkv.row(row) + offset, first, positions, offset, attended.row(row) + offset);
      }
    }
    return attended;
  }

  /// One query over `positions` rows of the caches from `first` on.
  void attend_head(const float* query, Index first, Index positions, Index offset,
                   float* out) const {
    const int head_size = shape_.head_size();
    const float scale = reciprocal_sqrt(static_cast<float>(head_size));
    std::vector<float> scores(positions);
    for (Index i = 0; i < positions; ++i) {
      scores[i] = warp_dot_on_host(query, keys_.row(first + i) + offset, head_size) * scale;
    }
    const float largest = *std::max_element(scores.begin(), scores.end());
    for (float& score : scores) score = exponential(score - largest);
    const float sum = block_sum_on_host(static_cast<int>(positions),
                                        [&scores](int i) { return scores[static_cast<Index>(i)]; });
    for (int element = 0; element < head_size; ++element) {
      float value = 0.0f;
      for (Index i = 0; i < positions; ++i) {
        value = value + scores[i] * (values_.row(first + i) + offset)[element];
      }
      out[element] = value / sum;
    }
  }

  const ModelShape shape_;
  const Index width_, batch_, capacity_;
  const WeightLayout layout_;
  const std::vector<RegisteredName> layer_names_;
  const std::vector<float> weights_;
  Matrix keys_, values_;  // rows: [layer][sequence][position]
  std::vector<int> chosen_;
  Index position_ = 0;  // of the first token of the pass that runs
  Index count_ = 0;     // tokens a sequence of the pass that runs
};

}  // namespace

std::unique_ptr<Decoder> make_host_decoder(const ModelShape& shape, int batch, int positions,
                                           std::vector<float> weights) {
  return std::make_unique<HostDecoder>(shape, batch, positions, std::move(weights));
}

}  // namespace llama_infer
