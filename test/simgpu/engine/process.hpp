// The process as CUDA sees it: initialised once, with its devices; not usable after a fork.
#pragma once

#include <cuda.h>

#include <deque>

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

/// Whether this is the child of a fork that inherited an initialised CUDA.
bool process_is_forked();

/// Devices that CUDA_VISIBLE_DEVICES leaves. Fixed once initialised.
std::deque<Device>& process_devices();

/// Makes a context with its default stream; tells the observer. Needs the lock.
Context* make_context(Device& device, bool primary, unsigned flags);
void destroy_context(Context* context);

/// Every context that is alive. Needs the lock.
std::vector<Context*>& live_contexts();

Stream* make_stream(Context* context, StreamInfo::Flag flag, int priority);
void destroy_stream(Stream* stream);

/// The stream behind a handle in the current context; nullptr: no such stream.
Stream* find_stream(Context* context, CUstream handle, bool per_thread_default);

/// The calling thread's current context, nullptr when there is none.
Context* current_context();

/// The kernel of a name: one object a name and module.
Function* make_function(Module* module, const char* name);
Module* make_module(bool is_library);

/// A text that lives as long as the process, one copy of each.
const char* interned(const std::string& text);

ContextInfo info_of(const Context& context);
StreamInfo info_of(const Stream& stream);

/// A resource event about the innermost call. Context and stream are filled in by the other
/// arguments when they are given.
void tell_resource(ResourceEvent event, const Context* context, const Stream* stream = nullptr);

}  // namespace gprofml::simgpu
