#include "libprofile/store/text_tables.hpp"

#include <fmt/format.h>

#include "libprofile/store/store_error.hpp"

namespace gprofml::profile::detail {
namespace {

/// Text that must be text. No file holds more of it than it has bytes: each text stands in it once,
/// unless pages are shared, and then a small file could fill any memory.
class TextReader {
 public:
  TextReader(const Source& source, std::string_view table)
      : source_(source), table_(table), bytes_left_(source.file_bytes) {}

  std::string_view get(sqlite3_stmt* statement, int column) {
    const int type = sqlite3_column_type(statement, column);
    if (type != SQLITE_TEXT) {
      throw table_error(source_.file, table_,
                        fmt::format("column `{}` holds {} where text belongs",
                                    sqlite3_column_name(statement, column), type_name(type)));
    }
    const std::string_view text = column_text(statement, column);
    if (text.data() == nullptr) fail_sqlite(source_, table_);
    if (text.size() > bytes_left_) {
      throw table_error(source_.file, table_,
                        "damaged: it holds more text than the file has bytes");
    }
    bytes_left_ -= text.size();
    return text;
  }

 private:
  const Source& source_;
  std::string_view table_;
  std::uint64_t bytes_left_;
};

}  // namespace

std::uint64_t read_strings(const Source& source, StringTable& strings) {
  constexpr std::string_view kTable = "string";
  check_table(source, kTable, {"id", "text"});
  const Statement query = prepare_or_fail(source, kTable, "SELECT id, text" + from_table(kTable));
  TextReader text(source, kTable);
  std::uint64_t row = 0;
  for (; step_or_fail(source, kTable, query.get()); ++row) {
    check_id(source, kTable, sqlite3_column_value(query.get(), 0), row);
    const std::uint64_t id = strings.intern(text.get(query.get(), 1));
    if (id != row) {
      throw table_error(source.file, kTable,
                        row == 0 ? "row 0 is not the empty string"
                                 : fmt::format("rows {} and {} hold the same text", id, row));
    }
  }
  if (row == 0) throw table_error(source.file, kTable, "row 0, the empty string, is missing");
  return row;
}

std::vector<std::pair<std::string, std::string>> read_meta(const Source& source) {
  constexpr std::string_view kTable = "meta";
  check_table(source, kTable, {"key", "value"});
  const Statement query = prepare_or_fail(source, kTable, "SELECT key, value" + from_table(kTable));
  TextReader text(source, kTable);
  std::vector<std::pair<std::string, std::string>> entries;
  while (step_or_fail(source, kTable, query.get())) {
    std::string key(text.get(query.get(), 0));
    entries.emplace_back(std::move(key), text.get(query.get(), 1));
  }
  return entries;
}

}  // namespace gprofml::profile::detail
