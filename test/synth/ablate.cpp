#include "test/synth/ablate.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "test/synth/random.hpp"

namespace gprofml::synth {
namespace {

using profile::kNoRow;
using profile::kUnknown;
using profile::RowIndex;

template <typename T>
void set_all(std::vector<T>& column, T value) {
  std::fill(column.begin(), column.end(), value);
}

std::array<profile::ActivityColumns*, 3> activity_tables(profile::Trace& trace) {
  return {&trace.kernels, &trace.copies, &trace.fills};
}

void forget_calls(profile::Trace& trace) {
  for (profile::ActivityColumns* table : activity_tables(trace)) set_all(table->launch, kNoRow);
  set_all(trace.syncs.call, kNoRow);
  set_all(trace.syncs.event_record, kNoRow);
}

template <typename T>
void keep_rows(std::vector<T>& column, const std::vector<bool>& keep) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep[row]) column[kept++] = column[row];
  }
  column.resize(kept);
}

void keep_rows(profile::KernelColumns& kernels, const std::vector<bool>& keep) {
  keep_rows(kernels.start_ns, keep);
  keep_rows(kernels.end_ns, keep);
  keep_rows(kernels.name, keep);
  keep_rows(kernels.stream, keep);
  keep_rows(kernels.launch, keep);
  keep_rows(kernels.correlation, keep);
  keep_rows(kernels.graph_node, keep);
  keep_rows(kernels.op, keep);
  keep_rows(kernels.sequence, keep);
  keep_rows(kernels.launch_config, keep);
}

void keep_rows(profile::CollectiveColumns& collectives, const std::vector<bool>& keep) {
  keep_rows(collectives.kernel, keep);
  keep_rows(collectives.communicator, keep);
  keep_rows(collectives.operation, keep);
  keep_rows(collectives.dtype, keep);
  keep_rows(collectives.elements_in, keep);
  keep_rows(collectives.elements_out, keep);
  keep_rows(collectives.group_size, keep);
  keep_rows(collectives.ranks, keep);
  keep_rows(collectives.bytes, keep);
  keep_rows(collectives.range, keep);
}

// Collectives of removed kernels go too; the others follow their kernel to its new row.
void follow_kernels(profile::CollectiveColumns& collectives, const std::vector<bool>& keep_kernel) {
  std::vector<RowIndex> new_row(keep_kernel.size());
  RowIndex next = 0;
  for (std::size_t row = 0; row < keep_kernel.size(); ++row) {
    new_row[row] = next;
    if (keep_kernel[row]) ++next;
  }
  std::vector<bool> keep(collectives.size());
  for (std::size_t row = 0; row < keep.size(); ++row)
    keep[row] = collectives.kernel[row] == kNoRow || keep_kernel[collectives.kernel[row]];
  for (RowIndex& kernel : collectives.kernel) {
    if (kernel != kNoRow) kernel = new_row[kernel];
  }
  keep_rows(collectives, keep);
}

std::set<RowIndex> calls_with_work(profile::Trace& trace) {
  std::set<RowIndex> calls;
  for (const profile::ActivityColumns* table : activity_tables(trace)) {
    calls.insert(table->launch.begin(), table->launch.end());
  }
  calls.erase(kNoRow);
  return calls;
}

}  // namespace

profile::Trace without_api_calls(profile::Trace trace) {
  forget_calls(trace);
  trace.api_calls = {};
  return trace;
}

profile::Trace without_sync_records(profile::Trace trace) {
  trace.syncs = {};
  return trace;
}

profile::Trace without_ranges(profile::Trace trace) {
  for (profile::ActivityColumns* table : activity_tables(trace)) set_all(table->op, kNoRow);
  set_all(trace.collectives.range, kNoRow);
  trace.range_payloads = {};
  trace.ranges = {};
  return trace;
}

profile::Trace without_correlation_ids(profile::Trace trace) {
  forget_calls(trace);
  for (profile::ActivityColumns* table : activity_tables(trace))
    set_all(table->correlation, kUnknown);
  set_all(trace.api_calls.correlation, kUnknown);
  set_all(trace.syncs.correlation, kUnknown);
  return trace;
}

FewerKernels without_some_kernels(const profile::Trace& trace, int percent, std::uint64_t seed) {
  FewerKernels result;
  result.trace = trace;
  const std::size_t before = calls_with_work(result.trace).size();
  Random random(seed);
  std::vector<bool> keep(trace.kernels.size());
  for (std::size_t row = 0; row < keep.size(); ++row) keep[row] = !random.chance(percent);
  keep_rows(result.trace.kernels, keep);
  follow_kernels(result.trace.collectives, keep);
  result.kernels_removed = std::count(keep.begin(), keep.end(), false);
  result.submissions_without_work =
      static_cast<std::int64_t>(before - calls_with_work(result.trace).size());
  return result;
}

}  // namespace gprofml::synth
