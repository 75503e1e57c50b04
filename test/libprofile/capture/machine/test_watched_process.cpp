// Looks at this very process: its threads do what the test has planned.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "libprofile/capture/machine/sampler.hpp"
#include "libprofile/capture/machine/watched_process.hpp"
#include "libprofile/spool/machine_records.hpp"
#include "libprofile/spool/reader.hpp"

#include "test/temporary_folder.hpp"

namespace gprofml::profile {
namespace {

struct Seen {
  std::uint32_t id;
  Nanoseconds time_ns;
  ThreadTimes times;
};

struct Kept : ThreadSink {
  std::map<pid_t, std::uint32_t> ids;
  std::map<pid_t, std::string> names;
  std::vector<Seen> samples;

  void thread(std::uint32_t id, pid_t tid, const std::string& name) override {
    ids[tid] = id;
    names[tid] = name;
  }
  void sample(std::uint32_t id, Nanoseconds time_ns, const ThreadTimes& times,
              std::int32_t) override {
    samples.push_back({id, time_ns, times});
  }
  std::vector<Seen> of(pid_t tid) const {
    std::vector<Seen> found;
    for (const Seen& seen : samples) {
      if (ids.count(tid) != 0 && seen.id == ids.at(tid)) found.push_back(seen);
    }
    return found;
  }
};

Nanoseconds own_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * Nanoseconds{1'000'000'000} + time.tv_nsec;
}

/// Burns CPU when told to, and sleeps otherwise.
class Worker {
 public:
  explicit Worker(const char* name) {
    std::promise<pid_t> tid;
    std::future<pid_t> known = tid.get_future();
    thread_ = std::thread([this, name, &tid] {
      pthread_setname_np(pthread_self(), name);
      tid.set_value(static_cast<pid_t>(syscall(SYS_gettid)));
      work();
    });
    tid_ = known.get();
  }
  ~Worker() {
    burn(0);
    thread_.join();
  }
  pid_t tid() const { return tid_; }

  /// Returns when the thread has used so much CPU time in all and sleeps; 0 ends it.
  void burn(Nanoseconds until_ns) {
    until_ns_ = until_ns;
    go_.set_value();
    if (until_ns == 0) return;
    done_.get_future().wait();
    done_ = {};
    // "Done" is said before it sleeps: the system shows it as sleeping ("S") when it does.
    const std::string stat = "/proc/self/task/" + std::to_string(tid_) + "/stat";
    for (std::string line; line.find(") S ") == std::string::npos;) {
      std::ifstream file(stat);
      std::getline(file, line);
    }
  }

 private:
  void work() {
    for (;;) {
      go_.get_future().wait();
      go_ = {};
      if (until_ns_ == 0) return;
      while (own_cpu_ns() < until_ns_) {
      }
      done_.set_value();
    }
  }

