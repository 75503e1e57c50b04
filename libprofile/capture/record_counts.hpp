// How much a spool holds, before it is translated: columns that grow row by row are copied again
// and again, and what they leave behind stays in the process. For large recordings that was a third
// of the merge's memory.
#pragma once

#include <cstddef>
#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Of the records that a recording mostly consists of.
struct RecordCounts {
  std::size_t kernels = 0;
  std::size_t api_calls = 0;
};

/// Walks a whole spool. Only a hint: its process may write on. Throws SpoolError.
RecordCounts count_records(const std::string& path);

/// Makes room for them, exactly.
void reserve_rows(const RecordCounts& counts, Trace& trace);

}  // namespace gprofml::profile
