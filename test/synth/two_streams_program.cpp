#include <fmt/format.h>

#include "test/synth/program_writer.hpp"
#include "test/synth/samples.hpp"
#include "test/synth/works.hpp"

namespace gprofml::synth {
namespace {

constexpr StreamRef kCompute{0, 7};
constexpr StreamRef kCommunication{0, 20};
constexpr int kSteps = 6;
constexpr int kLayers = 4;
constexpr int kReduced = 900;  // event: all gradients are reduced

class TrainingWriter {
 public:
  TrainingWriter(HostThread& main, HostThread& autograd)
      : main_(main, 7), autograd_(autograd, 11) {}

  void step(int number) {
    main_.begin(profile::RangeKind::annotation, fmt::format("ProfilerStep#{}", number));
    for (int layer = 0; layer < kLayers; ++layer) forward(layer);
    backward(number);
    optimise();
    read_loss();
    main_.end();
    main_.host(30000);  // next batch
  }

 private:
  void forward(int layer) {
    main_.begin(profile::RangeKind::python_function, fmt::format("nn.Module: Linear_{}", layer));
    main_.begin_op("aten::linear");
    main_.launch(kCompute,
                 kernel_work("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_128x128x64_cublas", 88000),
                 9000);
    main_.end();
    main_.begin_op("aten::relu");
    main_.launch(kCompute, kernel_work("vectorized_elementwise_kernel<4, relu<bf16>>", 14000),
                 5000);
    main_.end();
    main_.end();
  }

  // The main thread sleeps while the autograd thread goes through the layers.
  void backward(int step) {
    main_.host(6000);
    main_.add(Signal{2 * step});
    autograd_.add(WaitSignal{2 * step});
    for (int layer = kLayers - 1; layer >= 0; --layer) backward_layer(layer);
    autograd_.host(2000);
    autograd_.add(Signal{2 * step + 1});
    main_.add(WaitSignal{2 * step + 1});
  }

  void backward_layer(int layer) {
    autograd_.begin_op("autograd::engine::evaluate_function: AddmmBackward0");
    autograd_.launch(
        kCompute, kernel_work("sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_128x128x64_cublas", 91000),
        9000);
    autograd_.launch(
        kCompute, kernel_work("sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_128x128x64_cublas", 89000),
        7000);
    autograd_.end();
    reduce(layer);
  }

  void reduce(int layer) {
    autograd_.begin_op("c10d::allreduce_");
    autograd_.host(2500);
    autograd_.add(RecordEvent{autograd_.about(1100), kCompute, layer});
    autograd_.host(1500);
    autograd_.add(StreamWaitEvent{autograd_.about(900), kCommunication, layer});
    autograd_.begin(profile::RangeKind::annotation, "nccl:all_reduce");
    autograd_.launch(
        kCommunication,
        communication_work(
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 214000),
        8000);
    autograd_.end();
    autograd_.end();
  }

  void optimise() {
    main_.begin_op("Optimizer.step#SGD.step");
    main_.host(3000);
    main_.add(RecordEvent{main_.about(1100), kCommunication, kReduced});
    main_.host(1200);
    main_.add(StreamWaitEvent{main_.about(900), kCompute, kReduced});
    main_.launch(kCompute,
                 kernel_work("multi_tensor_apply_kernel<FusedSgdMathFunctor<float>>", 47000),
                 11000);
    main_.end();
  }

  void read_loss() {
    main_.begin_op("aten::item");
    main_.host(2000);
    Submit submit;
    submit.call_name = "cudaMemcpyAsync";
    submit.call_ns = main_.about(6000);
    submit.on = kCompute;
    submit.work = copy_work(profile::CopyKind::device_to_host, profile::MemoryKind::device,
                            profile::MemoryKind::pageable, 4, main_.about(1200));
    submit.waits = true;
    main_.add(submit);
    main_.end();
  }

  ThreadWriter main_;
  ThreadWriter autograd_;
};

}  // namespace

Program two_streams_program() {
  Program program;
  HostThread main;
  HostThread autograd;
  main.tid = program.pid;
  main.name = fmt::format("thread {} (python)", main.tid);
  autograd.tid = program.pid + 5;
  autograd.name = fmt::format("thread {} (pt_autograd_0)", autograd.tid);
  TrainingWriter writer(main, autograd);
  for (int step = 0; step < kSteps; ++step) writer.step(step);
  program.threads = {main, autograd};
  return program;
}

}  // namespace gprofml::synth
