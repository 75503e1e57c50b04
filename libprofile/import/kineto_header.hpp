// What the keys beside traceEvents say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "libprofile/import/header_reader.hpp"
#include "libprofile/trace/columns.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

struct KinetoDeviceProperties {
  std::int64_t id = kUnknown;
  std::string name;
  std::int64_t memory_bytes = kUnknown;
  std::int64_t multiprocessors = kUnknown;
  std::int64_t compute_major = kUnknown;
  std::int64_t compute_minor = kUnknown;

  /// Everything but the id is equal.
  bool same_model(const KinetoDeviceProperties& other) const {
    return std::tie(name, memory_bytes, multiprocessors, compute_major, compute_minor) ==
           std::tie(other.name, other.memory_bytes, other.multiprocessors, other.compute_major,
                    other.compute_minor);
  }
};

struct KinetoHeader {
  Nanoseconds base_ns = 0;           ///< baseTimeNanoseconds; 0: times are absolute
  bool base_unusable = false;        ///< there is one, but it is no time
  std::int64_t repeated_events = 0;  ///< arrays of events that were passed over
  std::int64_t rank = kUnknown;
  std::string host;
  std::vector<KinetoDeviceProperties> devices;
  std::map<std::string, std::string> settings;  ///< plain values, for Trace::meta
};

/// Reads the kept values; what is missing, malformed or of another type is just not known.
KinetoHeader kineto_header(const HeaderReader& reader);

}  // namespace gprofml::profile
