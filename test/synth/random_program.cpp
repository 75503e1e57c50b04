#include "test/synth/random_program.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "test/synth/random.hpp"
#include "test/synth/works.hpp"

namespace gprofml::synth {
namespace {

constexpr std::array<const char*, 8> kKernelNames{
    "ampere_sgemm_128x64_nn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1> >(int, at::native::FillFunctor<float>, std::array<char*, 1>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
    "segment_k_off_kernel__5x_cublas",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4> >(Flash_fwd_params)",
    "triton_poi_fused_add_mul_0",
    "rms_norm_kernel",
    "softmax_warp_forward",
    "reduce_kernel<512, 1, \"sum\">",
};

// Every one is communication by the definition's list of names.
constexpr std::array<const char*, 5> kCommunicationNames{
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>",
    "multimem_all_reduce_kernel",
    "ReduceScatter_kernel",
};

constexpr std::array<const char*, 5> kOpNames{"aten::linear", "aten::addmm", "aten::mul",
                                              "aten::scaled_dot_product_attention",
                                              "autograd::engine"};
constexpr std::array<const char*, 3> kFrameNames{"model.py(42): forward", "nn.Module: Linear_0",
                                                 "<built-in method matmul>"};

class Builder {
 public:
  Builder(std::uint64_t seed, const ProgramShape& shape) : random_(seed), shape_(shape) {
    add_threads();
    add_streams();
  }

  Program build() {
    while (work_ < shape_.activities) add_something(random_.index(program_.threads.size()));
    for (std::size_t thread = 0; thread < program_.threads.size(); ++thread) finish(thread);
    return program_;
  }

 private:
  struct StreamUse {
    StreamRef on;
    std::size_t owner = 0;  // the only thread that uses it, until it hands it over
    bool fresh = false;     // work was submitted since the last event wait
  };
  struct Event {
    int id = 0;
    StreamRef on;
    std::size_t owner = 0;
  };

  // --- pieces ----------------------------------------------------------------------------------

  void add_threads() {
    for (int i = 0; i < std::max(1, shape_.threads); ++i) {
      HostThread thread;
      thread.tid = program_.pid + i;
      thread.name = fmt::format("thread {} (python)", thread.tid);
      thread.start_ns = i == 0 ? 0 : time(1000, 40000);
      program_.threads.push_back(thread);
      open_.push_back(0);
    }
  }

  void add_streams() {
    const int devices = std::max(1, shape_.devices);
    for (int i = 0; i < std::max(shape_.streams, devices); ++i) {
      StreamUse use;
      use.on = {i % devices, 7 + 13 * (i / devices)};
      use.owner = random_.index(program_.threads.size());
      streams_.push_back(use);
    }
  }

  Nanoseconds time(Nanoseconds low, Nanoseconds high) {
    const Nanoseconds drawn = random_.between(low, high);
    return shape_.ties ? std::max<Nanoseconds>(1, drawn / 2000) * 2000 : drawn;
  }

  template <typename Names>
  const char* one_of(const Names& names) {
    return names[random_.index(names.size())];
  }

  Nanoseconds jitter() { return shape_.ties ? 0 : random_.between(0, 400); }

  Nanoseconds call_time() { return random_.chance(3) ? time(60000, 1500000) : time(1500, 9000); }

  Nanoseconds work_time() { return random_.chance(10) ? time(50000, 400000) : time(1200, 45000); }

  // Real host code always takes some time between two actions, so everything begins apart.
  void add(std::size_t thread, Action action) {
    const Nanoseconds pause = random_.chance(4) ? time(15000, 150000) : time(150, 3000);
    program_.threads[thread].actions.emplace_back(HostWork{pause * shape_.host_scale});
    program_.threads[thread].actions.push_back(std::move(action));
  }

