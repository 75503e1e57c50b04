// The recorder's use of CUPTI: subscribes, enables what is to be recorded, flushes.
#pragma once

#include <atomic>
#include <cstdint>

#include "injection/cupti_library.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {

struct Recorder;

/// Everything that may block in CUPTI happens on a thread of its own, so that a flush that never
/// returns stops neither the writer nor the program's exit.
class CuptiSession {
 public:
  /// Asks for the last records, finished or not, and waits for them. False: not in time.
  bool flush_everything(std::int64_t timeout_ns);

  Recorder* recorder = nullptr;
  CuptiLibrary library;
  CUpti_SubscriberHandle subscriber = nullptr;

  /// Nothing is to be flushed before CUPTI has asked for a buffer.
  std::atomic<bool> has_asked_for_buffers{false};
  /// Buffers that CUPTI has and not handed back.
  std::atomic<std::int32_t> buffers_out{0};
  /// The forced flush of the program's end has come back.
  std::atomic<bool> is_flushed_at_exit{false};
  /// CUPTI has reported an error after which it has taken itself out of service.
  std::atomic<bool> is_broken{false};
  /// The writer (its disk) is slow: nobody waits for it again.
  std::atomic<bool> writer_is_slow{false};
  /// Call stacks are taken; may be switched off at any time.
  std::atomic<bool> takes_stacks{false};
  /// Memory events are no longer wanted: the writer drops them, the flusher disables their kinds.
  std::atomic<bool> gives_up_memory{false};
  static constexpr std::uint32_t kMostCalls = 4096;
  std::uint64_t stack_calls[2][kMostCalls / 64] = {};  ///< by API and callback id; fixed at start
  /// The filter of calls is absent: the writer drops what is not wanted.
  bool filters_on_writer = false;

  // The flushing thread, served as the writer is.
  Signal work;
  std::atomic<std::uint32_t> flush_wanted{0};
  std::atomic<std::uint32_t> flushed{0};
  Signal flushed_signal;
  /// How often the flushing thread has asked for what is finished and has got it.
  std::atomic<std::uint32_t> flush_rounds{0};
};

/// Starts recording CUDA. Whatever fails is said in facts and notes; once a process.
void start_cupti(Recorder& recorder);

/// Notes that CUPTI refuses something, which then is missing.
void note_refusal(CuptiSession& session, const char* what, CUptiResult result);

/// The subscriber's callback for graph nodes and edges and for CUPTI's own errors.
void CUPTIAPI on_cupti_event(void* session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data);
/// Enables the callbacks that on_cupti_event() understands.
void enable_callbacks(CuptiSession& session);

}  // namespace gprofml::injection
