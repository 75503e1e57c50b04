#include "libprofile/capture/record_counts.hpp"

#include "libprofile/spool/reader.hpp"
#include "libprofile/trace/column_roles.hpp"

namespace gprofml::profile {

RecordCounts count_records(const std::string& path) {
  SpoolReader reader(path);
  RecordCounts counts;
  while (reader.next_chunk()) {
    RecordCursor records = reader.records();
    while (const auto record = records.next()) {
      switch (record->kind()) {
        case spool::RecordKind::kernel:
        case spool::RecordKind::short_kernel:
          ++counts.kernels;
          break;
        case spool::RecordKind::api_call:
          ++counts.api_calls;
          break;
        default:
          break;
      }
    }
  }
  return counts;
}

void reserve_rows(const RecordCounts& counts, Trace& trace) {
  visit_columns(trace.kernels, [&counts](const char*, auto& column, ColumnRole) {
    column.reserve(counts.kernels);
  });
  visit_columns(trace.api_calls, [&counts](const char*, auto& column, ColumnRole) {
    column.reserve(counts.api_calls);
  });
}

}  // namespace gprofml::profile
