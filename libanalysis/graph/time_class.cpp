#include "libanalysis/graph/time_class.hpp"

#include <array>
#include <utility>

namespace gprofml::analysis {
namespace {

struct Words {
  std::string_view name;
  std::string_view description;
};

constexpr std::array<Words, kTimeClassCount> kWords{{
    {"kernel", "kernels"},
    {"communication", "communication"},
    {"copy", "copies"},
    {"fill", "fills"},
    {"cuda_graph", "CUDA graphs, each as a whole"},
    {"device_gap", "gap between queued kernels"},
    {"graph_gap", "gap between nodes of a graph"},
    {"launch_latency", "launch latency"},
    {"launch_call", "launch calls"},
    {"slow_launch_call", "launch calls over 1 ms"},
    {"runtime_call", "other CUDA calls"},
    {"sync_return", "return from synchronisation"},
    {"host_code", "host code between CUDA calls"},
    {"comm_wait", "waiting for a late rank"},
    {"comm_transfer", "collective transfer"},
    {"after_last_gpu_work", "host after the last GPU work"},
    {"issued_no_recorded_reason", "issued, not started, no reason recorded"},
    {"no_launch_record", "no launch record"},
    {"sync_no_recorded_work", "synchronising with no recorded work"},
    {"thread_not_seen", "before the thread's first record"},
    {"wait_other_device", "waiting for another device"},
    {"launching_elsewhere", "launching on another device"},
    {"before_first", "before the device's first work"},
    {"after_last", "after the device's last work"},
}};

}  // namespace

std::string_view name_of(TimeClass c) {
  return kWords[static_cast<std::size_t>(c)].name;
}

std::string_view description_of(TimeClass c) {
  return kWords[static_cast<std::size_t>(c)].description;
}

}  // namespace gprofml::analysis
