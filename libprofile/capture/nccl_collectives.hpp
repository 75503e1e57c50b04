// NCCL says through NVTX what its calls move: communicator and bytes, in payloads of ranges of the
// domain "NCCL". Here they become rows of Trace::collectives.
#pragma once

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Adds the collectives of a trace of one process, whose launches and graph nodes are resolved.
///
/// A row is one run of one call. Its kernel is the first of NCCL's that was launched inside the
/// call; calls between ncclGroupStart and ncclGroupEnd are launched together inside the latter, and
/// there the only kernel, or else the only one with the operation in its name, is theirs. A call
/// captured into a CUDA graph has a row for each replay. kNoRow where no kernel is found, or more
/// than one could be meant.
void add_nccl_collectives(Trace& trace);

}  // namespace gprofml::profile
