// Records of what CUPTI's own work cost the thread on which it was done: as long as the model says,
// on that thread's clock. A model that says nothing has none of them.
#pragma once

namespace gprofml::simgpu::cupti {

/// The client has just been asked for a buffer on this thread.
void record_buffer_request();

/// The client flushes on this thread, and there is something to flush.
void record_buffer_flush();

}  // namespace gprofml::simgpu::cupti
