// Graphs: their nodes, captures, executable graphs and launches. All of it needs the engine's lock.
#pragma once

#include "test/simgpu/engine/objects.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu {

/// An empty graph. With `original` it is told as a clone of that one.
Graph* make_graph(const Graph* original = nullptr, bool executable = false);
void destroy_graph(Graph* graph);

/// Adds a node. `original` makes it a clone's node.
GraphNode* add_node(Graph& graph, Operation operation, std::vector<GraphNode*> dependencies,
                    const GraphNode* original = nullptr);
void destroy_node(GraphNode* node);
CUresult add_dependency(GraphNode* from, GraphNode* to);
CUresult remove_dependency(GraphNode* from, GraphNode* to);

/// A copy of a graph; embedded child graphs are copied too.
Graph* clone_graph(const Graph& graph);

CUgraphNodeType type_of(const GraphNode& node);

/// Makes a graph executable: child graphs are opened up, nodes are given lanes (node clones that
/// continue each other share one), each lane but the first has a stream id of its own.
CUresult instantiate(const Graph& graph, std::uint64_t flags, GraphExec** made);
void destroy_exec(GraphExec* exec);

/// The node of an executable graph that was made from this one, nullptr when there is none.
GraphNode* node_in_exec(const GraphExec& exec, const GraphNode* original);

/// New parameters for an executable graph from one of the same shape; the first node that differs
/// in kind or dependencies is left in `different`.
CUresult update_exec(GraphExec& exec, const Graph& graph, const GraphNode** different);

/// Whether a node is the other one or comes after it.
bool depends_on(const GraphNode* node, const GraphNode* ancestor);

/// Nodes so that each stands behind its dependencies, else in the order of their making; none when
/// there is a cycle.
std::vector<GraphNode*> in_order(const Graph& graph);

CUresult launch_graph(GraphExec& exec, Stream& stream);

// --- capture ------------------------------------------------------------------------------------

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into,
                       std::vector<GraphNode*> dependencies);
CUresult end_capture(Stream& stream, Graph** graph);

/// The operation becomes a node behind what the stream was last given.
CUresult capture(Stream& stream, Operation operation);

void capture_event_record(Stream& stream, Event& event);
CUresult capture_event_wait(Stream& stream, const Event& event);

/// Whether work on this (NULL) stream would join a capture without being asked to. If so, that
/// capture is lost.
bool capture_forbids(const Stream& stream);

/// Whether calls that could synchronise are forbidden to this thread now, because of a capture in
/// progress; that capture is lost.
bool capture_forbids_unsafe_call();

std::size_t captures_in_progress();

}  // namespace gprofml::simgpu
