// Which CUPTI of a process the driver talks to: there can be two, of different majors, and only one
// has a client.
#pragma once

namespace gprofml::simgpu::cupti {

/// The driver talks to this library from now on; false: another CUPTI has a client here.
bool attach_to_engine();

/// Whether this library has a subscriber.
bool has_client();

}  // namespace gprofml::simgpu::cupti
