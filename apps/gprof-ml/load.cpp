#include "apps/gprof-ml/load.hpp"

#include <filesystem>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/recording.hpp"
#include "libprofile/store/store.hpp"
#include "libprofile/trace/clock_steps.hpp"

namespace gprofml::app {
namespace {

LoadedTrace load_spool_folder(const std::string& path) {
  if (!profile::is_spool_folder(path)) {
    throw profile::CaptureError(
        path + ": is a folder, and not one of a recording; name a trace or run.db");
  }
  LoadedTrace loaded;
  loaded.trace = profile::read_spool_folder(path).trace;
  profile::correct_clock_steps(loaded.trace);
  loaded.is_recording = true;
  return loaded;
}

}  // namespace

LoadedTrace load_trace(const std::string& path, const profile::ImportOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return load_spool_folder(path);
  LoadedTrace loaded;
  loaded.is_run_db = profile::is_sqlite(path);
  loaded.is_recording = loaded.is_run_db;
  if (loaded.is_run_db) {
    loaded.trace = profile::read_run_db(path);
    profile::canonicalise(loaded.trace);  // other programs may have written or changed the file
    profile::correct_clock_steps(loaded.trace);
  } else {
    loaded.trace = profile::import_file(path, options);
  }
  return loaded;
}

}  // namespace gprofml::app
