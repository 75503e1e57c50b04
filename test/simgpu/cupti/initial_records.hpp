// Records of what exists apart from any call: devices, and on request contexts and streams.
#pragma once

#include <cupti.h>

namespace gprofml::simgpu::cupti {

/// Device records were asked for: they come when the driver has been initialised. If that was over
/// before, they do not come at all (EnableAndDump is for that). An injection library asks in the
/// midst of it and gets them.
void expect_devices();

/// To be called when CUPTI is loaded: a driver that is initialised by then will not be noticed.
void look_for_initialisation();

/// To be called on any sign of life of the driver: the first time that it is seen initialised,
/// tells the client so and writes the device records it expects.
void notice_initialisation();

/// Records of the devices, contexts or streams that there are, if that is what `kind` is.
void dump_existing(CUpti_ActivityKind kind);

}  // namespace gprofml::simgpu::cupti
