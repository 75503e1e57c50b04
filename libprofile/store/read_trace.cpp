#include "libprofile/store/read_trace.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "libprofile/store/meta_keys.hpp"
#include "libprofile/store/open_untrusted.hpp"
#include "libprofile/store/store_error.hpp"
#include "libprofile/store/table_reader.hpp"
#include "libprofile/store/text_tables.hpp"

namespace gprofml::profile::detail {
namespace {

using MetaEntries = std::vector<std::pair<std::string, std::string>>;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Looks at the schema for the first time, which is where most damage shows.
void check_is_run_db(const Source& source) {
  const Statement query = prepare(
      source.database, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta' COLLATE NOCASE");
  if (!query || sqlite3_step(query.get()) != SQLITE_ROW) {
    throw file_error(source.file, fmt::format("damaged: {}; write the file again from its source",
                                              failure_reason(source.database)));
  }
  if (sqlite3_column_int(query.get(), 0) == 0) {
    throw file_error(source.file, "an SQLite file, but not a run.db (no table `meta`)");
  }
}

/// Text in another encoding would be converted, and could grow.
void check_encoding(const Source& source) {
  const Statement query = prepare(source.database, "PRAGMA encoding");
  const bool has_row = query && sqlite3_step(query.get()) == SQLITE_ROW;
  const auto* name =
      has_row ? reinterpret_cast<const char*>(sqlite3_column_text(query.get(), 0)) : nullptr;
  if (name == nullptr || std::string_view(name) != "UTF-8") {
    throw file_error(source.file,
                     fmt::format("its text is {}, that of a run.db is UTF-8; write the file again "
                                 "from its source",
                                 name == nullptr ? "unknown" : name));
  }
}

void check_version(const Source& source, const MetaEntries& entries) {
  for (const auto& [key, value] : entries) {
    if (key != kSchemaVersionKey) continue;
    const auto version = parse_integer(value);
    if (version && *version > kSchemaVersion) {
      throw file_error(
          source.file,
          fmt::format("written by a newer gprof-ml (schema {}, this one reads up to {}); "
                      "update gprof-ml",
                      *version, kSchemaVersion));
    }
    if (!version || *version < 1) {
      throw table_error(source.file, "meta",
                        fmt::format("`schema_version` is \"{}\", not a version", value));
    }
    return;
  }
  throw file_error(source.file,
                   "an SQLite file, but not a run.db (no `schema_version` in table `meta`)");
}

void take_meta(const Source& source, const MetaEntries& entries, Trace& trace) {
  for (const auto& [key, value] : entries) {
    if (key == kClockBoundKey) {
      const auto bound = parse_integer(value);
      if (!bound) {
        throw table_error(source.file, "meta",
                          fmt::format("`clock_bound_ns` is \"{}\", not an integer", value));
      }
      trace.clock.bound_ns = *bound;
    } else if (!is_store_key(key)) {
      trace.meta.emplace(trace_key(key), value);
    }
  }
}

}  // namespace

Trace read_trace(const Source& source) {
  harden(source.database, source.file_bytes);
  const WorkLimit limit(source.database, source.file_bytes);
  check_is_run_db(source);
  check_encoding(source);
  const MetaEntries entries = read_meta(source);
  check_version(source, entries);

  Trace trace;
  take_meta(source, entries, trace);
  TableSizes sizes{};
  sizes[static_cast<std::size_t>(TableId::string)] = read_strings(source, trace.strings);
  for (const TableBinding& table : bind_tables(trace)) {
    sizes[static_cast<std::size_t>(table.id)] = read_table(source, table, sizes);
  }
  if (const auto inconsistency = first_inconsistency(trace)) {
    throw file_error(source.file,
                     fmt::format("{}; write the file again from its source", *inconsistency));
  }
  return trace;
}

}  // namespace gprofml::profile::detail
