#include "libprofile/capture/machine/read_machine.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "libprofile/spool/machine_records.hpp"
#include "libprofile/spool/reader.hpp"

namespace gprofml::profile {
namespace {

std::int64_t told(std::int64_t value) {
  return value < 0 ? kUnknown : value;
}

class MachineTranslator {
 public:
  MachineTranslator(const std::set<std::string>& on_another_clock, Trace& trace)
      : on_another_clock_(on_another_clock), trace_(trace) {
    for (RowIndex row = 0; row < trace.processes.size(); ++row) {
      rows_of_spools_.emplace(trace.text(trace.processes[row].source), row);
    }
    for (RowIndex row = 0; row < trace.threads.size(); ++row) {
      const Thread& thread = trace.threads[row];
      rows_of_threads_.emplace(std::tuple(thread.process, thread.pid, thread.tid), row);
    }
    has_own_modules_.insert(trace.modules.process.begin(), trace.modules.process.end());
    for (RowIndex row = 0; row < trace.devices.size(); ++row) {
      if (trace.devices[row].uuid != 0) {
        rows_of_devices_.emplace(trace.text(trace.devices[row].uuid), row);
      }
    }
  }

  void take(RecordCursor records) {
    while (const auto view = records.next()) take(*view);
  }

  void finish() {
    if (cost_.looks > 0) {
      trace_.meta["sampler_cpu_ns"] = std::to_string(cost_.cpu_ns);
      trace_.meta["sampler_looks"] = std::to_string(cost_.looks);
    }
    if (left_out_) {
      trace_.meta["machine_samples"] =
          "left out: taken on the wall clock, the events are on a simulated one";
    }
  }

 private:
  struct KnownThread {
    RowIndex process = kNoRow;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string name;
    RowIndex row = kNoRow;  ///< once it has a sample
  };
  struct KnownProcess {
    RowIndex spool_row = kNoRow;
    RowIndex row = kNoRow;  ///< the same where samples may be joined
    std::int64_t pid = 0;
  };

  void take(const RecordView& view) {
    if (view.kind() == spool::kMachineProcess) take_process(view);
    if (view.kind() == spool::kMachineThread) take_thread(view);
    if (view.kind() == spool::kMachineGpu) take_gpu(view);
    if (view.kind() == spool::kThreadSample) take_thread_sample(view);
    if (view.kind() == spool::kGpuSample) take_gpu_sample(view);
    if (view.kind() == spool::kMachineModule) take_module(view);
    if (view.kind() == spool::kMachineCost) {
      if (const auto record = view.as<spool::MachineCost>()) cost_ = *record;
    }
  }

  void take_process(const RecordView& view) {
    const auto record = view.as<spool::MachineProcess>();
    const auto name = record ? view.text(sizeof *record, record->name_bytes) : std::nullopt;
    if (!name) return;
    KnownProcess process{kNoRow, kNoRow, record->pid};
    if (const auto found = rows_of_spools_.find(std::string(*name));
        found != rows_of_spools_.end()) {
      process.spool_row = found->second;
    }
    if (on_another_clock_.count(std::string(*name)) != 0) {
      left_out_ = true;
    } else {
      process.row = process.spool_row;
    }
    processes_[record->id] = process;
  }

  /// Modules have no time, so it does not matter which clock their process had.
  void take_module(const RecordView& view) {
    const auto record = view.as<spool::MachineModule>();
    if (!record) return;
    const auto path = view.text(sizeof *record, record->path_bytes);
    const auto build_id =
        view.text(sizeof *record + std::size_t{record->path_bytes}, record->build_id_bytes);
    const auto process = processes_.find(record->process);
    if (!path || !build_id || process == processes_.end()) return;
    const RowIndex row = process->second.spool_row;
    if (row == kNoRow || has_own_modules_.count(row) != 0) return;
    ModuleColumns& modules = trace_.modules;
    modules.process.push_back(row);
    modules.path.push_back(trace_.intern(*path));
    modules.build_id.push_back(trace_.intern(*build_id));
    modules.base.push_back(record->base);
    modules.bytes.push_back(static_cast<std::int64_t>(record->bytes));
  }

  void take_thread(const RecordView& view) {
    const auto record = view.as<spool::MachineThread>();
    const auto name = record ? view.text(sizeof *record, record->name_bytes) : std::nullopt;
    if (!name) return;
    KnownThread& thread = threads_[record->id];
    const auto process = processes_.find(record->process);
    if (process != processes_.end()) {
      thread.process = process->second.row;
      thread.pid = process->second.pid;
    }
    thread.tid = record->tid;
    thread.name = *name;
    if (thread.row != kNoRow) name_thread(thread);
  }

