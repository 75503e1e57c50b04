#include "test/simgpu/engine/engine_lock.hpp"

#include <atomic>
#include <unordered_set>

namespace gprofml::simgpu {
namespace {

// Never destroyed: atexit handlers and worker threads still make calls.
std::mutex& engine_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

using Handles = std::unordered_set<const void*>;
Handles& handles(HandleKind kind) {
  static auto* all = new Handles[static_cast<std::size_t>(HandleKind::kCount)];
  return all[static_cast<std::size_t>(kind)];
}

std::atomic<Observer*> g_observer{nullptr};
thread_local std::vector<std::function<void()>> t_after_unlock;

void deliver() {
  while (!t_after_unlock.empty()) {
    std::vector<std::function<void()>> work;
    work.swap(t_after_unlock);
    for (const auto& step : work) {
      step();
    }
  }
  std::deque<std::function<void(Observer&)>>& pending = this_thread().pending;
  while (!pending.empty()) {
    const auto what = std::move(pending.front());
    pending.pop_front();
    if (Observer* observer = current_observer(); observer != nullptr) {
      what(*observer);
    }
  }
}

}  // namespace

EngineLock::EngineLock() : lock_(engine_mutex()) {}

EngineLock::~EngineLock() noexcept {
  release();
}

void EngineLock::release() {
  if (lock_.owns_lock()) {
    lock_.unlock();
    deliver();
  }
}

void tell(std::function<void(Observer&)> what) {
  if (current_observer() != nullptr) {
    this_thread().pending.push_back(std::move(what));
  }
}

void run_after_unlock(std::function<void()> what) {
  t_after_unlock.push_back(std::move(what));
}

Observer* current_observer() {
  return g_observer.load(std::memory_order_acquire);
}

void set_observer(Observer* observer) {
  g_observer.store(observer, std::memory_order_release);
}

void register_handle(HandleKind kind, const void* object) {
  handles(kind).insert(object);
}

void forget_handle(HandleKind kind, const void* object) {
  handles(kind).erase(object);
}

bool is_live(HandleKind kind, const void* object) {
  return handles(kind).count(object) != 0;
}

}  // namespace gprofml::simgpu
