// A CUPTI of which a benchmark holds the strings: it records nothing by itself, but takes the
// recorder's registrations, so that the benchmark can call exactly what CUPTI would call, and when.
#pragma once

#include <cupti.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace gprofml::bench {

struct StandInCupti {
  // What the recorder registered.
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_CallbackFunc subscriber = nullptr;
  void* subscriber_data = nullptr;
  bool calls_back_on_launch = false;  ///< it wants to be called at each launch call
  bool calls_have_records = false;    ///< it wants records of launch calls

  // What it did since.
  std::atomic<std::uint64_t> buffers_read{0};  ///< walked to their end
  std::atomic<pid_t> reader_tid{0};            ///< its writer

  /// The toolkit's cuptiActivityGetNextRecord, when set; else one that knows two kinds.
  decltype(&::cuptiActivityGetNextRecord) next_record = nullptr;
};

/// The one of this process; the library's only symbol beside CUPTI's.
extern "C" StandInCupti* gprofml_stand_in_cupti();

}  // namespace gprofml::bench
