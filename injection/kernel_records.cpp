#include "injection/kernel_records.hpp"

#include <cstring>

namespace gprofml::injection {
namespace {

/// The fields of a record that make its launch configuration, as they lie there.
struct RawConfig {
  std::uint64_t words[7];

  bool operator==(const RawConfig& other) const {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < 7; ++i) difference |= words[i] ^ other.words[i];
    return difference == 0;
  }
  /// The products do not wait for each other, which hashing byte by byte would.
  std::uint64_t hash() const {
    constexpr std::uint64_t kFactors[7] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u,
                                           0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
                                           0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u,
                                           0x1d8e4e27c47d124fu};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 7; ++i) sum += (words[i] ^ words[i] >> 32) * kFactors[i];
    return sum ^ sum >> 29;
  }
};

// Grid, block, shared and local memory lie side by side, registers and cluster apart.
constexpr std::size_t kSideBySide = kKernel10_localMemoryPerThread + 4 - kKernel10_gridX;
constexpr std::size_t kCluster = 12;
static_assert(kSideBySide == 36 && kSideBySide + kCluster + sizeof(std::uint16_t) <= 56);
constexpr std::size_t kLongEnough = kKernel10_clusterX + kCluster;

RawConfig raw_config(const RawRecord& record) {
  RawConfig raw{};
  unsigned char bytes[sizeof raw.words] = {};
  std::memcpy(bytes, record.at(kKernel10_gridX), kSideBySide);
  std::memcpy(bytes + kSideBySide, record.at(kKernel10_clusterX), kCluster);
  std::memcpy(bytes + kSideBySide + kCluster, record.at(kKernel10_registersPerThread),
              sizeof(std::uint16_t));
  std::memcpy(raw.words, bytes, sizeof bytes);
  return raw;
}

spool::LaunchConfig launch_config(const RawRecord& record) {
  spool::LaunchConfig config{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    config.grid[axis] = record.get<std::int32_t>(kKernel10_gridX + 4 * axis);
    config.block[axis] = record.get<std::int32_t>(kKernel10_blockX + 4 * axis);
    config.cluster[axis] = record.get<std::int32_t>(kKernel10_clusterX + 4 * axis);
  }
  config.registers_per_thread = record.get<std::uint16_t>(kKernel10_registersPerThread);
  config.static_shared_bytes = record.get<std::int32_t>(kKernel10_staticSharedMemory);
  config.dynamic_shared_bytes = record.get<std::int32_t>(kKernel10_dynamicSharedMemory);
  config.local_bytes_per_thread = record.u32(kKernel10_localMemoryPerThread);
  return config;
}

/// What was seen last at each slot; numbers stay valid when the dictionaries start over, the text
/// that they keep does not.
class Seen {
 public:
  /// Forgets everything when the stream is another one (in a forked child), and the names when the
  /// stream has let go of their text.
  void belong_to(const RecordStream& stream) {
    if (stream_ == &stream && generation_ == stream.names_generation()) return;
    std::memset(names_, 0, sizeof names_);
    if (stream_ != &stream) {
      std::memset(configs_, 0, sizeof configs_);
      std::memset(places_, 0, sizeof places_);
    }
    stream_ = &stream;
    generation_ = stream.names_generation();
  }

  /// By content: CUPTI may use an address again for another name once a module is unloaded.
  std::uint32_t name(RecordStream& stream, const char* text) {
    if (text == nullptr) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(text);
    Name& seen = names_[(address * 0x9e3779b97f4a7c15u) >> (64 - kNameBits)];
    if (seen.address == text && std::strcmp(seen.text, text) == 0) return seen.id;
    const RecordStream::KeptName kept = stream.kept_string(text);
    belong_to(stream);  // the dictionary may just have started over
    if (kept.text != nullptr) seen = {text, kept.text, kept.id};
    return kept.id;
  }

  std::uint32_t config(RecordStream& stream, const RawRecord& record) {
    if (!record.has(kLongEnough)) return stream.launch_config(launch_config(record));
    const RawConfig raw = raw_config(record);
    Config& seen = configs_[raw.hash() & (kConfigs - 1)];
    if (seen.is_set && seen.raw == raw) return seen.id;
    const std::uint32_t id = stream.launch_config(launch_config(record));
    if (id != spool::kNoId) seen = {raw, id, true};
    return id;
  }

  /// 0: there is no memory for another.
  std::uint32_t place(RecordStream& stream, std::uint32_t device, std::uint32_t context,
                      std::uint32_t stream_id) {
    Place& seen = places_[(device * 31 + context * 7 + stream_id) & (kPlaces - 1)];
    if (seen.is_set && seen.device == device && seen.context == context &&
        seen.stream == stream_id) {
      return seen.id;
    }
    spool::Place place{};
    place.device = device;
    place.context = context;
    place.stream = stream_id;
    const std::uint32_t id = stream.place(place);
    if (id != 0) seen = {device, context, stream_id, id, true};
    return id;
  }

 private:
  static constexpr unsigned kNameBits = 11;
  static constexpr std::size_t kConfigs = 4096;
  static constexpr std::size_t kPlaces = 256;

  struct Name {
    const char* address;
    const char* text;
    std::uint32_t id;
  };
  struct Config {
    RawConfig raw;
    std::uint32_t id;
    bool is_set;
  };
  struct Place {
    std::uint32_t device, context, stream, id;
    bool is_set;
  };

  const RecordStream* stream_ = nullptr;
  std::uint32_t generation_ = 0;
  Name names_[std::size_t{1} << kNameBits] = {};
  Config configs_[kConfigs] = {};
  Place places_[kPlaces] = {};
};
Seen seen;

void write_long(RecordStream& stream, const RawRecord& record, std::uint32_t name,
                std::uint32_t config) {
  spool::Kernel kernel{};
  kernel.start_ns = record.time(kKernel10_start);
  kernel.end_ns = record.time(kKernel10_end);
  kernel.graph_node = record.u64(kKernel10_graphNodeId);
  kernel.graph = record.u32(kKernel10_graphId);
  kernel.name = name;
  kernel.device = record.u32(kKernel10_deviceId);
  kernel.context = record.u32(kKernel10_contextId);
  kernel.stream = record.u32(kKernel10_streamId);
  kernel.correlation = record.u32(kKernel10_correlationId);
  kernel.launch_config = config;
  stream.add(spool::RecordKind::kernel, kernel);
}

}  // namespace

void write_kernel(RecordStream& stream, const RawRecord& record) {
  seen.belong_to(stream);
  const std::uint32_t name = seen.name(stream, record.get<const char*>(kKernel10_name));
  const std::uint32_t config = seen.config(stream, record);
  const std::int64_t start_ns = record.time(kKernel10_start);
  const std::uint64_t duration_ns = record.u64(kKernel10_end) - static_cast<std::uint64_t>(start_ns);
  const std::uint32_t place =
      seen.place(stream, record.u32(kKernel10_deviceId), record.u32(kKernel10_contextId),
                 record.u32(kKernel10_streamId));
  if (duration_ns > 0xffffffffu || place == 0) return write_long(stream, record, name, config);
  spool::ShortKernel kernel;
  kernel.start_ns = start_ns;
  kernel.graph_node = record.u64(kKernel10_graphNodeId);
  kernel.duration_ns = static_cast<std::uint32_t>(duration_ns);
  kernel.graph = record.u32(kKernel10_graphId);
  kernel.name = name;
  kernel.place = place;
  kernel.correlation = record.u32(kKernel10_correlationId);
  kernel.launch_config = config;
  stream.add(spool::RecordKind::short_kernel, kernel);
}

}  // namespace gprofml::injection
