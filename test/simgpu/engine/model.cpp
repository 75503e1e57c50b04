#include "test/simgpu/engine/model.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace gprofml::simgpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDefaultModel = R"json({
  "seed": 1,
  "host_gap_ns": 1000,
  "calls": {
    "default": 400,
    "cudaLaunchKernel": 500, "__cudaLaunchKernel": 500, "cudaLaunchKernelExC": 600,
    "cudaLaunchCooperativeKernel": 600, "cudaGraphLaunch": 600,
    "cudaGetLastError": 50, "cudaPeekAtLastError": 50, "cudaGetDevice": 100,
    "cuLaunchKernel": 2500, "cuLaunchKernelEx": 2700, "cuLaunchCooperativeKernel": 3000,
    "cuMemcpyHtoDAsync_v2": 2500, "cuMemcpyDtoHAsync_v2": 2500, "cuMemcpyDtoDAsync_v2": 2500,
    "cuMemcpyAsync": 2500, "cuMemcpyHtoD_v2": 3000, "cuMemcpyDtoH_v2": 3000,
    "cuMemcpyDtoD_v2": 3000, "cuMemcpy": 3000, "cuMemcpyPeerAsync": 3000,
    "cuMemsetD8Async": 2000, "cuMemsetD32Async": 2000,
    "cuEventRecord": 900, "cuEventQuery": 300, "cuStreamQuery": 300, "cuStreamWaitEvent": 700,
    "cuStreamSynchronize": 1000, "cuEventSynchronize": 1000, "cuCtxSynchronize": 1000,
    "cuMemAlloc_v2": 60000, "cuMemFree_v2": 50000, "cuMemHostAlloc": 150000,
    "cuMemFreeHost": 80000, "cuMemHostRegister_v2": 100000, "cuMemAllocManaged": 40000,
    "cuMemAllocFromPoolAsync": 1500, "cuMemAllocAsync": 1500, "cuMemFreeAsync": 1200,
    "cuLibraryLoadData": 20000, "cuModuleLoadData": 20000,
    "cuStreamCreate": 8000, "cuStreamCreateWithPriority": 8000, "cuStreamDestroy_v2": 6000,
    "cuGraphInstantiateWithFlags": 50000, "cuGraphLaunch": 5000, "cuGraphExecUpdate_v2": 10000
  },
  "initialise_ns": 30000000,
  "context_create_ns": 120000000,
  "first_launch_ns": 20000,
  "launch_latency_ns": 2000,
  "graph_node_gap_ns": 600,
  "host_function_ns": 5000,
  "free_waits": true,
  "managed_migrations": 2,
  "contention_permille": 0,
  "while_iterations": 3,
  "launch_queue_length": 0,
  "overheads": { "buffer_request_ns": 0, "buffer_flush_ns": 0 },
  "devices": [
    {
      "name": "Simulated H100 80GB HBM3",
      "uuid": "51000000-0000-4000-8000-000000000001",
      "count": 2,
      "memory_bytes": 85899345920,
      "multiprocessors": 132,
      "compute_capability": [9, 0],
      "clock_khz": 1980000,
      "memory_clock_khz": 2619000,
      "memory_bus_bits": 5120,
      "l2_bytes": 52428800
    }
  ],
  "kernels": [
    { "pattern": "[Gg]emm|[Mm]atmul|[Ll]inear", "fixed_ns": 4000, "ns_per_thread": 0.05, "jitter_permille": 30 },
    { "pattern": "[Aa]ttention|[Ss]oftmax", "fixed_ns": 5000, "ns_per_thread": 0.02, "jitter_permille": 20 },
    { "pattern": "", "fixed_ns": 2500, "ns_per_block": 1.5, "jitter_permille": 20 }
  ],
  "copies": {
    "pageable_to_device": { "latency_ns": 5000, "bytes_per_us": 6000 },
    "device_to_pageable": { "latency_ns": 6000, "bytes_per_us": 5000 },
    "pinned_to_device": { "latency_ns": 1500, "bytes_per_us": 50000 },
    "device_to_pinned": { "latency_ns": 1500, "bytes_per_us": 50000 },
    "device_to_device": { "latency_ns": 1200, "bytes_per_us": 1300000 },
    "peer": { "latency_ns": 2500, "bytes_per_us": 350000 },
    "host_to_host": { "latency_ns": 1000, "bytes_per_us": 10000 }
  },
  "fill": { "latency_ns": 1100, "bytes_per_us": 2600000 },
  "faults": {}
})json";

