// Ops from function names and, without any, from names of kernels.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libanalysis/hierarchy/function_ops.hpp"
#include "libanalysis/hierarchy/kernel_family.hpp"

using namespace gprofml;
using Names = std::vector<std::string>;

namespace {

struct Frame {
  std::string function;
  std::string module = "/srv/app/program";
};

/// The op path of a stack, given from the outermost frame inwards.
Names ops_of(const std::vector<Frame>& frames, const std::string& kernel = "kernel") {
  profile::Trace trace;
  profile::RowIndex row = profile::kNoRow;
  for (const Frame& frame : frames) {
    profile::StackFrame added;
    added.parent = row;
    added.function = trace.intern(frame.function);
    added.module = trace.intern(frame.module);
    row = static_cast<profile::RowIndex>(trace.stack_frames.size());
    trace.stack_frames.push_back(added);
  }
  return analysis::op_names(trace, row, kernel);
}

}  // namespace

TEST_CASE("Functions are named without what the compiler adds", "[function_ops]") {
  const auto name = analysis::short_function_name;
  CHECK(name("main") == "main");
  CHECK(name("ggml_cuda_op_mul_mat(ggml_backend_cuda_context&, ggml_tensor const*)") ==
        "ggml_cuda_op_mul_mat");
  CHECK(name("void a::(anonymous namespace)::f<int, b<char>>(int)") == "a::f");
  CHECK(name("llama::(anonymous namespace)::Decoder::step(Pass const&) const") ==
        "llama::Decoder::step");
  CHECK(name("std::vector<int, std::allocator<int>> g<int>(int)") == "g");
  CHECK(name("f()::{lambda(int)#1}::operator()(int) const").empty());
  CHECK(name("A::operator<(A const&)").empty());
  CHECK(name("").empty());
}

TEST_CASE("PyTorch's operators are named as its profiler names them", "[function_ops]") {
  const std::string torch = "/lib/libtorch_cpu.so";
  CHECK(ops_of({{"main", "/usr/bin/python3.12"},
                {"_PyEval_EvalFrameDefault", "/usr/bin/python3.12"},
                {"forward", "/srv/app/model.py"},
                {"_call_impl", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py"},
                {"at::_ops::linear::call(at::Tensor const&, at::Tensor const&)", torch},
                {"at::native::linear(at::Tensor const&)", torch},
                {"at::_ops::addmm::redispatch(c10::DispatchKeySet, at::Tensor const&)", torch},
                {"at::_ops::addmm::call(at::Tensor const&)", torch},
                {"at::_ops::mul__Tensor::call(at::Tensor&, at::Tensor const&)", torch},
                {"at::native::gpu_kernel_impl<void>()", torch}}) ==
        Names{"forward", "aten::linear", "aten::addmm", "aten::mul_"});
}

TEST_CASE("ggml's nodes are ops of llama_decode", "[function_ops]") {
  CHECK(ops_of({{"main"},
                {"llama_decode", "/opt/libllama.so"},
                {"ggml_backend_sched_graph_compute_async", "/opt/libggml-base.so"},
                {"ggml_cuda_compute_forward(ggml_backend_cuda_context&, ggml_tensor*)"},
                {"ggml_cuda_mul_mat(ggml_backend_cuda_context&, ggml_tensor const*)"},
                {"ggml_cuda_op_mul_mat(ggml_backend_cuda_context&)"},
                {"void mul_mat_q_case<(ggml_type)2>(int)"}}) ==
        Names{"llama_decode", "ggml_cuda_mul_mat"});
}

TEST_CASE("Of other programs the functions of their own are the path", "[function_ops]") {
  CHECK(ops_of({{"_start"},
                {"__libc_start_main", "/lib/libc.so.6"},
                {"main"},
                {"app::train(int)"},
                {"std::function<void ()>::operator()() const"},
                {"app::layer()"},
                {"app::layer()"},
                {"cublasGemmEx", "/usr/lib/libcublas.so.13"},
                {"", "/usr/lib/libcublasLt.so.13"}}) == Names{"app::train", "app::layer"});
  // The stub that launches a kernel is named as the kernel.
  CHECK(ops_of({{"main"}, {"app::step()"}, {"app::scale(float*)"}, {"__device_stub__Zx(float*)"}},
               "app::scale(float*)") == Names{"app::step"});
  CHECK(ops_of({{"main"}}).empty());
  CHECK(ops_of({}).empty());
}

TEST_CASE("A stack deeper than paths may be is cut", "[function_ops]") {
  std::vector<Frame> frames;
  for (int i = 0; i < 300; ++i) frames.push_back({"f" + std::to_string(i) + "()"});
  CHECK(ops_of(frames).size() == 100);
}

TEST_CASE("Kernels have families", "[kernel_family]") {
  using analysis::WorkKind;
  const auto family = [](const char* name) {
    return analysis::kernel_family(WorkKind::kernel, name);
  };
  CHECK(family("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn") == "GEMM, GEMV");
  CHECK(family("flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>") == "attention");
  CHECK(family("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>") ==
        "elementwise");
  CHECK(family("rms_norm_f32") == "normalisation");
  CHECK(family("ncclDevKernel_AllReduce_Sum_f32_RING_LL") == "communication");
  CHECK(family("void app::my_own<int>(int*)") == "app::my_own");
  CHECK(analysis::kernel_family(WorkKind::copy, "Memcpy HtoD") == "copies");
  CHECK(analysis::kernel_family(WorkKind::fill, "Memset") == "fills");
}
