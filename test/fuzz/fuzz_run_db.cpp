// libFuzzer target: any bytes as a run.db. Reading either gives a consistent trace or a StoreError;
// everything else (crash, hang, memory out of proportion) is a finding.
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libprofile/store/read_trace.hpp"
#include "libprofile/store/sqlite_handle.hpp"
#include "libprofile/store/store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace profile = gprofml::profile;
  sqlite3* handle = nullptr;
  if (sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK) {
    std::abort();
  }
  const profile::detail::Database database(handle);
  // The bytes are only read: SQLITE_DESERIALIZE_READONLY.
  const auto bytes = static_cast<sqlite3_int64>(size);
  if (sqlite3_deserialize(handle, "main", const_cast<unsigned char*>(data), bytes, bytes,
                          SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    return 0;
  }
  try {
    profile::detail::read_trace({handle, "input", size});
  } catch (const profile::StoreError&) {
  }
  return 0;
}
