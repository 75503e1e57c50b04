// The one subscriber that CUPTI allows, and what it wants to be called back for.
#pragma once

#include <cupti.h>

namespace gprofml::simgpu::cupti {

/// Whether the subscriber wants this callback.
bool wants_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id);

/// Calls the subscriber back, if there is one that wants this.
void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

/// Takes the subscriber away (cuptiFinalize).
void forget_subscriber();

}  // namespace gprofml::simgpu::cupti
