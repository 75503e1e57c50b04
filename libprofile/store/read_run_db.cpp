#include "libprofile/store/file_check.hpp"
#include "libprofile/store/open_untrusted.hpp"
#include "libprofile/store/read_trace.hpp"
#include "libprofile/store/store.hpp"

namespace gprofml::profile {

Trace read_run_db(const std::string& path) {
  const std::uint64_t file_bytes = detail::check_sqlite_file(path);
  const detail::Database database = detail::open_read_only(path);
  return detail::read_trace({database.get(), path, file_bytes});
}

}  // namespace gprofml::profile
