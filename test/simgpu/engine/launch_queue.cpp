#include "test/simgpu/engine/launch_queue.hpp"

#include <fmt/format.h>

#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu {

void wait_for_room(Stream& stream) {
  const auto length = static_cast<std::size_t>(model().launch_queue_length);
  std::deque<std::int64_t>& ends_ns = stream.queued_ends_ns;
  if (length == 0) {
    return;
  }
  while (!ends_ns.empty() && ends_ns.front() <= now_ns()) {
    ends_ns.pop_front();
  }
  if (ends_ns.size() < length) {
    return;
  }
  QueueFull told;
  told.start_ns = now_ns();
  wait_until(ends_ns.front());
  ends_ns.pop_front();
  told.end_ns = now_ns();
  told.device = stream.context->device->ordinal;
  told.context_id = stream.context->id;
  told.stream_id = stream.id;
  told.correlation = correlation_now();
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"queue_full","start":{},"end":{},"device":{},"context":{},"stream":{},)"
        R"("correlation":{},"thread":{}}})",
        told.start_ns, told.end_ns, told.device, told.context_id, told.stream_id, told.correlation,
        this_thread().ordinal));
  }
  tell([told](Observer& observer) { observer.waited(told); });
}

void enqueue(Stream& stream, std::int64_t end_ns) {
  if (model().launch_queue_length > 0) {
    stream.queued_ends_ns.push_back(end_ns);
  }
}

}  // namespace gprofml::simgpu
