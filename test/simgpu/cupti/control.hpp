// What concerns CUPTI as a whole.
#pragma once

namespace gprofml::simgpu::cupti {

/// If the model asks for it: tells the subscriber once, at the end of its first call, of an error
/// after which CUPTI cannot go on, and detaches.
void tell_fatal_error_once();

}  // namespace gprofml::simgpu::cupti
