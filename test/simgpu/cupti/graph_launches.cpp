#include "test/simgpu/cupti/graph_launches.hpp"

#include <cupti.h>

#include "test/simgpu/cupti/records.hpp"
#include "test/simgpu/cupti/selection.hpp"

namespace gprofml::simgpu::cupti {
namespace {

thread_local GraphLaunch launch;
thread_local bool has_launch = false;

}  // namespace

bool joins_graph_launch(const Placement& at) {
  if (at.graph_id == 0 || !wants(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, at.context_id)) return false;
  if (has_launch && launch.first.correlation != at.correlation) {
    finish_graph_launch(launch.first.correlation);
  }
  if (!has_launch) {
    launch = {at, at};
    has_launch = true;
  }
  if (at.start_ns < launch.first.start_ns) launch.first = at;
  if (at.end_ns > launch.last.end_ns) launch.last = at;
  return true;
}

void finish_graph_launch(std::uint32_t correlation) {
  if (!has_launch || launch.first.correlation != correlation) return;
  has_launch = false;
  record(launch);
}

}  // namespace gprofml::simgpu::cupti
