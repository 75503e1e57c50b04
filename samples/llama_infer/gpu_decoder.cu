#include "samples/llama_infer/gpu_decoder.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>

#include "samples/llama_infer/cuda_check.hpp"
#include "samples/llama_infer/device_memory.hpp"
#include "samples/llama_infer/kernels.hpp"
#include "samples/llama_infer/ranges.hpp"

namespace llama_infer {
namespace {

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

/// A stream that does not wait for the default one.
class Stream {
 public:
  Stream() { LLAMA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { LLAMA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Work that was captured from a stream and can be launched as a whole.
class Graph {
 public:
  Graph() = default;
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// `enqueue` puts the work on the stream; none of it runs now.
  template <typename Enqueue>
  void capture(cudaStream_t stream, Enqueue enqueue) {
    cudaGraph_t graph = nullptr;
    LLAMA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue();
    LLAMA_CHECK(cudaStreamEndCapture(stream, &graph));
    LLAMA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
    LLAMA_CHECK(cudaGraphDestroy(graph));
  }
  bool is_captured() const { return executable_ != nullptr; }
  void launch(cudaStream_t stream) const { LLAMA_CHECK(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// What passes from one operation to the next, with room for the largest pass.
struct Activations {
  Activations(const ModelShape& shape, int rows, int batch)
      : hidden(product(rows, shape.width)),
        normed(product(rows, shape.width)),
        qkv(3 * product(rows, shape.width)),
        attended(product(rows, shape.width)),
        gate_up(2 * product(rows, shape.hidden())),
        gated(product(rows, shape.hidden())),
        logits(product(batch, kVocabulary)) {}

  DeviceArray<float> hidden, normed, qkv, attended, gate_up, gated, logits;
};

class GpuDecoder : public Decoder {
 public:
  GpuDecoder(const ModelShape& shape, const GpuSettings& settings, std::uint64_t seed,
             const std::vector<float>& weights)
      : shape_(shape),
        settings_(settings),
        layout_(shape),
        layer_names_(layer_names(shape.layers)),
        weights_(layout_.size),
        keys_(shape.layers * layer_cache_size()),
        values_(keys_.size()),
        activations_(shape, settings.batch * settings.prompt_length, settings.batch),
        tokens_(product(settings.batch, settings.prompt_length)),
        position_(1),
        chosen_(static_cast<std::size_t>(settings.batch)) {
    weights.empty() ? make_weights(seed) : copy_weights(weights);
    if (settings.use_graph) {
      const Range range("capture_graph");
      graph_.capture(stream_, [this] { enqueue_decode(); });
    }
    stream_.wait();
  }

  std::vector<int> prefill(const Prompts& prompts) override {
    LLAMA_CHECK(cudaMemsetAsync(position_.get(), 0, position_.bytes(), stream_));
    LLAMA_CHECK(cudaMemcpyAsync(tokens_.get(), prompts.tokens.data(), tokens_.bytes(),
                                cudaMemcpyHostToDevice, stream_));
    enqueue(pass_of(settings_.prompt_length));
    return wait_for_tokens();
  }

  std::vector<int> decode_step() override {
    if (graph_.is_captured()) {
      graph_.launch(stream_);
    } else {
      enqueue_decode();
    }
    return wait_for_tokens();
  }

 private:
  std::size_t layer_cache_size() const {
    return product(settings_.batch, settings_.positions) * static_cast<std::size_t>(shape_.width);
  }
  LayerCache cache_of(std::size_t layer) const {
    return {keys_.get() + layer * layer_cache_size(), values_.get() + layer * layer_cache_size()};
  }
  const float* weights_of(const Tensor& tensor) const { return weights_.get() + tensor.offset; }
  Pass pass_of(int tokens) const {
    return {settings_.batch, tokens, position_.get(), settings_.positions, stream_};
  }

  void make_weights(std::uint64_t seed) {
    for (const Tensor& tensor : layout_.tensors()) {
      initialize_tensor(weights_.get(), tensor, seed, stream_);
    }
  }

  void copy_weights(const std::vector<float>& weights) {
    for (const Tensor& tensor : layout_.tensors()) {
      LLAMA_CHECK(cudaMemcpyAsync(weights_.get() + tensor.offset, weights.data() + tensor.offset,
                                  tensor.size() * sizeof(float), cudaMemcpyHostToDevice, stream_));
    }
  }

  void enqueue_decode() { enqueue(pass_of(1)); }

  /// Everything from the tokens on the device to the next ones in the host's memory. What differs
  /// from step to step, tokens and position, is read from device memory: a captured pass fits all.
  void enqueue(const Pass& pass) {
    {
      const Range range("embedding");
      embed(pass, tokens_.get(), weights_of(layout_.embedding), activations_.hidden.get(),
            shape_.width);
    }
    for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
      const Range range(layer_names_[i]);
      enqueue_attention(pass, layout_.layers[i], cache_of(i));
      enqueue_mlp(pass, layout_.layers[i]);
    }
    enqueue_logits(pass);
    enqueue_sampling(pass);
  }

  void enqueue_attention(const Pass& pass, const LayerTensors& layer, LayerCache cache) {
    Activations& a = activations_;
    normalize(pass, layer.attention_norm);
    {
      const Range range("qkv");
      multiply(pass, a.normed, layer.qkv, a.qkv, false);
    }
    {
      const Range range("rope");
      rotate(pass, a.qkv.get(), shape_);
    }
    {
      const Range range("kv_cache");
      remember(pass, a.qkv.get(), cache, shape_.width);
    }
    {
      const Range range("attention");
      attend(pass, a.qkv.get(), cache, a.attended.get(), shape_);
    }
    const Range range("out_proj");
    multiply(pass, a.attended, layer.attention_out, a.hidden, true);
  }

  void enqueue_mlp(const Pass& pass, const LayerTensors& layer) {
    Activations& a = activations_;
    normalize(pass, layer.mlp_norm);
    const Range range("mlp");
    multiply(pass, a.normed, layer.gate_up, a.gate_up, false);
    apply_gate(a.gate_up.get(), pass.rows(), a.gated.get(), shape_.hidden(), stream_);
    multiply(pass, a.gated, layer.down, a.hidden, true);
  }

  /// Only the last token of each sequence has a successor that is not known yet.
  void enqueue_logits(const Pass& pass) {
    const Range range("logits");
    const float* last = activations_.hidden.get() + product(pass.tokens - 1, shape_.width);
    rms_norm(last, pass.sequences, pass.tokens * shape_.width, weights_of(layout_.final_norm),
             activations_.normed.get(), shape_.width, stream_);
    gemv(activations_.normed.get(), pass.sequences, weights_of(layout_.output),
         activations_.logits.get(), kVocabulary, shape_.width, false, stream_);
  }

  void enqueue_sampling(const Pass& pass) {
    const Range range("sample");
    choose_tokens(activations_.logits.get(), pass.sequences, tokens_.get(), stream_);
    advance(position_.get(), pass.tokens, stream_);
    LLAMA_CHECK(cudaMemcpyAsync(chosen_.get(), tokens_.get(), chosen_.bytes(),
                                cudaMemcpyDeviceToHost, stream_));
  }

  void normalize(const Pass& pass, const Tensor& weight) {
    const Range range("rms_norm");
    rms_norm(activations_.hidden.get(), pass.rows(), shape_.width, weights_of(weight),
             activations_.normed.get(), shape_.width, stream_);
  }

  void multiply(const Pass& pass, const DeviceArray<float>& in, const Tensor& weights,
                const DeviceArray<float>& out, bool accumulate) {
    const auto kernel = pass.tokens == 1 ? gemv : gemm;
    kernel(in.get(), pass.rows(), weights_of(weights), out.get(), static_cast<int>(weights.rows),
           static_cast<int>(weights.columns), accumulate, stream_);
  }

  std::vector<int> wait_for_tokens() const {
    stream_.wait();
    std::vector<int> tokens(chosen_.get(), chosen_.get() + chosen_.size());
    // Whoever uses them as an index need not trust the device.
    for (int& token : tokens) token = std::clamp(token, 0, kVocabulary - 1);
    return tokens;
  }

  const ModelShape shape_;
  const GpuSettings settings_;
  const WeightLayout layout_;
  const std::vector<RegisteredName> layer_names_;
  Stream stream_;
  DeviceArray<float> weights_;
  DeviceArray<float> keys_, values_;  // [layer][sequence][position][width]
  Activations activations_;
  DeviceArray<int> tokens_;
  DeviceArray<int> position_;
  PinnedArray<int> chosen_;
  Graph graph_;
};

}  // namespace

std::string gpu_problem() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count > 0 ? "" : cudaGetErrorString(cudaErrorNoDevice);
}

std::string gpu_name() {
  cudaDeviceProp properties;
  LLAMA_CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

bool gpu_is_simulated() {
  return dlsym(RTLD_DEFAULT, "gprofml_simulated") != nullptr;
}

std::unique_ptr<Decoder> make_gpu_decoder(const ModelShape& shape, const GpuSettings& settings,
                                          std::uint64_t seed, const std::vector<float>& weights) {
  return std::make_unique<GpuDecoder>(shape, settings, seed, weights);
}

}  // namespace llama_infer
