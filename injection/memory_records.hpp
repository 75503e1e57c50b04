// Memory and whole graphs as the spool's records: what the levels above and below the default add.
#pragma once

#include "injection/activity_layouts.hpp"
#include "injection/record_stream.hpp"

namespace gprofml::injection {

// Each takes a record of its kind of any CUPTI since 11.6: what an older record lacks is said to be
// not known.
void write_memory_event(RecordStream& stream, const RawRecord& record);
void write_memory_pool(RecordStream& stream, const RawRecord& record);
void write_unified_memory(RecordStream& stream, const RawRecord& record);
void write_graph_launch(RecordStream& stream, const RawRecord& record);

}  // namespace gprofml::injection
