// An engine for tests of the fake CUPTI: what the observer may ask is answered from variables, and
// tests tell the observer what they like.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::fake {

struct Engine {
  std::atomic<Observer*> observer{nullptr};
  std::atomic<std::int64_t> now_ns{1'000'000};
  std::atomic<bool> is_virtual{true};
  std::atomic<bool> is_initialised{false};  ///< as when CUPTI is loaded
  std::map<std::string, std::string> faults;
  OverheadCosts overheads;
  std::vector<DeviceInfo> devices;
  std::vector<ContextInfo> contexts;
  std::vector<StreamInfo> streams;
  std::map<const void*, std::uint64_t> graph_ids;  ///< of graphs, executable graphs and nodes
};

Engine& engine();

/// As new, with the observer kept.
void reset_engine();

}  // namespace gprofml::simgpu::fake