/// One value of the model, and where it stands.
class Reader {
 public:
  Reader(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw ModelError((path_.empty() ? "/" : path_) + ": " + why);
  }
  Reader at(const std::string& key) const {
    if (!value_.is_object()) {
      fail("must be an object");
    }
    const auto found = value_.find(key);
    if (found == value_.end()) {
      fail("lacks \"" + key + "\"");
    }
    return {*found, path_ + "/" + key};
  }
  bool has(const std::string& key) const { return value_.is_object() && value_.contains(key); }
  void only(const std::vector<std::string>& keys) const {
    if (!value_.is_object()) {
      fail("must be an object");
    }
    for (const auto& item : value_.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        throw ModelError(path_ + "/" + item.key() + ": no such key");
      }
    }
  }
  std::int64_t integer(std::int64_t least, std::int64_t most) const {
    if (!value_.is_number_integer()) {
      fail("must be a whole number");
    }
    if (value_.is_number_unsigned() && value_.get<std::uint64_t>() > INT64_MAX) {
      fail("is too large");
    }
    const auto number = value_.get<std::int64_t>();
    if (number < least || number > most) {
      fail("must be from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return number;
  }
  std::int64_t cost_ns() const { return integer(0, 3'600'000'000'000); }
  double rate() const {
    if (!value_.is_number() || value_.get<double>() < 0 || value_.get<double>() > 1e12) {
      fail("must be a number from 0 to 1e12");
    }
    return value_.get<double>();
  }
  std::string text() const {
    if (!value_.is_string()) {
      fail("must be a string");
    }
    return value_.get<std::string>();
  }
  bool truth() const {
    if (!value_.is_boolean()) {
      fail("must be true or false");
    }
    return value_.get<bool>();
  }
  std::vector<Reader> elements() const {
    if (!value_.is_array()) {
      fail("must be an array");
    }
    std::vector<Reader> result;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      result.emplace_back(value_[i], path_ + "/" + std::to_string(i));
    }
    return result;
  }
  std::vector<std::pair<std::string, Reader>> members() const {
    if (!value_.is_object()) {
      fail("must be an object");
    }
    std::vector<std::pair<std::string, Reader>> result;
    for (const auto& item : value_.items()) {
      result.emplace_back(item.key(), Reader(item.value(), path_ + "/" + item.key()));
    }
    return result;
  }

 private:
  const Json& value_;
  std::string path_;
};

std::array<std::uint8_t, 16> parse_uuid(const Reader& reader) {
  const std::string text = reader.text();
  std::string digits;
  for (const char c : text.rfind("GPU-", 0) == 0 ? text.substr(4) : text) {
    if (c != '-') {
      digits += c;
    }
  }
  if (digits.size() != 32 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    reader.fail("must be a UUID of 32 hexadecimal digits");
  }
  std::array<std::uint8_t, 16> uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    uuid[i] = static_cast<std::uint8_t>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  }
  return uuid;
}

/// The same device once more: its UUID and PCI bus count up.
DeviceModel next_device(DeviceModel device) {
  ++device.pci_bus;
  for (std::size_t byte = device.uuid.size(); byte-- > 0 && ++device.uuid[byte] == 0;) {
  }
  return device;
}

/// A description with "count" stands for several devices whose UUIDs and PCI buses count up.
void add_devices(const Reader& reader, std::vector<DeviceModel>& devices) {
  reader.only({"name", "uuid", "count", "memory_bytes", "multiprocessors", "compute_capability",
               "clock_khz", "memory_clock_khz", "memory_bus_bits", "l2_bytes"});
  const auto number = [&reader](const char* key, std::int64_t otherwise, std::int64_t least = 1) {
    return reader.has(key) ? reader.at(key).integer(least, std::int64_t{1} << 50U) : otherwise;
  };
  DeviceModel device;
  device.name = reader.at("name").text();
  device.uuid = parse_uuid(reader.at("uuid"));
  device.memory_bytes = static_cast<std::uint64_t>(number("memory_bytes", std::int64_t{80} << 30U));
  device.multiprocessors = static_cast<int>(number("multiprocessors", 132));
  device.clock_khz = static_cast<int>(number("clock_khz", 1'980'000));
  device.memory_clock_khz = static_cast<int>(number("memory_clock_khz", 2'619'000));
  device.memory_bus_bits = static_cast<int>(number("memory_bus_bits", 5120));
  device.l2_bytes = static_cast<int>(number("l2_bytes", 52'428'800));
  const auto capability = reader.at("compute_capability").elements();
  if (capability.size() != 2) {
    reader.at("compute_capability").fail("must be [major, minor]");
  }
  device.compute_major = static_cast<int>(capability[0].integer(1, 99));
  device.compute_minor = static_cast<int>(capability[1].integer(0, 9));
  const std::int64_t count = reader.has("count") ? reader.at("count").integer(1, 64) : 1;
  device.pci_bus = static_cast<int>(devices.size()) + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    devices.push_back(device);
    device = next_device(device);
  }
}

