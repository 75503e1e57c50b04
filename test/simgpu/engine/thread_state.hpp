// What the engine keeps for each thread of the program: its place in virtual time, its ids, its
// current device and contexts, and the calls it is in.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu {

struct Context;
struct Stream;
class ApiScope;

/// Kinds of ids that are counted for each thread, so that racing threads cannot exchange them.
enum class IdKind : std::uint8_t { stream, event, graph, event_record, pool, kCount };

/// Kernels that are loaded in a context, as a thread knows it: what it launched itself, what its
/// creator had launched before, and the threads that it joined. What racing threads launch does not
/// count, else the cost of the first launch would fall to whichever comes first.
using LoadedKernels = std::set<std::pair<const void*, const void*>>;

struct ThreadState {
  std::int64_t virtual_ns = 0;
  std::int64_t submitted_end_ns = 0;  ///< latest end of the GPU work this thread submitted
  std::uint32_t ordinal = 0;          ///< 1: the main thread; then in order of pthread_create
  std::uint32_t threads_created = 0;
  std::uint32_t ids[static_cast<int>(IdKind::kCount)] = {};
  std::uint32_t tid = 0;
  bool is_worker = false;     ///< runs host functions: no CUDA calls in there
  ApiScope* scope = nullptr;  ///< innermost call
  int depth = 0;
  std::uint32_t correlation = 0;
  std::vector<Context*> contexts;               ///< the driver's stack; its back is current
  std::map<Context*, Stream*> default_streams;  ///< its own stream of each context
  LoadedKernels loaded;
  int runtime_device = 0;
  std::uint32_t runtime_last_error = 0;
  std::deque<std::function<void(Observer&)>> pending;  ///< to be told once no lock is held
};

/// The calling thread's state; made at its first use and kept until the thread ends.
ThreadState& this_thread();

/// The next id of a kind: small numbers on the main thread, a range of its own for each other
/// thread, hence the same ids run over run whatever the threads' order.
std::uint32_t next_id(IdKind kind);
std::uint64_t next_event_record_id();

}  // namespace gprofml::simgpu
