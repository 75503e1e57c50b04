#include "injection/kernel_records.hpp"

#include <cstring>

namespace gprofml::injection {
namespace {

/// The fields of a record that make its launch configuration, as they lie there. All in registers:
/// gathered in memory and read again in other sizes they would make the processor wait.
struct RawConfig {
  std::uint64_t grid_xy, grid_z_block_x, block_yz, shared, local_registers, cluster_xy, cluster_z;

  bool operator==(const RawConfig& other) const {
    return ((grid_xy ^ other.grid_xy) | (grid_z_block_x ^ other.grid_z_block_x) |
            (block_yz ^ other.block_yz) | (shared ^ other.shared) |
            (local_registers ^ other.local_registers) | (cluster_xy ^ other.cluster_xy) |
            (cluster_z ^ other.cluster_z)) == 0;
  }
  /// The products do not wait for each other, which hashing word by word would.
  std::uint64_t hash() const {
    const std::uint64_t sum = grid_xy * 0x9e3779b97f4a7c15u + grid_z_block_x * 0xd6e8feb86659fd93u +
                              block_yz * 0xa0761d6478bd642fu + shared * 0xe7037ed1a0b428dbu +
                              local_registers * 0x8ebc6af09c88c6e3u +
                              (cluster_xy ^ cluster_z) * 0x589965cc75374cc3u;
    return sum ^ sum >> 32;
  }
};

constexpr std::size_t kLongEnough = kKernel10_clusterX + 12;
static_assert(kKernel10_blockX == kKernel10_gridX + 12 &&
              kKernel10_staticSharedMemory == kKernel10_gridX + 24 &&
              kKernel10_dynamicSharedMemory == kKernel10_gridX + 28);

RawConfig raw_config(const RawRecord& record) {
  return {record.u64(kKernel10_gridX),
          record.u64(kKernel10_gridX + 8),
          record.u64(kKernel10_gridX + 16),
          record.u64(kKernel10_staticSharedMemory),
          std::uint64_t{record.u32(kKernel10_localMemoryPerThread)} << 16 |
              record.get<std::uint16_t>(kKernel10_registersPerThread),
          record.u64(kKernel10_clusterX),
          record.u32(kKernel10_clusterX + 8)};
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

/// A table that forgets: what hashes alike shares two entries, of which the one used longer ago
/// goes.
template <class Entry, std::size_t kPairs>
class Recent {
 public:
  /// The entry that `matches(entry)`; else one to be overwritten, and `found` is false.
  template <class Matches>
  Entry& find(std::uint64_t hash, bool& found, const Matches& matches) {
    Entry* pair = entries_[hash % kPairs];
    found = true;
    if (matches(pair[0])) return pair[0];
    if (matches(pair[1])) return pair[1];
    found = false;
    pair[1] = pair[0];
    return pair[0];
  }
  void clear() { std::memset(entries_, 0, sizeof entries_); }

 private:
  Entry entries_[kPairs][2] = {};
};

/// What was seen last; numbers stay valid when the dictionaries start over, the text that they keep
/// does not.
class Seen {
 public:
  /// Forgets everything when the stream is another one (in a forked child), and the names when the
  /// stream has let go of their text.
  void belong_to(const RecordStream& stream) {
    if (stream_ == &stream && generation_ == stream.names_generation()) return;
    names_.clear();
    if (stream_ != &stream) {
      configs_.clear();
      places_.clear();
    }
    stream_ = &stream;
    generation_ = stream.names_generation();
  }
  void begin_pass() { ++pass_; }

  std::uint32_t name(RecordStream& stream, const char* text) {
    if (text == nullptr) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(text);
    bool found = false;
    Name& seen = names_.find(address * 0x9e3779b97f4a7c15u >> 40, found,
                             [&](const Name& name) { return name.address == text; });
    if (found && seen.compared_in == pass_) return seen.id;
    if (found && std::strcmp(seen.text, text) == 0) {
      seen.compared_in = pass_;
      return seen.id;
    }
    const RecordStream::KeptName kept = stream.kept_string(text);
    belong_to(stream);  // the dictionary may just have started over
    seen = kept.text == nullptr ? Name{} : Name{text, kept.text, kept.id, pass_};
    return kept.id;
  }

  std::uint32_t config(RecordStream& stream, const RawRecord& record) {
    if (!record.has(kLongEnough)) return stream.launch_config(launch_config(record));
    const RawConfig raw = raw_config(record);
    bool found = false;
    Config& seen = configs_.find(raw.hash(), found, [&raw](const Config& config) {
      return config.id != 0 && config.raw == raw;
    });
    if (found) return seen.id;
    const std::uint32_t id = stream.launch_config(launch_config(record));
    seen = {raw, id == spool::kNoId ? 0 : id};
    return id;
  }

  /// 0: there is no memory for another.
  std::uint32_t place(RecordStream& stream, std::uint32_t device, std::uint32_t context,
                      std::uint32_t stream_id) {
    bool found = false;
    Place& seen = places_.find(device * 31 + context * 7 + stream_id, found, [&](const Place& at) {
      return at.id != 0 && at.device == device && at.context == context && at.stream == stream_id;
    });
    if (found) return seen.id;
    spool::Place place{};
    place.device = device;
    place.context = context;
    place.stream = stream_id;
    const std::uint32_t id = stream.place(place);
    seen = {device, context, stream_id, id};
    return id;
  }

 private:
  struct Name {
    const char* address;
    const char* text;
    std::uint32_t id;
    std::uint32_t compared_in;
  };
  struct alignas(
      64) Config {  // a line of the cache: most of what is looked up is not in a near one
    RawConfig raw;
    std::uint32_t id;  ///< 0: none
  };
  static_assert(sizeof(Config) == 64);
  struct Place {
    std::uint32_t device, context, stream, id;
  };

  const RecordStream* stream_ = nullptr;
  std::uint32_t generation_ = 0;
  std::uint32_t pass_ = 0;
  Recent<Name, 1024> names_;
  Recent<Config, 4096> configs_;
  Recent<Place, 128> places_;
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

void begin_kernels() {
  seen.begin_pass();
}

void write_kernel(RecordStream& stream, const RawRecord& record) {
  seen.belong_to(stream);
  const std::uint32_t name = seen.name(stream, record.get<const char*>(kKernel10_name));
  const std::uint32_t config = seen.config(stream, record);
  const std::int64_t start_ns = record.time(kKernel10_start);
  const std::uint64_t duration_ns =
      record.u64(kKernel10_end) - static_cast<std::uint64_t>(start_ns);
  const std::uint32_t place =
      seen.place(stream, record.u32(kKernel10_deviceId), record.u32(kKernel10_contextId),
                 record.u32(kKernel10_streamId));
  if (duration_ns > 0xffffffffu || place == 0) return write_long(stream, record, name, config);
  auto* kernel = stream.begin<spool::ShortKernel>(spool::RecordKind::short_kernel);
  if (kernel == nullptr) return;
  kernel->start_ns = start_ns;
  kernel->graph_node = record.u64(kKernel10_graphNodeId);
  kernel->duration_ns = static_cast<std::uint32_t>(duration_ns);
  kernel->graph = record.u32(kKernel10_graphId);
  kernel->name = name;
  kernel->place = place;
  kernel->correlation = record.u32(kKernel10_correlationId);
  kernel->launch_config = config;
}

}  // namespace gprofml::injection