  std::vector<std::size_t> streams_of(std::size_t thread) const {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].owner == thread) mine.push_back(i);
    }
    return mine;
  }

  // --- actions ---------------------------------------------------------------------------------

  void add_something(std::size_t thread) {
    const std::int64_t dice = random_.between(0, 99);
    if (dice < 50) return add_work(thread);
    if (dice < 58) return add_graph(thread);
    if (dice < 72) return add_range(thread);
    if (dice < 80) return add_event(thread);
    if (dice < 86) return add_stream_wait(thread);
    if (dice < 91) return add_sync(thread);
    if (dice < 95) return add_hand_over(thread);
    if (dice < 96 && shape_.syncs)
      return add(thread, FreeCall{"cudaFree", time(2000, 9000), any_device(), jitter()});
    add(thread,
        PlainCall{random_.chance(20) ? "cudaMalloc" : "cudaStreamIsCapturing", call_time()});
  }

  int any_device() { return streams_[random_.index(streams_.size())].on.device; }

  void add_work(std::size_t thread) {
    const std::vector<std::size_t> mine = streams_of(thread);
    if (mine.empty()) return add(thread, PlainCall{"cudaGetDevice", time(500, 2000)});
    submit_on(thread, streams_[mine[random_.index(mine.size())]]);
  }

  void submit_on(std::size_t thread, StreamUse& use) {
    Submit submit;
    submit.call_ns = call_time();
    submit.on = use.on;
    if (shape_.copies && random_.chance(18)) {
      draw_memory_work(submit);
    } else {
      submit.work = draw_kernel();
      if (random_.chance(20)) submit.call_name = "cuLaunchKernel";
    }
    submit.work.start_delay_ns = jitter();
    add(thread, submit);
    use.fresh = true;
    ++work_;
  }

  Work draw_kernel() {
    // One draw a statement: the order in which arguments are evaluated is the compiler's choice.
    const Nanoseconds duration_ns = work_time();
    const bool communicates = shape_.communication && random_.chance(12);
    Work work = communicates ? communication_work(one_of(kCommunicationNames), duration_ns)
                             : kernel_work(one_of(kKernelNames), duration_ns);
    if (random_.chance(70)) {
      work.config.grid = {random_.between(1, 6), 1, 1};
      work.config.block = {128, 1, 1};
      work.config.registers_per_thread = random_.between(1, 4) * 32;
    }
    work.start_delay_ns = jitter();
    return work;
  }

  void draw_memory_work(Submit& submit) {
    using profile::CopyKind;
    using profile::MemoryKind;
    const std::int64_t bytes = random_.between(4, 1 << 20);
    if (random_.chance(30)) {
      submit.call_name = "cudaMemsetAsync";
      submit.work = fill_work(bytes, work_time());
      return;
    }
    const bool upload = random_.chance(50);
    const bool pageable = random_.chance(40);
    const MemoryKind host = pageable ? MemoryKind::pageable : MemoryKind::pinned;
    submit.call_name = "cudaMemcpyAsync";
    submit.work =
        upload ? copy_work(CopyKind::host_to_device, host, MemoryKind::device, bytes, work_time())
               : copy_work(CopyKind::device_to_host, MemoryKind::device, host, bytes, work_time());
    submit.waits = pageable;
    submit.return_delay_ns = jitter();
  }

  void add_graph(std::size_t thread) {
    const std::vector<std::size_t> mine = streams_of(thread);
    if (!shape_.graphs || mine.empty()) return add_work(thread);
    StreamUse& use = streams_[mine[random_.index(mine.size())]];
    LaunchGraph graph;
    graph.call_ns = call_time();
    graph.on = use.on;
    graph.graph_id = random_.between(1, 3);
    const std::int64_t nodes = random_.between(2, 9);
    for (std::int64_t i = 0; i < nodes; ++i) {
      GraphNodeWork node;
      node.work = draw_kernel();
      node.stream = use.on.stream;
      if (i > 0 && random_.chance(30))
        node.after.push_back(random_.index(static_cast<std::size_t>(i)));
      graph.nodes.push_back(node);
    }
    work_ += static_cast<int>(nodes);
    use.fresh = true;
    add(thread, graph);
  }

  void add_range(std::size_t thread) {
    if (!shape_.ranges) return add_work(thread);
    std::size_t& open = open_[thread];
    if (open > 0 && (open >= 4 || random_.chance(45))) {
      --open;
      return add(thread, EndRange{});
    }
    ++open;
    const std::int64_t dice = random_.between(0, 99);
    if (dice < 60) {
      return add(thread, BeginRange{profile::RangeKind::op, one_of(kOpNames)});
    }
    if (dice < 80) {
      return add(thread, BeginRange{profile::RangeKind::python_function, one_of(kFrameNames)});
    }
    add(thread,
        BeginRange{profile::RangeKind::annotation, fmt::format("phase {}", random_.between(0, 2))});
  }

  // An event that is recorded right after a wait would stand for work of another stream, which no
  // trace can show; only streams with work of their own since then record.
  void add_event(std::size_t thread) {
    const std::vector<std::size_t> mine = streams_of(thread);
    if (!shape_.events || mine.empty()) return add_work(thread);
    const StreamUse& use = streams_[mine[random_.index(mine.size())]];
    if (!use.fresh) return add_work(thread);
    const int id = static_cast<int>(random_.between(1, 6)) + 10 * static_cast<int>(thread);
    events_.push_back({id, use.on, thread});
    add(thread, RecordEvent{time(600, 2500), use.on, id});
  }

  // The last record of an event of this thread, so that the wait surely comes after it.
  const Event* recent_event(std::size_t thread) {
    std::vector<const Event*> mine;
    for (const Event& event : events_) {
      if (event.owner == thread) mine.push_back(&event);
    }
    if (mine.empty()) return nullptr;
    return mine[mine.size() - 1 - random_.index(std::min<std::size_t>(3, mine.size()))];
  }

  void add_stream_wait(std::size_t thread) {
    const Event* event = recent_event(thread);
    const std::vector<std::size_t> mine = streams_of(thread);
    if (event == nullptr || mine.empty()) return add_event(thread);
    StreamUse& use = streams_[mine[random_.index(mine.size())]];
    const bool allowed =
        shape_.cross_device_events || use.on.device == last_record_of(event->id).device;
    if (!allowed || use.on == last_record_of(event->id)) return add_work(thread);
    use.fresh = false;
    add(thread, StreamWaitEvent{time(600, 2500), use.on, event->id});
    if (random_.chance(80)) submit_on(thread, use);
  }

  StreamRef last_record_of(int id) const {
    StreamRef on;
    for (const Event& event : events_) {
      if (event.id == id) on = event.on;
    }
    return on;
  }

  void add_sync(std::size_t thread) {
    if (!shape_.syncs) return add_work(thread);
    Synchronise sync;
    sync.call_ns = time(1500, 6000);
    sync.return_delay_ns = jitter();
    sync.on = streams_[random_.index(streams_.size())].on;
    const Event* event = recent_event(thread);
    const std::int64_t dice = random_.between(0, 99);
    if (dice < 45) {
      sync.scope = SyncScope::stream;
    } else if (dice < 70 && event != nullptr) {
      sync.scope = SyncScope::event;
      sync.event = event->id;
    }
    add(thread, sync);
  }

  // Gives one stream to another thread, which sleeps until it gets it. Signals and waits are
  // appended to their threads in one global order, so no set of threads can wait in a circle.
  void add_hand_over(std::size_t thread) {
    const std::vector<std::size_t> mine = streams_of(thread);
    if (!shape_.hand_overs || program_.threads.size() < 2 || mine.empty()) return add_work(thread);
    const std::size_t shift = 1 + random_.index(program_.threads.size() - 1);
    const std::size_t receiver = (thread + shift) % program_.threads.size();
    streams_[mine[random_.index(mine.size())]].owner = receiver;
    add(thread, Signal{++last_flag_});
    add(receiver, WaitSignal{last_flag_, jitter()});
  }

  void finish(std::size_t thread) {
    for (std::size_t& open = open_[thread]; open > 0; --open) add(thread, EndRange{});
    if (random_.chance(50) && shape_.syncs) {
      for (const StreamUse& use : streams_) {
        Synchronise sync;
        sync.call_ns = time(1500, 6000);
        sync.return_delay_ns = jitter();
        sync.on = use.on;
        add(thread, sync);
      }
    }
  }

  Random random_;
  const ProgramShape& shape_;
  Program program_;
  std::vector<StreamUse> streams_;
  std::vector<Event> events_;
  std::vector<std::size_t> open_;  // ranges open, by thread
  int work_ = 0;
  int last_flag_ = 0;
};

}  // namespace

