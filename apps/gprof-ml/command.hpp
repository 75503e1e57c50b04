// What the sub-commands have in common: how they register, and what the program's exit code says.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace gprofml::app {

inline constexpr int kDone = 0;
inline constexpr int kBadUsageOrInput = 2;
inline constexpr int kNoRecords = 3;     ///< a run.db of our own that holds no record at all
inline constexpr int kNotStarted = 127;  ///< `run`: the program could not be executed, as in shells

/// The chosen sub-command's work, run after the command line was parsed. Returns the exit code;
/// what it throws becomes one line on stderr and kBadUsageOrInput (see main.cpp).
using Action = std::function<int()>;

/// Each adds its sub-command to `cli`; when the user chooses it, parsing fills `action`.
void add_analyze(CLI::App& cli, Action& action);
void add_import(CLI::App& cli, Action& action);
void add_merge(CLI::App& cli, Action& action);
void add_recover(CLI::App& cli, Action& action);
void add_control(CLI::App& cli, Action& action);
void add_doctor(CLI::App& cli, Action& action);
void add_env(CLI::App& cli, Action& action);

/// `run` also takes the program to record, with its arguments, off `arguments` (the command line
/// without gprof-ml's own name), so that no option of the program is taken for one of ours.
void add_run(CLI::App& cli, Action& action, std::vector<std::string>& arguments);

}  // namespace gprofml::app