  std::promise<void> go_, done_;
  Nanoseconds until_ns_ = 1;
  pid_t tid_ = 0;
  std::thread thread_;
};

TEST_CASE("What threads did is seen; one that rested says since when it did not") {
  constexpr Nanoseconds kFirst = 20'000'000, kSecond = 50'000'000;
  Worker worker("worker (1) S");
  worker.burn(kFirst);
  WatchedProcess process(getpid(), "name.spool");
  Kept kept;
  std::uint32_t next_id = 5;
  REQUIRE(process.look(100, next_id, kept));
  CHECK(kept.names[worker.tid()] == "worker (1) S");
  REQUIRE(kept.of(worker.tid()).size() == 1);
  const Seen first = kept.of(worker.tid())[0];
  CHECK(first.time_ns == 100);
  CHECK(first.times.on_cpu_ns >= kFirst);
  CHECK(first.times.timeslices > 0);

  REQUIRE(process.look(200, next_id, kept));
  REQUIRE(process.look(300, next_id, kept));
  CHECK(kept.of(worker.tid()).size() == 1);  // it slept

  worker.burn(kSecond);
  REQUIRE(process.look(400, next_id, kept));
  const std::vector<Seen> seen = kept.of(worker.tid());
  REQUIRE(seen.size() == 3);
  CHECK(seen[1].time_ns == 300);
  CHECK(seen[1].times == first.times);
  CHECK(seen[2].time_ns == 400);
  CHECK(seen[2].times.on_cpu_ns >= kSecond);
}

TEST_CASE("A process that is gone is said to be") {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  WatchedProcess process(child, "name.spool");
  Kept kept;
  std::uint32_t next_id = 0;
  CHECK(process.look(1, next_id, kept));
  CHECK(kept.ids.count(child) == 1);
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(process.look(2, next_id, kept));
  WatchedProcess none(child, "name.spool");
  CHECK_FALSE(none.look(3, next_id, kept));
}

/// What makes a process one of ours: the recorder among its mapped files.
class MappedRecorder {
 public:
  explicit MappedRecorder(const test::TemporaryFolder& folder) {
    const std::string path = folder / "libgprofml_injection.so";
    std::ofstream(path) << std::string(4096, 'x');
    FILE* const file = std::fopen(path.c_str(), "r");
    memory_ = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    std::fclose(file);
  }
  ~MappedRecorder() { munmap(memory_, 4096); }

 private:
  void* memory_;
};

std::string own_spool(const char* host) {
  return std::string(host) + "-" + std::to_string(getpid()) + "-1-2.spool";
}

TEST_CASE("Only a process with the recorder in it is looked at") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(WatchedProcess(getpid(), "name.spool").has_recorder());
  const MappedRecorder recorder(folder);
  CHECK(WatchedProcess(getpid(), "name.spool").has_recorder());
}

/// How many samples the folder's file holds of this thread.
int samples_of_this_thread(const std::string& folder) {
  const auto own = static_cast<std::uint32_t>(syscall(SYS_gettid));
  int samples = 0;
  std::map<std::uint32_t, std::uint32_t> tids;
  SpoolReader reader(folder + "/" + spool::kMachineName);
  while (reader.next_chunk()) {
    RecordCursor records = reader.records();
    while (const auto view = records.next()) {
      if (view->kind() == spool::kMachineThread) {
        tids[view->as<spool::MachineThread>()->id] = view->as<spool::MachineThread>()->tid;
      } else if (view->kind() == spool::kThreadSample) {
        samples += tids.at(view->as<spool::ThreadSample>()->thread) == own ? 1 : 0;
      }
    }
  }
  return samples;
}

TEST_CASE("The sampler writes what it sees while it sees it, and nothing of others") {
  const test::TemporaryFolder folder;
  const test::TemporaryFolder libraries;
  const MappedRecorder recorder(libraries);
  std::ofstream(folder / own_spool("elsewhere")) << "of another machine";
  SamplerOptions options;
  options.folder = folder.path().string();
  options.host = "here";
  options.period_ns = 1'000'000;
  options.nvml = "libno-such-library.so";
  {
    Sampler sampler(options);
    sampler.stop();
    CHECK(folder.files() == 1);  // nobody records here
  }
  std::ofstream(folder / own_spool("here")) << "ours";
  Sampler sampler(options);
  const auto has_header = [&] {
    return std::filesystem::file_size(folder / spool::kMachineName) >= sizeof(spool::FileHeader);
  };
  int samples = 0;
  while (samples < 3) {  // each turn of this loop is something that this thread did
    if (folder.files() == 3 && has_header()) samples = samples_of_this_thread(options.folder);
  }
  CHECK(samples >= 3);
  sampler.stop();
  const auto size = std::filesystem::file_size(folder / spool::kMachineName);
  sampler.stop();
  CHECK(std::filesystem::file_size(folder / spool::kMachineName) == size);
}

}  // namespace
}  // namespace gprofml::profile
