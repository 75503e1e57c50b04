#include "libprofile/capture/machine/watched_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace gprofml::profile {
namespace {

/// Of the launcher's descriptors, which are 1024 in most places.
constexpr int kMostKeptOpen = 400;
std::atomic<int> kept_open{0};

/// What a file of /proc holds now; empty when it is gone. `text` is the caller's room.
template <std::size_t kRoom>
std::string_view contents(int descriptor, std::array<char, kRoom>& text) {
  const ssize_t bytes = pread(descriptor, text.data(), text.size(), 0);
  return bytes <= 0 ? std::string_view() : std::string_view(text.data(), std::size_t(bytes));
}

std::array<char, 40> name_in_task(pid_t tid, const char* file) {
  std::array<char, 40> name{};
  *fmt::format_to_n(name.data(), name.size() - 1, "{}/{}", tid, file).out = '\0';
  return name;
}

template <std::size_t kRoom>
std::string_view contents(int folder, pid_t tid, const char* file, std::array<char, kRoom>& text) {
  const int descriptor = openat(folder, name_in_task(tid, file).data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const std::string_view found = contents(descriptor, text);
  close(descriptor);
  return found;
}

/// The ids in a task folder. It is read through a second descriptor, for readdir() keeps its place.
std::vector<pid_t> thread_ids(int folder) {
  std::vector<pid_t> ids;
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return ids;
  DIR* const directory = fdopendir(again);
  if (directory == nullptr) {
    close(again);
    return ids;
  }
  while (const dirent* const entry = readdir(directory)) {
    pid_t tid = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, tid).ptr == end) ids.push_back(tid);
  }
  closedir(directory);
  return ids;
}

}  // namespace

WatchedProcess::WatchedProcess(pid_t pid, std::string spool)
    : pid_(pid),
      spool_(std::move(spool)),
      folder_(open(fmt::format("/proc/{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
}

WatchedProcess::~WatchedProcess() {
  for (auto& entry : threads_) forget(entry.second);
  if (folder_ >= 0) close(folder_);
}

void WatchedProcess::forget(Watched& thread) {
  if (thread.schedstat < 0) return;
  close(thread.schedstat);
  kept_open.fetch_sub(1, std::memory_order_relaxed);
}

std::string WatchedProcess::maps() const {
  std::ifstream file(fmt::format("/proc/{}/maps", pid_));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool WatchedProcess::has_recorder() const {
  return maps().find("libgprofml_injection") != std::string::npos;
}

std::vector<WatchedProcess::Module> WatchedProcess::new_modules() {
  std::vector<Module> modules;
  for (MappedFile& file : mapped_files(maps())) {
    if (!known_modules_.emplace(file.path, file.base).second) continue;
    // As the process sees it: it may live in a root folder of its own.
    std::string build_id = build_id_of(fmt::format("/proc/{}/root{}", pid_, file.path));
    modules.push_back({std::move(file), std::move(build_id)});
  }
  return modules;
}

bool WatchedProcess::read_times(pid_t tid, Watched& thread, ThreadTimes& times) const {
  std::array<char, 96> text;
  std::string_view found;
  if (thread.schedstat >= 0) {
    found = contents(thread.schedstat, text);
  } else if (kept_open.load(std::memory_order_relaxed) < kMostKeptOpen) {
    thread.schedstat = openat(folder_, name_in_task(tid, "schedstat").data(), O_RDONLY | O_CLOEXEC);
    if (thread.schedstat < 0) return false;
    kept_open.fetch_add(1, std::memory_order_relaxed);
    found = contents(thread.schedstat, text);
  } else {
    found = contents(folder_, tid, "schedstat", text);
  }
  const auto read = thread_times(found);
  if (read) times = *read;
  return read.has_value();
}

void WatchedProcess::look_at(pid_t tid, Nanoseconds time_ns, std::uint32_t& next_id,
                             ThreadSink& sink) {
  Watched& thread = threads_[tid];
  thread.seen = true;
  ThreadTimes times;
  if (!read_times(tid, thread, times)) return;
  if (!thread.is_new && times == thread.times) {
    thread.rested = true;
    thread.looked_ns = time_ns;
    return;
  }
  if (thread.is_new) thread.id = next_id++;
  std::array<char, 1024> text;
  const auto state = thread_state(contents(folder_, tid, "stat", text));
  if (thread.is_new || (state && state->name != thread.name)) {
    if (state) thread.name = state->name;
    sink.thread(thread.id, tid, thread.name);
  }
  if (thread.rested) sink.sample(thread.id, thread.looked_ns, thread.times, thread.last_cpu);
  if (state) thread.last_cpu = state->last_cpu;
  thread.times = times;
  thread.looked_ns = time_ns;
  thread.rested = thread.is_new = false;
  sink.sample(thread.id, time_ns, times, thread.last_cpu);
}

bool WatchedProcess::look(Nanoseconds time_ns, std::uint32_t& next_id, ThreadSink& sink) {
  if (folder_ < 0) return false;
  const std::vector<pid_t> ids = thread_ids(folder_);
  for (auto& entry : threads_) entry.second.seen = false;
  for (const pid_t tid : ids) look_at(tid, time_ns, next_id, sink);
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    if (entry->second.seen) {
      ++entry;
    } else {
      forget(entry->second);
      entry = threads_.erase(entry);
    }
  }
  return !ids.empty();
}

}  // namespace gprofml::profile
