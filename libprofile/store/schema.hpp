// The tables and views of run.db as SQL.
#pragma once

#include <cstdint>

namespace gprofml::profile {

/// "GPRF" in ASCII: PRAGMA application_id of every run.db, which `file` shows.
inline constexpr std::int32_t kApplicationId = 0x47505246;

/// CREATE statements of all tables and views of schema version kSchemaVersion. The comments inside
/// a statement are kept by SQLite, so that `.schema kernel` explains the table. docs/run-db.md
/// says the same at length; a test compares the two.
extern const char* const kSchemaSql;

}  // namespace gprofml::profile
