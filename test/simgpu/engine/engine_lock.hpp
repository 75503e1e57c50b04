// The one lock of the engine, and the order in which things happen when it is released: first what
// copies and fills really do, then what the observer is told. Neither holds the lock.
#pragma once

#include <functional>
#include <mutex>

#include "test/simgpu/engine/objects.hpp"
#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu {

class EngineLock {
 public:
  EngineLock();
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
  ~EngineLock() noexcept;

  /// Releases the lock, so that the caller may wait.
  void release();

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Tells the observer, as soon as the lock is released.
void tell(std::function<void(Observer&)> what);

/// Runs when the lock is released, on this thread.
void run_after_unlock(std::function<void()> what);

/// Handles that the program holds. A handle that is not registered as this kind is nullptr.
enum class HandleKind : std::uint8_t {
  context,
  stream,
  event,
  module,
  function,
  graph,
  node,
  graph_exec,
  pool,
  kCount
};

void register_handle(HandleKind kind, const void* object);
void forget_handle(HandleKind kind, const void* object);
bool is_live(HandleKind kind, const void* object);

template <class Object>
constexpr HandleKind kind_of() {
  if constexpr (std::is_same_v<Object, Context>) return HandleKind::context;
  if constexpr (std::is_same_v<Object, Stream>) return HandleKind::stream;
  if constexpr (std::is_same_v<Object, Event>) return HandleKind::event;
  if constexpr (std::is_same_v<Object, Module>) return HandleKind::module;
  if constexpr (std::is_same_v<Object, Function>) return HandleKind::function;
  if constexpr (std::is_same_v<Object, Graph>) return HandleKind::graph;
  if constexpr (std::is_same_v<Object, GraphNode>) return HandleKind::node;
  if constexpr (std::is_same_v<Object, GraphExec>) return HandleKind::graph_exec;
  if constexpr (std::is_same_v<Object, MemoryPool>) return HandleKind::pool;
}

/// The object behind a handle, nullptr when there is none. Needs the lock.
template <class Object, class Handle>
Object* live(Handle handle) {
  return is_live(kind_of<Object>(), handle)
             ? const_cast<Object*>(reinterpret_cast<const Object*>(handle))
             : nullptr;
}

}  // namespace gprofml::simgpu
