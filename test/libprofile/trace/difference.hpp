// Where two traces differ, as a sentence. Strings are compared as texts, ids as ids.
#pragma once

#include <fmt/format.h>

#include <string>

#include "libprofile/trace/column_roles.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::test {

enum class Sequence { compare, ignore };

namespace detail {

template <typename Table>
std::string table_difference(const char* name, const Table& a, const Table& b, Sequence sequence) {
  std::vector<const void*> columns;
  profile::visit_columns(
      b, [&](const char*, const auto& column, profile::ColumnRole) { columns.push_back(&column); });
  std::string found;
  std::size_t next = 0;
  profile::visit_columns(a, [&](const char* label, const auto& column, profile::ColumnRole) {
    const auto& other = *static_cast<std::decay_t<decltype(column)> const*>(columns[next++]);
    const bool skipped = sequence == Sequence::ignore && std::string(label) == "sequence";
    if (!found.empty() || skipped || column == other) return;
    std::size_t row = 0;
    while (row < column.size() && row < other.size() && column[row] == other[row]) ++row;
    found = fmt::format("{}.{} differs from row {} on ({} and {} rows)", name, label, row,
                        column.size(), other.size());
  });
  return found;
}

}  // namespace detail

/// Empty: the traces are equal.
inline std::string first_difference(const profile::Trace& a, const profile::Trace& b,
                                    Sequence sequence = Sequence::compare) {
  if (a.strings.size() != b.strings.size())
    return fmt::format("{} and {} strings", a.strings.size(), b.strings.size());
  for (profile::StringId id = 0; id < a.strings.size(); ++id)
    if (a.text(id) != b.text(id))
      return fmt::format("string {}: '{}' and '{}'", id, a.text(id), b.text(id));
  if (a.meta != b.meta) return "meta";
  if (!(a.clock == b.clock)) return "clock";
  if (a.processes != b.processes) return "processes";
  if (a.threads != b.threads) return "threads";
  if (a.devices != b.devices) return "devices";
  if (a.contexts != b.contexts) return "contexts";
  if (a.streams != b.streams) return "streams";
  if (a.launch_configs != b.launch_configs) return "launch_configs";
  if (a.graph_nodes != b.graph_nodes) return "graph_nodes";
  if (a.graph_edges != b.graph_edges) return "graph_edges";
  if (a.stack_frames != b.stack_frames) return "stack_frames";
  if (a.counter_metrics != b.counter_metrics) return "counter_metrics";
  if (a.quality != b.quality) return "quality";
  std::vector<std::string> tables;
  const auto compare = [&](const char* name, const auto& left, const auto& right) {
    const std::string found = detail::table_difference(name, left, right, sequence);
    if (!found.empty()) tables.push_back(found);
  };
  std::vector<const void*> others;
  profile::visit_event_tables(b, [&](const char*, const auto& table) { others.push_back(&table); });
  std::size_t next = 0;
  profile::visit_event_tables(a, [&](const char* name, const auto& table) {
    compare(name, table, *static_cast<std::decay_t<decltype(table)> const*>(others[next++]));
  });
  return tables.empty() ? "" : tables.front();
}

}  // namespace gprofml::test
