#include "libprofile/capture/machine/sampler.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "libprofile/capture/machine/gpu_watch.hpp"
#include "libprofile/capture/machine/spool_names.hpp"
#include "libprofile/capture/machine/watched_process.hpp"
#include "libprofile/spool/chunk_file.hpp"
#include "libprofile/spool/machine_records.hpp"

namespace gprofml::profile {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 500ms;
/// Each thread takes at most a hundredth of a CPU: with thousands of threads it looks less often.
constexpr std::int64_t kShareOfCpu = 100;
constexpr std::int64_t kLongestBetweenModules = 60'000'000'000;

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Threads start with the mask of the one that starts them.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

struct Sampler::State {
  explicit State(SamplerOptions its_options) : options(std::move(its_options)) {}

  const SamplerOptions options;

  std::mutex lock;  // for all below
  std::condition_variable changed;
  bool stopping = false;
  bool closed = false;  // the recording is being read: nothing may be written any more
  int running = 0;
  ChunkFile file;
  std::set<std::uint32_t> recorded;  // process ids of this machine
  std::int64_t cpu_ns = 0;           // of both threads
  std::int64_t looks = 0;

  void read_proc();
  void ask_nvml();
  bool wait_for_next(Nanoseconds start_ns, std::int64_t look_ns);
  void note_cost(std::int64_t& counted_ns);

  template <typename Write>
  void write(Write add) {
    const std::lock_guard guard(lock);
    if (closed) return;
    if (!file.is_open() && !file.create(options.folder + "/" + spool::kMachineName)) return;
    add(file);
    file.flush();
  }
};

namespace {

/// Samples of one look at one process, kept until they are written together.
class Collected : public ThreadSink {
 public:
  Collected(ChunkFile& file, std::uint32_t process) : file_(file), process_(process) {}

  void thread(std::uint32_t id, pid_t tid, const std::string& name) override {
    spool::MachineThread record{};
    record.id = id;
    record.process = process_;
    record.tid = static_cast<std::uint32_t>(tid);
    record.name_bytes = static_cast<std::uint32_t>(name.size());
    file_.add(spool::kMachineThread, record, name);
  }
  void sample(std::uint32_t id, Nanoseconds time_ns, const ThreadTimes& times,
              std::int32_t last_cpu) override {
    spool::ThreadSample record{};
    record.time_ns = time_ns;
    record.on_cpu_ns = times.on_cpu_ns;
    record.runnable_ns = times.runnable_ns;
    record.timeslices = times.timeslices;
    record.thread = id;
    record.last_cpu = last_cpu;
    file_.add(spool::kThreadSample, record);
  }

 private:
  ChunkFile& file_;
  std::uint32_t process_;
};

/// The processes that have begun to record, and those among them that live here.
class Processes {
 public:
  Processes(const std::string& folder, const std::string& host) : folder_(folder), host_(host) {}

  /// Looks for new spools. Returns the new ones that can be looked at.
  std::vector<std::uint32_t> find() {
    std::vector<std::uint32_t> found;
    DIR* const directory = opendir(folder_.c_str());
    if (directory == nullptr) return found;
    while (const dirent* const entry = readdir(directory)) {
      const auto pid = pid_of_spool(entry->d_name, host_);
      if (!pid || !known_.insert(entry->d_name).second) continue;
      auto process = std::make_unique<WatchedProcess>(static_cast<pid_t>(*pid), entry->d_name);
      if (!process->has_recorder()) continue;
      watched_.emplace(next_process_, std::move(process));
      found.push_back(next_process_++);
    }
    closedir(directory);
    return found;
  }

  WatchedProcess& process(std::uint32_t id) { return *watched_.at(id); }

  /// Libraries are loaded at the start and now and then later; reading what is mapped takes the
  /// process's lock on its memory, so it is done ever less often.
  void look_at_modules(ChunkFile& file) {
    const std::int64_t now = now_ns(CLOCK_MONOTONIC);
    for (auto& [id, process] : watched_) {
      Due& due = modules_due_[id];
      if (now < due.at_ns) continue;
      for (const WatchedProcess::Module& module : process->new_modules()) {
        spool::MachineModule record{};
        record.base = module.file.base;
        record.bytes = module.file.bytes;
        record.process = id;
        record.path_bytes = static_cast<std::uint32_t>(module.file.path.size());
        record.build_id_bytes = static_cast<std::uint32_t>(module.build_id.size());
        file.add(spool::kMachineModule, record, module.file.path + module.build_id);
      }
      due.at_ns = now + due.period_ns;
      due.period_ns = std::min(due.period_ns * 2, kLongestBetweenModules);
    }
  }

  void look(ChunkFile& file) {
    for (auto entry = watched_.begin(); entry != watched_.end();) {
      Collected sink(file, entry->first);
      const bool lives = entry->second->look(now_ns(CLOCK_REALTIME), next_thread_, sink);
      entry = lives ? std::next(entry) : watched_.erase(entry);
    }
  }

 private:
  struct Due {
    std::int64_t at_ns = 0;
    std::int64_t period_ns = 500'000'000;
  };

