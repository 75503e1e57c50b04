// The manifest: what the launcher knew when the program started, so that a recording can be put
// together when the launcher is no longer there. One file in the spool folder, a line a fact:
//
//   gprof-ml manifest 1
//   tool_version 0.1.0
//   argument python3
//   argument train.py
//   ...
//
// Values are as they are, but a line end is written \n and a backslash \\.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gprofml::profile {

inline constexpr char kManifestName[] = "manifest";

/// Something that was not recorded and why: a row of table `quality` once the run.db is written.
struct RecordingProblem {
  std::string code;  ///< stable, snake_case
  std::string detail;
  bool operator==(const RecordingProblem&) const = default;
};

struct Manifest {
  std::string tool_version;
  std::vector<std::string> command;  ///< program and arguments
  std::string working_folder;
  std::string host;
  std::string options;          ///< what was to be recorded, as GPROFML_OPTIONS says it
  std::string output;           ///< absolute path of the run.db to write
  bool keep_previous = false;   ///< an existing output becomes *.old (the default name)
  bool replace_output = false;  ///< an existing output is replaced (--force)
  std::int64_t launcher_pid = 0;
  std::int64_t program_pid = 0;
  std::int64_t start_ns = 0;  ///< CLOCK_REALTIME
  std::vector<RecordingProblem> problems;
  std::map<std::string, std::string> meta;  ///< what else the run.db is to say; keys without blanks

  bool operator==(const Manifest&) const = default;
};

/// Whether the launcher that wrote the manifest still lives, on this host, and is to write the
/// output. A process that has its id by now is taken for it.
bool launcher_lives(const Manifest& manifest);

/// The command line as one would type it: words with other than plain characters are quoted.
std::string command_text(const std::vector<std::string>& command);

/// The manifest as the text of its file, and back. `manifest_of` gives nullopt for text that is no
/// manifest or one of a later version; facts it does not know are ignored.
std::string manifest_text(const Manifest& manifest);
std::optional<Manifest> manifest_of(const std::string& text);

/// Adds a problem to the manifest in `folder`, which another launcher wrote, unless it has one of
/// that code. False when there is no manifest or it cannot be written.
bool add_problem(const RecordingProblem& problem, const std::string& folder);

/// Writes the manifest into `folder`; false (errno says why) when that fails.
bool write_manifest(const Manifest& manifest, const std::string& folder);

/// The manifest of a folder; nullopt when there is none that can be read.
std::optional<Manifest> read_manifest(const std::string& folder);

}  // namespace gprofml::profile
