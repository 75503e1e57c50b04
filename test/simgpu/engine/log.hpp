// The engine's own record of what it executed: one JSON object a line (format: README.md). It is
// the truth that recordings are checked against, so nothing that observes the engine can change it.
#pragma once

#include <cstdint>
#include <string>

namespace gprofml::simgpu {

/// Whether anybody wants the log. Cheap; ask before composing a line.
bool log_wanted();

/// Adds a line (without its newline). On the wall clock it is written at once.
void log_line(std::string line);

/// The operating system's id of a thread, with --log-ids only: such ids differ from run to run.
void log_thread(std::uint32_t ordinal, std::uint32_t tid);

/// Writes what is buffered. Also done at exit, before _exit, abort and exec.
void log_flush();

/// For the child of a fork: forgets what is buffered and the parent's file.
void log_forget();

/// A string as a JSON string, quotes included.
std::string json_string(const char* text);

}  // namespace gprofml::simgpu