KernelRule parse_rule(const Reader& reader) {
  reader.only({"pattern", "fixed_ns", "ns_per_block", "ns_per_thread", "jitter_permille",
               "registers", "static_shared_bytes", "local_bytes"});
  KernelRule rule;
  rule.pattern = reader.at("pattern").text();
  try {
    rule.expression.assign(rule.pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    reader.at("pattern").fail(std::string("is no regular expression: ") + error.what());
  }
  const auto number = [&reader](const char* key, std::int64_t otherwise, std::int64_t most) {
    return reader.has(key) ? reader.at(key).integer(0, most) : otherwise;
  };
  rule.fixed_ns = reader.has("fixed_ns") ? reader.at("fixed_ns").cost_ns() : 0;
  rule.ns_per_block = reader.has("ns_per_block") ? reader.at("ns_per_block").rate() : 0;
  rule.ns_per_thread = reader.has("ns_per_thread") ? reader.at("ns_per_thread").rate() : 0;
  rule.jitter_permille = static_cast<int>(number("jitter_permille", 0, 900));
  rule.registers = static_cast<int>(number("registers", 32, 255));
  rule.static_shared_bytes = static_cast<int>(number("static_shared_bytes", 0, 1 << 20));
  rule.local_bytes = static_cast<int>(number("local_bytes", 0, 1 << 20));
  return rule;
}

Transfer parse_transfer(const Reader& reader) {
  reader.only({"latency_ns", "bytes_per_us"});
  return {reader.at("latency_ns").cost_ns(),
          reader.at("bytes_per_us").integer(1, std::int64_t{1} << 40U)};
}

void parse_copies(const Reader& reader, Model& result) {
  reader.only({"pageable_to_device", "device_to_pageable", "pinned_to_device", "device_to_pinned",
               "device_to_device", "peer", "host_to_host"});
  result.pageable_to_device = parse_transfer(reader.at("pageable_to_device"));
  result.device_to_pageable = parse_transfer(reader.at("device_to_pageable"));
  result.pinned_to_device = parse_transfer(reader.at("pinned_to_device"));
  result.device_to_pinned = parse_transfer(reader.at("device_to_pinned"));
  result.device_to_device = parse_transfer(reader.at("device_to_device"));
  result.peer = parse_transfer(reader.at("peer"));
  result.host_to_host = parse_transfer(reader.at("host_to_host"));
}

Model from_json(const Json& json) {
  const Reader reader(json, "");
  reader.only({"seed",
               "host_gap_ns",
               "calls",
               "initialise_ns",
               "context_create_ns",
               "first_launch_ns",
               "launch_latency_ns",
               "graph_node_gap_ns",
               "host_function_ns",
               "free_waits",
               "managed_migrations",
               "contention_permille",
               "while_iterations",
               "launch_queue_length",
               "overheads",
               "devices",
               "kernels",
               "copies",
               "fill",
               "faults"});
  Model result;
  result.seed = static_cast<std::uint64_t>(reader.at("seed").integer(0, INT64_MAX));
  result.host_gap_ns = reader.at("host_gap_ns").cost_ns();
  for (const auto& [name, cost] : reader.at("calls").members()) {
    result.calls[name] = cost.cost_ns();
  }
  result.call_default_ns = result.calls["default"];
  result.initialise_ns = reader.at("initialise_ns").cost_ns();
  result.context_create_ns = reader.at("context_create_ns").cost_ns();
  result.first_launch_ns = reader.at("first_launch_ns").cost_ns();
  result.launch_latency_ns = reader.at("launch_latency_ns").cost_ns();
  result.graph_node_gap_ns = reader.at("graph_node_gap_ns").cost_ns();
  result.host_function_ns = reader.at("host_function_ns").cost_ns();
  result.free_waits = reader.at("free_waits").truth();
  result.managed_migrations = static_cast<int>(reader.at("managed_migrations").integer(0, 2));
  result.contention_permille =
      static_cast<int>(reader.at("contention_permille").integer(0, 100'000));
  result.while_iterations = static_cast<int>(reader.at("while_iterations").integer(0, 1'000'000));
  result.launch_queue_length =
      static_cast<int>(reader.at("launch_queue_length").integer(0, 1'000'000));
  const Reader overheads = reader.at("overheads");
  overheads.only({"buffer_request_ns", "buffer_flush_ns"});
  result.buffer_request_ns = overheads.at("buffer_request_ns").cost_ns();
  result.buffer_flush_ns = overheads.at("buffer_flush_ns").cost_ns();
  for (const Reader& device : reader.at("devices").elements()) {
    add_devices(device, result.devices);
  }
  for (const Reader& rule : reader.at("kernels").elements()) {
    result.kernels.push_back(parse_rule(rule));
  }
  parse_copies(reader.at("copies"), result);
  result.fill = parse_transfer(reader.at("fill"));
  for (const auto& [name, value] : reader.at("faults").members()) {
    result.faults[name] = value.text();
  }
  return result;
}

std::uint64_t mixed(std::uint64_t value) {  // the finaliser of SplitMix64 (Steele et al., 2014)
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

std::uint64_t hash_of(const std::string& text, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ mixed(seed);
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return mixed(hash);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ModelError("cannot be read");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Fewer devices, or more of the last kind.
void set_device_count(std::vector<DeviceModel>& devices, std::size_t count) {
  while (!devices.empty() && devices.size() < count) {
    devices.push_back(next_device(devices.back()));
  }
  devices.resize(std::min(count, devices.size()));
}

Model load_model() {
  const char* path = std::getenv("GPROFML_SIMGPU_MODEL");
  Model result = parse_model(path != nullptr && *path != '\0' ? read_file(path) : "{}");
  if (const char* seed = std::getenv("GPROFML_SIMGPU_SEED"); seed != nullptr) {
    result.seed = std::strtoull(seed, nullptr, 10);
  }
  if (const char* count = std::getenv("GPROFML_SIMGPU_DEVICES"); count != nullptr) {
    set_device_count(result.devices, std::strtoul(count, nullptr, 10));
  }
  return result;
}

std::string uuid_text(const DeviceModel& device) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < device.uuid.size(); ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", device.uuid[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10) ? "-" : "";
    text += digits;
  }
  return text;
}

}  // namespace

std::int64_t Model::call_cost(std::string_view name) const {
  const auto found = calls.find(name);
  return found != calls.end() ? found->second : call_default_ns;
}

const KernelRule& Model::rule_of(const std::string& mangled) const {
  static const KernelRule none;
  const std::string plain = demangled(mangled);
  for (const KernelRule& rule : kernels) {
    if (std::regex_search(plain, rule.expression) || std::regex_search(mangled, rule.expression)) {
      return rule;
    }
  }
  return none;
}

std::string default_model_json() {
  return kDefaultModel;
}

Model parse_model(const std::string& text) {
  Json merged = Json::parse(kDefaultModel);
  Json changes;
  try {
    changes = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw ModelError("no JSON at byte " + std::to_string(error.byte));
  }
  if (!changes.is_object()) {
    throw ModelError("/: must be an object");
  }
  merged.merge_patch(changes);
  return from_json(merged);
}

void check_model_of_environment() {
  load_model();
}

const Model& model() {
  static const Model* loaded = [] {
    try {
      return new Model(load_model());
    } catch (const ModelError& error) {
      const char* path = std::getenv("GPROFML_SIMGPU_MODEL");
      std::fprintf(stderr, "simgpu: model %s: %s\n", path != nullptr ? path : "", error.what());
      _exit(2);
    }
  }();
  return *loaded;
}

std::vector<DeviceModel> visible_devices(const Model& model, const char* setting) {
  if (setting == nullptr) {
    return model.devices;
  }
  std::vector<DeviceModel> visible;
  std::istringstream list(setting);
  for (std::string item; std::getline(list, item, ',');) {
    const DeviceModel* found = nullptr;
    char* end = nullptr;
    const unsigned long index = std::strtoul(item.c_str(), &end, 10);
    if (!item.empty() && *end == '\0' && index < model.devices.size()) {
      found = &model.devices[index];
    }
    for (const DeviceModel& device : model.devices) {
      if (item.rfind("GPU-", 0) == 0 && uuid_text(device).rfind(item, 0) == 0) {
        found = &device;
      }
    }
    if (found == nullptr) {
      break;  // as the driver: what stands behind an unknown device is not visible
    }
    visible.push_back(*found);
  }
  return visible;
}

std::int64_t kernel_duration_ns(const Model& model, const KernelRule& rule, const std::string& name,
                                std::uint64_t blocks, std::uint64_t threads,
                                std::uint64_t instance) {
  const auto plain = rule.fixed_ns +
                     static_cast<std::int64_t>(rule.ns_per_block * static_cast<double>(blocks)) +
                     static_cast<std::int64_t>(rule.ns_per_thread * static_cast<double>(threads));
  const auto spread = static_cast<std::uint64_t>(rule.jitter_permille);
  const std::uint64_t roll = mixed(hash_of(name, model.seed) + instance) % (2 * spread + 1);
  const std::int64_t permille = static_cast<std::int64_t>(roll) - rule.jitter_permille;
  return std::max<std::int64_t>(1,
                                plain + plain / 1000 * permille + plain % 1000 * permille / 1000);
}

std::string demangled(const std::string& mangled) {
  int status = 0;
  char* plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && plain != nullptr ? plain : mangled;
  std::free(plain);
  return result;
}

}  // namespace gprofml::simgpu
