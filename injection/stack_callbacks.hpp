// When stacks are taken: as calls that put work on a GPU begin, and as nodes of graphs come into
// being. Runs in the program's threads.
#pragma once

#include "injection/cupti_session.hpp"

namespace gprofml::injection {

/// Enables the callbacks of such calls, where stacks are recorded.
void enable_stack_callbacks(CuptiSession& session);

/// A call for which a callback is enabled, here or elsewhere, begins or ends.
void on_stack_call(CuptiSession& session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   const CUpti_CallbackData& call);

/// A node has come into being in a graph, not as a copy of another.
void on_stack_node(CuptiSession& session, std::uint64_t node);

}  // namespace gprofml::injection
