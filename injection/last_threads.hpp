// A main thread that ends by pthread_exit() leaves the process to its other threads, and the last
// of them to end ends the process. Ours must not be the ones that keep it alive.
#pragma once

namespace gprofml::injection {

/// Marks the calling thread as one of the recorder's, for `we_are_alone`.
void this_thread_is_ours();

/// Whether the main thread has ended and all threads that still live are the recorder's.
bool we_are_alone();

}  // namespace gprofml::injection