  void take_gpu(const RecordView& view) {
    const auto record = view.as<spool::MachineGpu>();
    const auto uuid = record ? view.text(sizeof *record, record->uuid_bytes) : std::nullopt;
    if (!uuid) return;
    const auto found = rows_of_devices_.find(std::string(*uuid));
    if (found != rows_of_devices_.end()) gpus_[record->id] = found->second;
  }

  void take_thread_sample(const RecordView& view) {
    const auto record = view.as<spool::ThreadSample>();
    const auto found = record ? threads_.find(record->thread) : threads_.end();
    if (found == threads_.end() || found->second.process == kNoRow) return;
    ThreadSampleColumns& samples = trace_.thread_samples;
    samples.time_ns.push_back(record->time_ns);
    samples.thread.push_back(row_of(found->second));
    samples.on_cpu_ns.push_back(told(record->on_cpu_ns));
    samples.runnable_ns.push_back(told(record->runnable_ns));
    samples.timeslices.push_back(told(record->timeslices));
    samples.last_cpu.push_back(told(record->last_cpu));
  }

  void take_gpu_sample(const RecordView& view) {
    const auto record = view.as<spool::GpuSample>();
    const auto found = record ? gpus_.find(record->gpu) : gpus_.end();
    if (found == gpus_.end()) return;
    if (!on_another_clock_.empty()) {
      left_out_ = true;
      return;
    }
    GpuSampleColumns& samples = trace_.gpu_samples;
    samples.time_ns.push_back(record->time_ns);
    samples.device.push_back(found->second);
    samples.sm_clock_mhz.push_back(told(record->sm_clock_mhz));
    samples.memory_clock_mhz.push_back(told(record->memory_clock_mhz));
    samples.power_mw.push_back(told(record->power_mw));
    samples.temperature_c.push_back(told(record->temperature_c));
    // A mask: all its bits may be set.
    samples.throttle_reasons.push_back(
        record->throttle_reasons == spool::kNotTold ? kUnknown : record->throttle_reasons);
    samples.memory_used_bytes.push_back(told(record->memory_used_bytes));
    samples.busy_percent.push_back(told(record->busy_percent));
    samples.foreign_processes.push_back(told(record->foreign_processes));
  }

  RowIndex row_of(KnownThread& thread) {
    if (thread.row != kNoRow) return thread.row;
    const auto [found, is_new] =
        rows_of_threads_.emplace(std::tuple(thread.process, thread.pid, thread.tid),
                                 static_cast<RowIndex>(trace_.threads.size()));
    if (is_new) trace_.threads.push_back({thread.process, thread.pid, thread.tid, 0});
    thread.row = found->second;
    name_thread(thread);
    return thread.row;
  }

  /// The name that the program gave with NVTX says more than the system's.
  void name_thread(const KnownThread& thread) {
    Thread& row = trace_.threads[thread.row];
    if (row.name != 0 && named_here_.count(thread.row) == 0) return;
    row.name = trace_.intern(thread.name);
    named_here_.insert(thread.row);
  }

  const std::set<std::string>& on_another_clock_;
  Trace& trace_;
  std::map<std::string, RowIndex> rows_of_spools_;
  std::map<std::string, RowIndex> rows_of_devices_;
  std::map<std::tuple<RowIndex, std::int64_t, std::int64_t>, RowIndex> rows_of_threads_;
  std::unordered_map<std::uint32_t, KnownProcess> processes_;
  std::unordered_map<std::uint32_t, KnownThread> threads_;
  std::unordered_map<std::uint32_t, RowIndex> gpus_;
  std::set<RowIndex> named_here_;
  std::set<RowIndex> has_own_modules_;  ///< processes that recorded theirs themselves
  spool::MachineCost cost_{};
  bool left_out_ = false;
};

}  // namespace

void add_machine_samples(const std::string& folder, const std::set<std::string>& on_another_clock,
                         Trace& trace) {
  try {
    SpoolReader reader(folder + "/" + spool::kMachineName);
    MachineTranslator translator(on_another_clock, trace);
    while (reader.next_chunk()) translator.take(reader.records());
    translator.finish();
  } catch (const SpoolError&) {
    // None was written, or it cannot be read: what happened on the GPU is told without it.
  }
}

}  // namespace gprofml::profile
