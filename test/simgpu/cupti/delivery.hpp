// Completed buffers on their way back to the client: one queue, one worker thread of ours that
// calls the client's callback, one buffer at a time and in the order in which they were completed.
// The documentation allows the callback on any thread; on a worker it is where a client is least
// ready for it. (The model can have several such workers, and then there is no order.) No lock is
// held while the client's code runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::simgpu::cupti {

struct CompletedBuffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t valid_size = 0;
};

/// Queues a buffer. The worker thread starts with the first one.
void complete(const CompletedBuffer& buffer);

/// Returns when every buffer queued before the call has been given to the client. Within the
/// client's callback it returns at once, since waiting would be waiting for itself: they come next.
void wait_until_delivered();

/// Calls `work` on the worker thread each `milliseconds`; 0 ends that.
void deliver_periodically(std::uint32_t milliseconds, void (*work)());

}  // namespace gprofml::simgpu::cupti
