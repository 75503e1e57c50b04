// One element of traceEvents as the file writes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gprofml::profile {

/// Arguments an import uses. The comment names the JSON key where it is not obvious.
enum class KinetoArg {
  device,
  context,
  stream,
  correlation,
  external_id,  ///< "External id", "external id"
  bytes,        ///< "bytes", "Bytes"
  kind,
  grid,
  block,
  registers,  ///< "registers per thread"
  shared_memory,
  graph_id,
  graph_node_id,
  sync_kind,    ///< "cuda_sync_kind"
  wait_stream,  ///< "wait_on_stream"
  wait_record,  ///< "wait_on_cuda_event_record_corr_id"
  wait_event,   ///< "wait_on_cuda_event_id"
  name,         ///< of metadata events
  device_type,
  device_id,
  address,  ///< "Addr"
  total_allocated,
  total_reserved,
  collective,    ///< "Collective name"
  elements_in,   ///< "In msg nelems"
  elements_out,  ///< "Out msg nelems"
  dtype,
  group_size,
  group_name,   ///< "Process Group Name"
  group_ranks,  ///< "Process Group Ranks"
  count
};

/// The argument a JSON key means; `count`: none that is used.
KinetoArg kineto_arg(std::string_view key);

/// Values are JSON tokens, possibly with blanks behind; empty: the key is absent. They point into
/// the window and live as long as it does. One object serves for many events.
class KinetoEvent {
 public:
  std::string_view phase, category, name, pid, tid, ts, dur;

  std::string_view arg(KinetoArg which) const {
    return (present_ & bit(which)) != 0 ? args_[index(which)] : std::string_view();
  }
  void set_arg(KinetoArg which, std::string_view token) {
    args_[index(which)] = token;
    present_ |= bit(which);
  }
  void clear() {
    phase = category = name = pid = tid = ts = dur = {};
    present_ = 0;  // clearing the array for every event would take longer than filling it
  }

 private:
  static std::size_t index(KinetoArg which) { return static_cast<std::size_t>(which); }
  static std::uint64_t bit(KinetoArg which) { return std::uint64_t{1} << index(which); }

  static_assert(static_cast<std::size_t>(KinetoArg::count) <= 64);
  std::array<std::string_view, static_cast<std::size_t>(KinetoArg::count)> args_;
  std::uint64_t present_ = 0;
};

}  // namespace gprofml::profile
