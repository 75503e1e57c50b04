#include "apps/gprof-ml/run_output.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "apps/gprof-ml/output.hpp"
#include "libprofile/capture/output_name.hpp"
#include "libprofile/store/store.hpp"

namespace gprofml::app {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "/" : folder;
}

void check_folder(const RunOutput& output) {
  const std::string folder = folder_of(output.path);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw OutputError(fmt::format("{}: no such folder {}; make it, or name another output with -o",
                                  output.shown, folder));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(fmt::format("{}: cannot write to {}: {}; name another output with -o",
                                  output.shown, folder, std::strerror(errno)));
  }
}

void check_existing(const RunOutput& output) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(output.path, ignored);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(fs::status(output.path, ignored)) && !fs::is_symlink(status)) {
    throw OutputError(output.shown + ": is no regular file; name another output with -o");
  }
  if (output.existing == Existing::refuse) {
    throw OutputError(output.shown + ": exists; name another output, or replace it with --force");
  }
}

[[noreturn]] void cannot_name(const RunOutput& output) {
  throw OutputError(
      fmt::format("{}: cannot be given its name: {}", output.shown, std::strerror(errno)));
}

/// Gives the file at `path` a second name without a moment in which it has none. File systems
/// without links leave no other way than to rename it.
bool keep_as_old(const std::string& path, const std::string& link_name) {
  const std::string old = path + ".old";
  if (link(path.c_str(), link_name.c_str()) == 0) {
    const bool renamed = std::rename(link_name.c_str(), old.c_str()) == 0;
    unlink(link_name.c_str());  // still there when FILE and FILE.old were one file already
    return renamed;
  }
  if (errno == ENOENT) return false;
  return std::rename(path.c_str(), old.c_str()) == 0;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

/// In the output's folder, short: the output's own name may be as long as names can be.
std::string temporary_name(const RunOutput& output, const char* what) {
  return fmt::format("{}/.gprof-ml-{}.{}", folder_of(output.path), ::getpid(), what);
}

/// SQLite says "disk I/O error" of a file that would become longer than this process may write.
std::string size_limit_hint() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format(" (no file may have more than {} bytes here: ulimit -f)", limit.rlim_cur);
}

/// Writes to another name; what goes wrong is said of the one that the user knows.
void write_under(const profile::Trace& trace, const std::string& temporary,
                 const RunOutput& output) {
  try {
    profile::write_run_db(trace, temporary);
  } catch (const profile::StoreError& error) {
    std::string text = error.what();
    const std::size_t at = text.find(temporary);
    if (at != std::string::npos) text.replace(at, temporary.size(), output.shown);
    throw OutputError(text + size_limit_hint());
  }
}

WrittenRunDb write_over(const profile::Trace& trace, const RunOutput& output) {
  const std::string temporary = temporary_name(output, "part");
  WrittenRunDb written;
  try {
    write_under(trace, temporary, output);
    if (output.existing == Existing::keep_old && is_there(output.path)) {
      written.kept_old = keep_as_old(output.path, temporary_name(output, "old"));
      if (!written.kept_old) cannot_name({output.path + ".old", output.shown + ".old"});
    }
    if (std::rename(temporary.c_str(), output.path.c_str()) != 0) cannot_name(output);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  return written;
}

}  // namespace

std::optional<profile::Rank> rank_here() {
  return profile::rank_of([](const char* name) { return std::getenv(name); });
}

void check_output_name(const std::string& pattern) {
  const std::optional<profile::Rank> rank = rank_here();
  profile::expand_output_name(pattern, 0, "", rank ? std::optional(rank->number) : std::nullopt);
}

RunOutput run_output(const std::string& pattern, bool force, std::int64_t pid) {
  const std::optional<profile::Rank> rank = rank_here();
  RunOutput output;
  output.shown = profile::expand_output_name(
      !pattern.empty() ? pattern : (rank ? kDefaultRankRunDb : kDefaultRunDb), pid,
      profile::host_name(), rank ? std::optional(rank->number) : std::nullopt);
  output.path = profile::absolute_path(output.shown);
  if (force) {
    output.existing = Existing::replace;
  } else if (pattern.empty()) {
    output.existing = Existing::keep_old;
  }
  return output;
}

void check_run_output(const RunOutput& output) {
  check_folder(output);
  check_existing(output);
}

WrittenRunDb write_run_output(const profile::Trace& trace, const RunOutput& output) {
  WrittenRunDb written;
  if (output.existing == Existing::refuse) {
    write_under(trace, output.path, output);  // replaces nothing
  } else {
    written = write_over(trace, output);
  }
  written.bytes = size_of(output.path);
  return written;
}

}  // namespace gprofml::app
