#include <fmt/format.h>

#include "test/synth/program_writer.hpp"
#include "test/synth/samples.hpp"
#include "test/synth/works.hpp"

namespace gprofml::synth {
namespace {

constexpr StreamRef kStream{0, 7};
constexpr int kSteps = 8;
constexpr int kLayers = 2;

Work configured(Work work, std::int64_t blocks, std::int64_t threads, std::int64_t registers,
                std::int64_t shared_bytes) {
  work.config.grid = {blocks, 1, 1};
  work.config.block = {threads, 1, 1};
  work.config.registers_per_thread = registers;
  work.config.static_shared_bytes = 0;
  work.config.dynamic_shared_bytes = shared_bytes;
  return work;
}

Work gemv(Nanoseconds duration_ns, std::int64_t blocks) {
  return configured(
      kernel_work(
          "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4, 4>",
          duration_ns),
      blocks, 128, 64, 2048);
}

class DecodeWriter {
 public:
  explicit DecodeWriter(HostThread& thread) : out_(thread, 2024) {}

  void step(int number) {
    out_.begin(profile::RangeKind::annotation, fmt::format("ProfilerStep#{}", number));
    out_.begin(profile::RangeKind::python_function, "generate.py(61): decode_step");
    op("aten::embedding",
       configured(kernel_work("indexSelectSmallIndex<bf16, long>", 1900), 8, 128, 24, 0));
    for (int layer = 0; layer < kLayers; ++layer) decoder_layer(layer, number);
    rms_norm();
    linear(gemv(61000, 8016));
    op("aten::argmax",
       configured(kernel_work("reduce_kernel<512, 1, ReduceOp<bf16, ArgMaxOps>>", 7400), 63, 512,
                  40, 4096));
    out_.end();
    read_token();
    out_.end();
    out_.host(21000);  // detokenise, decide whether to go on
  }

 private:
  void decoder_layer(int layer, int step) {
    out_.begin(profile::RangeKind::python_function,
               fmt::format("nn.Module: DecoderLayer_{}", layer));
    rms_norm();
    linear(gemv(5200, 768));
    attention(layer == 0 && step == 0);
    linear(gemv(3300, 256));
    residual_add();
    rms_norm();
    linear(gemv(9800, 1408));
    op("aten::silu",
       configured(kernel_work("act_and_mul_kernel<bf16, silu>", 1700), 11, 256, 22, 0));
    linear(gemv(6100, 256));
    residual_add();
    out_.end();
  }

  void op(const char* name, Work work) {
    out_.begin_op(name);
    out_.launch(kStream, std::move(work), 4600);
    out_.end();
    out_.host(2600);
  }

  void rms_norm() {
    op("rms_norm", configured(kernel_work("rms_norm_kernel<bf16>", 2100), 1, 1024, 32, 128));
  }

  void residual_add() {
    op("aten::add",
       configured(kernel_work("vectorized_elementwise_kernel<4, CUDAFunctor_add<bf16>>", 1500), 2,
                  128, 20, 0));
  }

  void linear(Work work) {
    out_.begin_op("aten::linear");
    op("aten::mm", std::move(work));
    out_.end();
  }

  void attention(bool first) {
    out_.begin_op("aten::scaled_dot_product_attention");
    if (first) allocate();
    op("aten::_scaled_dot_product_flash_attention",
       configured(kernel_work("flash_fwd_splitkv_kernel<128, 64, 128, 4, bf16>", 6800), 16, 128,
                  255, 81920));
    out_.end();
  }

  void allocate() {
    out_.begin_op("aten::empty");
    out_.host(1800);
    out_.add(PlainCall{"cudaMalloc", 1432650});
    out_.end();
  }

  // tensor.item(): a copy to pageable memory, which waits for itself, then a synchronisation.
  void read_token() {
    out_.begin_op("aten::item");
    out_.begin_op("aten::_local_scalar_dense");
    out_.host(2300);
    Submit submit;
    submit.call_name = "cudaMemcpyAsync";
    submit.call_ns = out_.about(6200);
    submit.on = kStream;
    submit.work = copy_work(profile::CopyKind::device_to_host, profile::MemoryKind::device,
                            profile::MemoryKind::pageable, 8, out_.about(1150));
    submit.waits = true;
    out_.add(submit);
    out_.host(900);
    Synchronise synchronise;
    synchronise.scope = SyncScope::stream;
    synchronise.call_ns = out_.about(3400);
    synchronise.on = kStream;
    out_.add(synchronise);
    out_.end();
    out_.end();
  }

  ThreadWriter out_;
};

}  // namespace

Program decode_program() {
  Program program;
  HostThread thread;
  thread.tid = program.pid;
  thread.name = fmt::format("thread {} (python)", thread.tid);
  DecodeWriter writer(thread);
  for (int step = 0; step < kSteps; ++step) writer.step(step);
  program.threads.push_back(thread);
  return program;
}

}  // namespace gprofml::synth
