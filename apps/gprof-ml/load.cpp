#include "apps/gprof-ml/load.hpp"

#include "libprofile/store/store.hpp"

namespace gprofml::app {

LoadedTrace load_trace(const std::string& path, const profile::ImportOptions& options) {
  LoadedTrace loaded;
  loaded.is_run_db = profile::is_sqlite(path);
  if (loaded.is_run_db) {
    loaded.trace = profile::read_run_db(path);
    profile::canonicalise(loaded.trace);  // other programs may have written or changed the file
  } else {
    loaded.trace = profile::import_file(path, options);
  }
  return loaded;
}

bool has_no_records(const profile::Trace& trace) {
  return trace.kernels.size() + trace.copies.size() + trace.fills.size() + trace.api_calls.size() +
             trace.ranges.size() + trace.syncs.size() + trace.memory_events.size() ==
         0;
}

}  // namespace gprofml::app
