// What things cost on the simulated machine and what its devices are. A JSON file (README.md lists
// its keys); what a file leaves out has the value of the built-in model.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::simgpu {

/// A model that cannot be used; what() is one line that names the JSON path.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct DeviceModel {
  std::string name;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t memory_bytes = 0;
  int multiprocessors = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int l2_bytes = 0;
  int pci_bus = 0;
};

/// The first rule whose pattern is found in a kernel's mangled or demangled name holds.
struct KernelRule {
  std::string pattern;
  std::regex expression;
  std::int64_t fixed_ns = 0;
  double ns_per_block = 0;
  double ns_per_thread = 0;
  int jitter_permille = 0;  ///< up to this much longer or shorter
  int registers = 32;
  int static_shared_bytes = 0;
  int local_bytes = 0;
};

struct Transfer {
  std::int64_t latency_ns = 0;
  std::int64_t bytes_per_us = 1;
  std::int64_t duration_ns(std::uint64_t bytes) const {
    return latency_ns + static_cast<std::int64_t>(bytes) * 1000 / bytes_per_us;
  }
};

struct Model {
  std::uint64_t seed = 1;
  std::int64_t host_gap_ns = 0;      ///< before each outermost call
  std::int64_t call_default_ns = 0;  ///< own cost of a call that `calls` does not name
  std::map<std::string, std::int64_t, std::less<>> calls;
  std::int64_t initialise_ns = 0;  ///< cuInit
  std::int64_t context_create_ns = 0;
  std::int64_t first_launch_ns = 0;    ///< lazy loading of a kernel, once a context
  std::int64_t launch_latency_ns = 0;  ///< from the submission to the earliest start
  std::int64_t graph_node_gap_ns = 0;  ///< from a node's end to its dependents' start
  std::int64_t host_function_ns = 0;
  bool free_waits = true;       ///< cudaFree waits for the work its thread submitted
  int managed_migrations = 0;   ///< 0: none, 1: to the device, 2: and back once (migration.hpp)
  int contention_permille = 0;  ///< a kernel's extra time for each other one that runs
  int while_iterations = 0;     ///< of the body of a conditional node of that type
  int launch_queue_length = 0;  ///< submissions a stream holds; 0: any number
  std::int64_t buffer_request_ns = 0;  ///< CUPTI's own work on the program's threads
  std::int64_t buffer_flush_ns = 0;
  std::vector<DeviceModel> devices;
  std::vector<KernelRule> kernels;
  Transfer pageable_to_device, device_to_pageable, pinned_to_device, device_to_pinned;
  Transfer device_to_device, peer, host_to_host, fill;
  std::map<std::string, std::string, std::less<>> faults;

  std::int64_t call_cost(std::string_view name) const;
  const KernelRule& rule_of(const std::string& mangled) const;
};

/// The built-in model as JSON text.
std::string default_model_json();

/// The built-in model with what `json` says in place of its values. Throws ModelError.
Model parse_model(const std::string& json);

/// The process's model: GPROFML_SIMGPU_MODEL, GPROFML_SIMGPU_SEED, GPROFML_SIMGPU_DEVICES.
/// A bad file is reported on stderr and ends the process with exit code 2: a simulation of
/// something else than what was asked for is worth nothing.
const Model& model();

/// Throws ModelError where model() would end the process.
void check_model_of_environment();

/// Devices of the model that CUDA_VISIBLE_DEVICES leaves, in its order.
std::vector<DeviceModel> visible_devices(const Model& model, const char* setting);

/// A kernel's duration; `instance` counts the launches of that kernel on its stream.
std::int64_t kernel_duration_ns(const Model& model, const KernelRule& rule, const std::string& name,
                                std::uint64_t blocks, std::uint64_t threads,
                                std::uint64_t instance);

std::string demangled(const std::string& mangled);

}  // namespace gprofml::simgpu