  std::string folder_;
  std::string host_;
  std::map<std::uint32_t, Due> modules_due_;
  std::set<std::string> known_;
  std::map<std::uint32_t, std::unique_ptr<WatchedProcess>> watched_;
  std::uint32_t next_process_ = 0;
  std::uint32_t next_thread_ = 0;
};

void describe(std::uint32_t id, const WatchedProcess& process, ChunkFile& file) {
  spool::MachineProcess record{};
  record.id = id;
  record.pid = static_cast<std::uint32_t>(process.pid());
  record.name_bytes = static_cast<std::uint32_t>(process.spool().size());
  file.add(spool::kMachineProcess, record, process.spool());
}

void describe(std::uint32_t id, const std::string& uuid, ChunkFile& file) {
  spool::MachineGpu record{};
  record.id = id;
  record.uuid_bytes = static_cast<std::uint32_t>(uuid.size());
  file.add(spool::kMachineGpu, record, uuid);
}

}  // namespace

/// Until the next look is due, counted from the start of the one before; at once when it is late.
/// `look_ns` is what that one took. False when this is to stop.
bool Sampler::State::wait_for_next(Nanoseconds start_ns, std::int64_t look_ns) {
  const Nanoseconds period_ns = std::max(options.period_ns, look_ns * kShareOfCpu);
  const Nanoseconds left_ns = period_ns - (now_ns(CLOCK_MONOTONIC) - start_ns);
  std::unique_lock guard(lock);
  changed.wait_for(guard, std::chrono::nanoseconds(std::max<Nanoseconds>(left_ns, 0)),
                   [this] { return stopping; });
  return !stopping;
}

/// The calling thread's CPU time since `counted_ns`, which is brought up to now. With the lock.
void Sampler::State::note_cost(std::int64_t& counted_ns) {
  const std::int64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
  cpu_ns += cpu - counted_ns;
  counted_ns = cpu;
}

void Sampler::State::read_proc() {
  Processes processes(options.folder, options.host);
  std::int64_t counted_ns = 0;
  for (bool is_last = false;;) {
    const Nanoseconds start_ns = now_ns(CLOCK_MONOTONIC);
    std::int64_t look_ns = 0;  // of CPU time, without what is done once
    const std::vector<std::uint32_t> fresh = processes.find();
    bool any = false;
    {
      const std::lock_guard guard(lock);
      for (const std::uint32_t id : fresh) {
        recorded.insert(static_cast<std::uint32_t>(processes.process(id).pid()));
      }
      any = !recorded.empty();
    }
    if (any) {
      write([&](ChunkFile& to) {
        for (const std::uint32_t id : fresh) describe(id, processes.process(id), to);
        processes.look_at_modules(to);
        const std::int64_t cpu_before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        processes.look(to);
        look_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
        note_cost(counted_ns);
        spool::MachineCost cost{};
        cost.cpu_ns = cpu_ns;
        cost.looks = ++looks;
        to.add(spool::kMachineCost, cost);
      });
    }
    if (is_last) return;
    is_last = !wait_for_next(start_ns, look_ns);
  }
}

void Sampler::State::ask_nvml() {
  std::unique_ptr<GpuWatch> gpus;
  std::int64_t counted_ns = 0;
  for (bool goes_on = true; goes_on;) {
    const Nanoseconds start_ns = now_ns(CLOCK_MONOTONIC);
    std::int64_t look_ns = 0;  // of CPU time, without what is done once
    std::set<std::uint32_t> ours;
    {
      const std::lock_guard guard(lock);
      ours = recorded;
    }
    if (!ours.empty()) {
      const bool is_first = gpus == nullptr;
      if (is_first) gpus = std::make_unique<GpuWatch>(options.nvml);
      if (gpus->uuids().empty()) return;
      const std::int64_t cpu_before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
      const auto samples = gpus->look(now_ns(CLOCK_REALTIME), ours);
      look_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
      write([&](ChunkFile& to) {
        for (std::size_t i = 0; is_first && i < gpus->uuids().size(); ++i) {
          describe(static_cast<std::uint32_t>(i), gpus->uuids()[i], to);
        }
        for (const spool::GpuSample& sample : samples) to.add(spool::kGpuSample, sample);
        note_cost(counted_ns);
      });
    }
    goes_on = wait_for_next(start_ns, look_ns);
  }
}

Sampler::Sampler(SamplerOptions options) : state_(std::make_shared<State>(std::move(options))) {
  const AllSignalsBlocked blocked;
  const auto start = [&](void (State::*work)()) {
    {
      const std::lock_guard guard(state_->lock);
      ++state_->running;
    }
    try {
      std::thread([state = state_, work] {
        pthread_setname_np(pthread_self(), "gprof-ml look");
        try {
          (state.get()->*work)();
        } catch (const std::exception&) {
          // Out of memory: the program needs it more than we do.
        }
        const std::lock_guard guard(state->lock);
        --state->running;
        state->changed.notify_all();
      }).detach();
    } catch (const std::system_error&) {
      const std::lock_guard guard(state_->lock);
      --state_->running;  // no more threads here: then it is not looked at
    }
  };
  start(&State::read_proc);
  start(&State::ask_nvml);
}

void Sampler::stop() {
  std::unique_lock guard(state_->lock);
  state_->stopping = true;
  state_->changed.notify_all();
  state_->changed.wait_for(guard, kPatience, [this] { return state_->running == 0; });
  state_->closed = true;
}

Sampler::~Sampler() {
  stop();
}

}  // namespace gprofml::profile
