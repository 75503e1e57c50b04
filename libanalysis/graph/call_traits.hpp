// What a CUDA or HIP call is, judged by its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// What a call waits for by its name alone.
enum class Blocking : std::uint8_t {
  no,
  stream,  ///< StreamSynchronize
  event,   ///< EventSynchronize
  device,  ///< DeviceSynchronize, CtxSynchronize, ThreadSynchronize
  free,    ///< frees that wait for the device; the stream-ordered ones (Async) do not
};

struct CallTraits {
  Blocking blocking = Blocking::no;
  bool submits = false;  ///< the name says Launch, Memcpy or Memset
  bool copies = false;   ///< the name says Memcpy: it blocks when it holds its own copy
  bool fills = false;    ///< the name says Memset
  bool async = false;
  bool graph_launch = false;
};

/// The name without vendor prefix (cuda, cu, hip) and ABI suffix (_v3020, _ptsz, _ptds).
std::string_view bare_call_name(std::string_view name);

/// Traits of a call by its recorded name.
CallTraits call_traits(std::string_view name);

/// Traits of every API call of a trace, computed once a distinct name.
class CallTraitsTable {
 public:
  explicit CallTraitsTable(const profile::Trace& trace);

  const CallTraits& of(profile::RowIndex call) const { return by_name_[names_[call]]; }

 private:
  const std::vector<profile::StringId>& names_;
  std::vector<CallTraits> by_name_;  // indexed by StringId
};

}  // namespace gprofml::analysis
