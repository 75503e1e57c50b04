// What the one client of this CUPTI has registered, and whether this process may use it at all.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

namespace gprofml::simgpu::cupti {

struct Client {
  std::atomic<CUpti_BuffersCallbackRequestFunc> buffer_requested{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> buffer_completed{nullptr};
  std::atomic<CUpti_TimestampCallbackFunc> timestamp{nullptr};
  std::atomic<CUpti_ActivityThreadIdType> thread_id_type{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};
};

Client& client();

/// A child forked from a process with a client: it has none of CUPTI's threads, and the locks are
/// as another thread left them. Nothing is recorded or delivered there, as with the real library.
bool in_forked_child();

/// Called when a client appears: from then on a forked child is one.
void mark_in_use();

/// Keeps `result` for cuptiGetLastError and returns it: how each function of the interface ends.
CUptiResult answer(CUptiResult result);

/// What cuptiGetLastError gives: the last failure on this thread, once.
CUptiResult take_last_error();

/// A time of the engine as the client is to see it: on the clock of its timestamp callback if it
/// has registered one.
std::uint64_t client_time(std::int64_t engine_ns);

/// The calling thread's id as the client asked for.
std::uint32_t client_thread_id(std::uint64_t pthread, std::uint32_t tid);

}  // namespace gprofml::simgpu::cupti
