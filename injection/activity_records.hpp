// CUPTI's activity records as the spool's.
#pragma once

#include "injection/activity_layouts.hpp"
#include "injection/cupti_library.hpp"
#include "injection/recorder.hpp"

namespace gprofml::injection {

/// Writes the records of these buffers that are in a window and returns the buffers to the pool.
void write_activity(Recorder& recorder, ActivityBuffers::Full* buffers);

enum class Fate { written, unwanted, unknown };

/// Turns one record into the spool's. `unknown`: of a kind that this library does not know.
Fate write_record(RecordStream& stream, const CuptiSession& session, const RawRecord& record);

/// Calls `use(const RawRecord&)` for each record of a buffer; false when it ends in an incomplete
/// one, behind which nothing can be read.
template <class Use>
bool walk_records(const CuptiLibrary& library, unsigned char* data, std::size_t bytes, Use&& use) {
  CUpti_Activity* record = nullptr;
  CUptiResult result = library.ActivityGetNextRecord(data, bytes, &record);
  while (result == CUPTI_SUCCESS) {
    CUpti_Activity* next = record;
    result = library.ActivityGetNextRecord(data, bytes, &next);
    // In front of an incomplete record the length is not known: what is always there is read.
    const auto* at = reinterpret_cast<const unsigned char*>(record);
    const auto* end = data + bytes;
    if (result == CUPTI_SUCCESS) end = reinterpret_cast<const unsigned char*>(next);
    use(RawRecord(at, static_cast<std::size_t>(end - at)));
    record = next;
  }
  return result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

}  // namespace gprofml::injection
