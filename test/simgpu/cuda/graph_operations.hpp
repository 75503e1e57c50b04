// What the functions for graphs have in common: nodes behind handles, operations from parameters.
// All of it needs the engine's lock.
#pragma once

#include <cuda.h>

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu::driver {

/// Handles of nodes as nodes of this graph; false when one is not.
bool nodes_of(const Graph* graph, const CUgraphNode* handles, std::size_t count,
              std::vector<GraphNode*>* nodes);

/// Adds a node that does `operation` behind the nodes of `handles`.
CUresult add(CUgraphNode* made, CUgraph graph_handle, const CUgraphNode* handles, std::size_t count,
             Operation operation);

/// Gives out a list as graph queries do: the count alone, or as many as there is room for.
CUresult list(const std::vector<GraphNode*>& nodes, CUgraphNode* out, std::size_t* count);

/// The node, nullptr when it is of another kind.
GraphNode* node_of_kind(CUgraphNode node_handle, Operation::Kind kind);

/// The node of an executable graph that stands for a node of its original.
GraphNode* exec_node(CUgraphExec exec_handle, CUgraphNode node_handle, Operation::Kind kind);

CUresult make_host(const CUDA_HOST_NODE_PARAMS* parameters, Operation* operation);
CUresult make_memset(const CUDA_MEMSET_NODE_PARAMS* p, Operation* operation);
CUresult make_event(CUevent event_handle, Operation::Kind kind, Operation* operation);

/// Replaces what a node does by something of the same kind. By reference: calls make the operation
/// in the argument before.
CUresult replace(GraphNode* node, CUresult made, Operation& operation);

}  // namespace gprofml::simgpu::driver
