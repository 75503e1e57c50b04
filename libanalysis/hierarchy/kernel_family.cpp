#include "libanalysis/hierarchy/kernel_family.hpp"

#include <algorithm>
#include <cctype>

#include "libanalysis/hierarchy/function_ops.hpp"

namespace gprofml::analysis {
namespace {

struct Family {
  std::string_view part;  ///< of the name, small letters
  std::string_view name;
};

// The first that occurs counts: a softmax inside flash attention is attention.
constexpr Family kFamilies[] = {
    {"nccl", "communication"},
    {"attention", "attention"},
    {"attn", "attention"},
    {"fmha", "attention"},
    {"flash", "attention"},
    {"conv2d", "convolution"},
    {"convolve", "convolution"},
    {"winograd", "convolution"},
    {"implicit_gemm", "convolution"},
    {"fprop", "convolution"},
    {"dgrad", "convolution"},
    {"wgrad", "convolution"},
    {"gemm", "GEMM, GEMV"},
    {"gemv", "GEMM, GEMV"},
    {"matmul", "GEMM, GEMV"},
    {"mul_mat", "GEMM, GEMV"},
    {"cutlass", "GEMM, GEMV"},
    {"nvjet", "GEMM, GEMV"},
    {"softmax", "softmax"},
    {"norm", "normalisation"},
    {"rope", "position embedding"},
    {"rotary", "position embedding"},
    {"embedding", "gather, scatter"},
    {"gather", "gather, scatter"},
    {"scatter", "gather, scatter"},
    {"index", "gather, scatter"},
    {"sort", "sort, top k"},
    {"topk", "sort, top k"},
    {"scan", "scan, reduction"},
    {"reduce", "scan, reduction"},
    {"adam", "optimiser"},
    {"multi_tensor", "optimiser"},
    {"elementwise", "elementwise"},
    {"pointwise", "elementwise"},
    {"triton_poi", "elementwise"},
    {"triton_red", "scan, reduction"},
    {"transpose", "copying kernels"},
    {"memcpy", "copying kernels"},
    {"copy", "copying kernels"},
    {"catarray", "copying kernels"},
    {"random", "random numbers"},
    {"philox", "random numbers"},
};

}  // namespace

std::string kernel_family(WorkKind kind, std::string_view name) {
  switch (kind) {
    case WorkKind::copy:
      return "copies";
    case WorkKind::fill:
      return "fills";
    case WorkKind::communication:
      return "communication";
    case WorkKind::cuda_graph:
      return "CUDA graphs";
    case WorkKind::kernel:
      break;
  }
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Family& family : kFamilies) {
    if (small.find(family.part) != std::string::npos) return std::string(family.name);
  }
  std::string function = short_function_name(name);
  return function.empty() ? std::string(name) : function;
}

}  // namespace gprofml::analysis
