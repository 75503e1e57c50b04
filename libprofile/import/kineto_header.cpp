#include "libprofile/import/kineto_header.hpp"

#include <simdjson.h>

#include "libprofile/import/decimal_time.hpp"
#include "libprofile/import/json_text.hpp"

namespace gprofml::profile {
namespace {

namespace dom = simdjson::dom;

std::int64_t integer(const dom::element& object, const char* key) {
  std::int64_t value = 0;
  return object[key].get(value) ? kUnknown : value;
}

void read_devices(const std::string& json, KinetoHeader& header) {
  dom::parser parser;
  dom::array devices;
  if (parser.parse(json).get(devices)) return;
  for (const dom::element device : devices) {
    KinetoDeviceProperties properties;
    properties.id = integer(device, "id");
    std::string_view name;
    if (!device["name"].get(name)) properties.name = name;
    properties.memory_bytes = integer(device, "totalGlobalMem");
    properties.multiprocessors = integer(device, "numSms");
    properties.compute_major = integer(device, "computeMajor");
    properties.compute_minor = integer(device, "computeMinor");
    header.devices.push_back(properties);
  }
}

void read_distributed(const std::string& json, KinetoHeader& header) {
  dom::parser parser;
  dom::element info;
  if (parser.parse(json).get(info)) return;
  header.rank = integer(info, "rank");
  const std::int64_t world_size = integer(info, "world_size");
  if (world_size != kUnknown)
    header.settings["distributed.world_size"] = std::to_string(world_size);
  for (const char* key : {"backend", "nccl_version"}) {
    std::string_view text;
    if (!info[key].get(text) && !text.empty())
      header.settings[std::string("distributed.") + key] = text;
  }
}

}  // namespace

KinetoHeader kineto_header(const HeaderReader& reader) {
  KinetoHeader header;
  header.repeated_events = reader.repeated_events();
  header.settings["tool"] = "kineto";
  for (const auto& [key, json] : reader.values()) {
    if (key == "deviceProperties") {
      read_devices(json, header);
    } else if (key == "distributedInfo") {
      read_distributed(json, header);
    } else if (json.front() != '{' && json.front() != '[') {
      const auto text = string_content(json);
      std::string plain = text ? unescaped(*text) : std::string(trimmed(json));
      repair(plain.data(), plain.size());
      header.settings.emplace(key, plain);
      if (key == "host_name") header.host = plain;
    }
  }
  if (const auto base = reader.values().find("baseTimeNanoseconds");
      base != reader.values().end()) {
    const auto value = integer_of(base->second);
    header.base_unusable = !value || *value > kLargestTime || *value < -kLargestTime;
    if (!header.base_unusable) header.base_ns = *value;
  }
  return header;
}

}  // namespace gprofml::profile
