// What CUPTI tells while it happens: nodes and edges of graphs (an activity record only carries a
// node's number), the end of modules, and CUPTI's own errors. Runs in the program's threads: no
// lock, no allocation.
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "injection/cupti_session.hpp"
#include "injection/recorder.hpp"
#include "injection/stack_callbacks.hpp"
#include "injection/window_callbacks.hpp"

namespace gprofml::injection {
namespace {

// Where launches are recorded, also of graphs as a whole: what is launched while a graph is
// captured does not run, and only the node that it makes tells.
constexpr CUpti_CallbackIdResource kGraphCallbacks[] = {
    CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
};
constexpr CUpti_CallbackIdState kStateCallbacks[] = {
    CUPTI_CBID_STATE_FATAL_ERROR,
    CUPTI_CBID_STATE_ERROR,
    CUPTI_CBID_STATE_WARNING,
};

std::uint64_t node_id(const CuptiLibrary& library, CUgraphNode node) {
  std::uint64_t id = 0;
  if (node != nullptr && library.GetGraphNodeId != nullptr) library.GetGraphNodeId(node, &id);
  return id;
}

std::uint32_t graph_id(const CuptiLibrary& library, CUgraph graph) {
  std::uint32_t id = 0;
  if (graph != nullptr && library.GetGraphId != nullptr) library.GetGraphId(graph, &id);
  return id;
}

/// Puts an event into the thread's ring, or counts it.
template <class Event>
void put(CuptiSession& session, EventKind kind, Event event) {
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  void* room = ring->reserve(sizeof event, ring->headroom_to_open());
  if (room == nullptr) return session.recorder->buffers.count_discarded(1);
  event.header = {sizeof event, kind, TextKind::none};
  std::memcpy(room, &event, sizeof event);
  ring->commit(sizeof event);
  after_commit(*ring);
}

void on_node(CuptiSession& session, const CUpti_GraphData& graph, bool is_clone) {
  GraphNodeEvent event{};
  event.time_ns = now_ns();
  event.node = node_id(session.library, graph.node);
  event.graph = graph_id(session.library, graph.graph);
  if (is_clone) {
    event.original_node = node_id(session.library, graph.originalNode);
    event.original_graph = graph_id(session.library, graph.originalGraph);
  }
  event.type = static_cast<std::uint32_t>(graph.nodeType);
  put(session, EventKind::graph_node, event);
  if (!is_clone) on_stack_node(session, event.node);
}

void on_edge(CuptiSession& session, const CUpti_GraphData& graph, bool is_removed) {
  GraphEdgeEvent event{};
  event.time_ns = now_ns();
  event.is_removed = is_removed ? 1 : 0;
  event.source = node_id(session.library, graph.node);
  event.target = node_id(session.library, graph.dependency);
  put(session, EventKind::graph_edge, event);
}

// A program that unloads a module waits no longer than this for us, and only once.
constexpr std::int64_t kUnloadPatienceNs = 100'000'000;

/// Waits until the flusher has asked for what is finished by now: a round that is under way may
/// have begun before, the one after it has not.
bool let_flusher_catch_up(CuptiSession& session, std::int64_t deadline_ns) {
  if (!session.has_asked_for_buffers.load(std::memory_order_acquire)) return true;
  const std::uint32_t begun = session.flush_rounds.load(std::memory_order_acquire);
  const timespec pause{0, 50'000};
  while (session.flush_rounds.load(std::memory_order_acquire) - begun < 2) {
    if (monotonic_ns() > deadline_ns) return false;
    session.work.raise();
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// The names of a module's kernels may go with it, and records that CUPTI and we hold point at
/// them.
void before_unload(CuptiSession& session) {
  if (session.writer_is_slow.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  const std::int64_t deadline_ns = monotonic_ns() + kUnloadPatienceNs;
  if (!let_flusher_catch_up(session, deadline_ns) ||
      !let_writer_catch_up(*session.recorder, kUnloadPatienceNs)) {
    session.writer_is_slow.store(true, std::memory_order_relaxed);
    session.recorder->mailbox.note(
        "late_names",
        "a module was unloaded before its records were read, and no later one is waited for: "
        "kernels of unloaded modules may have other names than their own");
  }
  errno = saved_errno;
}

void on_resource(CuptiSession& session, CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) return before_unload(session);
  if (resource.resourceDescriptor == nullptr) return;
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      return on_node(session, graph, false);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return on_node(session, graph, true);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
      return on_edge(session, graph, false);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
      return on_edge(session, graph, true);
    default:
      return;
  }
}

void on_state(CuptiSession& session, CUpti_CallbackId id, const CUpti_StateData& state) {
  char detail[256];
  const char* message = state.notification.message;
  std::snprintf(detail, sizeof detail, "%s (%d): %s",
                session.library.text(state.notification.result),
                static_cast<int>(state.notification.result), message ? message : "");
  const bool is_fatal = id == CUPTI_CBID_STATE_FATAL_ERROR;
  session.recorder->mailbox.note(is_fatal                         ? "cupti_fatal_error"
                                 : id == CUPTI_CBID_STATE_WARNING ? "cupti_warning"
                                                                  : "cupti_error",
                                 detail);
  // CUPTI has shut itself down; calling it again is asking for trouble.
  if (is_fatal) session.is_broken.store(true, std::memory_order_release);
}

}  // namespace

void CUPTIAPI on_cupti_event(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data) {
  if (data == nullptr) return;
  const TimedCallback timed;
  auto& session = *static_cast<CuptiSession*>(user);
  // Over, or called by what a forked child has inherited of CUPTI.
  if (current_recorder.load(std::memory_order_acquire) != session.recorder) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    on_resource(session, id, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_STATE) {
    on_state(session, id, *static_cast<const CUpti_StateData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    on_stack_call(session, domain, id, *static_cast<const CUpti_CallbackData*>(data));
    on_window_call(session, domain, id, *static_cast<const CUpti_CallbackData*>(data));
  }
}

void enable_callbacks(CuptiSession& session) {
  if (session.library.EnableCallback == nullptr) return;
  const auto enable = [&session](CUpti_CallbackDomain domain, std::uint32_t id, const char* what) {
    const CUptiResult result = session.library.EnableCallback(1, session.subscriber, domain, id);
    if (result == CUPTI_SUCCESS) return;
    char detail[160];
    std::snprintf(detail, sizeof detail, "%s %u: %s (%d)", what, id, session.library.text(result),
                  static_cast<int>(result));
    session.recorder->mailbox.note("callback_not_enabled", detail);
  };
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, "modules");
  if (session.recorder->options.records(spool::kGraphNodes | spool::kLaunches | spool::kAllCalls)) {
    for (const auto id : kGraphCallbacks) enable(CUPTI_CB_DOMAIN_RESOURCE, id, "graphs");
  }
  for (const auto id : kStateCallbacks) enable(CUPTI_CB_DOMAIN_STATE, id, "state of CUPTI");
  enable_stack_callbacks(session);
  enable_window_callbacks(session);
}

}  // namespace gprofml::injection