ProgramShape random_shape(std::uint64_t seed) {
  Random random(seed * 2 + 1);
  ProgramShape shape;
  shape.threads = static_cast<int>(random.between(1, 3));
  shape.devices = random.chance(25) ? 2 : 1;
  shape.streams = static_cast<int>(random.between(1, 5));
  shape.activities =
      static_cast<int>(random.chance(20) ? random.between(150, 400) : random.between(20, 150));
  for (bool* feature : {&shape.graphs, &shape.copies, &shape.events, &shape.syncs, &shape.ranges,
                        &shape.communication, &shape.hand_overs}) {
    *feature = random.chance(80);
  }
  shape.host_scale = random.chance(30) ? static_cast<int>(random.between(2, 8)) : 1;
  return shape;
}

Program random_program(std::uint64_t seed, const ProgramShape& shape) {
  constexpr std::uint64_t kTries = 1000;
  for (std::uint64_t attempt = 0; attempt < kTries; ++attempt) {
    Program program = Builder(seed + attempt * 0x9e3779b97f4a7c15, shape).build();
    if (shape.ties || !has_ties(run(program))) return program;
  }
  throw std::logic_error(fmt::format("seed {}: {} programs in a row had ties", seed, kTries));
}

Program random_program(std::uint64_t seed) {
  return random_program(seed, random_shape(seed));
}

bool has_ties(const Execution& execution) {
  std::vector<Nanoseconds> times;
  const auto add_all = [&](const auto& events) {
    for (const auto& event : events) {
      times.push_back(event.start_ns);
      times.push_back(event.end_ns);
    }
  };
  add_all(execution.activities);
  add_all(execution.calls);
  add_all(execution.ranges);
  add_all(execution.syncs);
  std::sort(times.begin(), times.end());
  return std::adjacent_find(times.begin(), times.end()) != times.end();
}

}  // namespace gprofml::synth
