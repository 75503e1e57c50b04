// Conditional nodes. Kernels compute nothing here, so nobody sets a condition: it has its default
// value at each launch, and the body of a WHILE whose value is not 0 runs as often as the model
// says.
#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/graph.hpp"
#include "test/simgpu/cuda/graph_operations.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {
namespace {

struct Condition {
  const Graph* graph = nullptr;
  unsigned value = 0;
};

std::map<CUgraphConditionalHandle, Condition>& conditions() {
  static auto* all = new std::map<CUgraphConditionalHandle, Condition>;
  return *all;
}

bool has_right_size(const CUDA_CONDITIONAL_NODE_PARAMS& p) {
  switch (p.type) {
    case CU_GRAPH_COND_TYPE_IF:
      return p.size == 1 || p.size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return p.size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return p.size >= 1;
  }
  return false;
}

}  // namespace

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* made, CUgraph graph, CUcontext,
                                        unsigned value, unsigned flags) {
  EngineLock lock;
  const Graph* found = live<Graph>(graph);
  if (made == nullptr || found == nullptr || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Without the flag a value is undefined until a kernel sets it: 0 here.
  const bool has_default = (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0;
  *made = conditions().size() + 1;
  conditions()[*made] = {found, has_default ? value : 0};
  return CUDA_SUCCESS;
}

CUresult add_conditional_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                              size_t count, CUDA_CONDITIONAL_NODE_PARAMS* p) {
  EngineLock lock;
  const auto condition = conditions().find(p->handle);
  if (condition == conditions().end() || condition->second.graph != live<Graph>(graph) ||
      !has_right_size(*p)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Operation operation;
  operation.kind = Operation::Kind::conditional;
  operation.condition = p->type;
  operation.condition_value = condition->second.value;
  // The program gets an array that is CUDA's; like other objects it is never freed.
  auto* handles = new std::vector<CUgraph>;
  for (unsigned i = 0; i < p->size; ++i) {
    operation.bodies.push_back(make_graph());
    handles->push_back(handle<CUgraph>(operation.bodies.back()));
  }
  p->phGraph_out = handles->data();
  return add(node, graph, from, count, std::move(operation));
}

}  // namespace gprofml::simgpu::driver
