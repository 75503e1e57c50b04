// gprof-ml control: starts and ends windows of recordings that run, from another terminal.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/json_text.hpp"
#include "libprofile/capture/control_file.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/registry.hpp"

namespace gprofml::app {
namespace {

/// Recorders look ten times a second, and settle a window in at most two seconds.
constexpr profile::Nanoseconds kPatienceNs = 5'000'000'000;
/// Others that were typed before this one come first.
constexpr profile::Nanoseconds kTurnPatienceNs = 15'000'000'000;

struct ControlArguments {
  std::string what;
  std::int64_t pid = 0;
  std::string folder;
  bool json = false;
};

bool has_recorder(const std::string& folder, std::int64_t pid) {
  for (const spool::ControlSlot& slot : profile::ControlFile(folder).slots()) {
    if (slot.pid == pid) return true;
  }
  return false;
}

/// The process id may be the launcher's, the program's, or that of any process that is recorded.
bool is_meant(const profile::RunningRecording& recording, std::int64_t pid) {
  if (recording.launcher_pid == pid || has_recorder(recording.folder, pid)) return true;
  const auto manifest = profile::read_manifest(recording.folder);
  return manifest && manifest->program_pid == pid;
}

std::string list_of(const std::vector<profile::RunningRecording>& recordings) {
  std::string text;
  for (const profile::RunningRecording& recording : recordings) {
    const auto manifest = profile::read_manifest(recording.folder);
    if (!text.empty()) text += ", ";
    text += manifest ? fmt::format("--pid {} ({})", manifest->program_pid,
                                   profile::command_text(manifest->command))
                     : fmt::format("--folder {}", recording.folder);
  }
  return text;
}

std::string folder_meant(const ControlArguments& arguments) {
  if (!arguments.folder.empty()) return arguments.folder;
  std::vector<profile::RunningRecording> all = profile::running_recordings();
  if (arguments.pid == 0) {
    if (all.size() == 1) return all.front().folder;
    if (all.empty()) {
      throw std::runtime_error(
          "no recording of yours runs here; start one with `gprof-ml run`, or name its folder with "
          "--folder");
    }
    throw std::runtime_error(
        fmt::format("{} recordings run: say which with {}", all.size(), list_of(all)));
  }
  for (const profile::RunningRecording& recording : all) {
    if (is_meant(recording, arguments.pid)) return recording.folder;
  }
  throw std::runtime_error(fmt::format("pid {} is in no recording that runs{}", arguments.pid,
                                       all.empty() ? "" : "; there are " + list_of(all)));
}

const char* state_of(const spool::ControlSlot& slot, profile::Nanoseconds now_ns) {
  if (slot.ended != 0) return "ended";
  if (!profile::is_alive(slot, now_ns)) return "does not answer";
  return slot.is_recording != 0 ? "recording" : "paused";
}

std::string line_of(const spool::ControlSlot& slot, profile::Nanoseconds now_ns) {
  return fmt::format(
      "pid {}: {}; {} window{} complete, {} records, {} bytes, {} lost, cost {}.{} %\n", slot.pid,
      state_of(slot, now_ns), slot.windows_closed, slot.windows_closed == 1 ? "" : "s",
      slot.records, slot.spool_bytes, slot.lost, slot.cost_ppm / 10000, slot.cost_ppm / 1000 % 10);
}

void print(const ControlArguments& arguments, const std::string& folder,
           const std::vector<spool::ControlSlot>& slots, bool answered) {
  const profile::Nanoseconds now_ns = profile::realtime_now_ns();
  if (!arguments.json) {
    for (const spool::ControlSlot& slot : slots) std::fputs(line_of(slot, now_ns).c_str(), stdout);
    if (slots.empty())
      std::puts("no process has begun to record yet; it will be obeyed when one has");
    return;
  }
  std::string processes;
  for (const spool::ControlSlot& slot : slots) {
    processes += fmt::format(
        "{}\n    {{\"pid\": {}, \"state\": \"{}\", \"windows_opened\": {}, "
        "\"windows_complete\": {}, \"last_window_start_ns\": {}, \"last_window_end_ns\": {}, "
        "\"records\": {}, \"spool_bytes\": {}, \"lost\": {}, \"cost_ppm\": {}}}",
        processes.empty() ? "" : ",", slot.pid, state_of(slot, now_ns), slot.windows_opened,
        slot.windows_closed, slot.last_window_start_ns, slot.last_window_end_ns, slot.records,
        slot.spool_bytes, slot.lost, slot.cost_ppm);
  }
  std::fputs(
      fmt::format("{{\n  \"folder\": {},\n  \"answered\": {},\n  \"processes\": [{}{}]\n}}\n",
                  json_text(folder), answered, processes, slots.empty() ? "" : "\n  ")
          .c_str(),
      stdout);
}

/// Returns whether all have answered.
bool ask(const std::string& what, const std::string& folder, const profile::ControlFile& file) {
  const profile::ControlTurn turn(folder, kTurnPatienceNs);
  if (!turn.is_ours()) {
    throw std::runtime_error(folder +
                             ": other `gprof-ml control` commands have waited for their answers "
                             "for 15 s; nothing was asked, try again");
  }
  const bool is_flush = what == "flush";
  const auto generation =
      is_flush ? file.ask_for_flush()
               : file.command(what == "start" ? spool::Wanted::record : spool::Wanted::pause);
  if (!generation) throw std::runtime_error(folder + ": the control file cannot be written");
  return profile::await_recorders(file, kPatienceNs, [&](const spool::ControlSlot& slot) {
    return profile::has_reached(is_flush ? slot.flush_generation : slot.generation, *generation);
  });
}

int control(const ControlArguments& arguments) {
  const std::string folder = folder_meant(arguments);
  const profile::ControlFile file(folder);
  if (!file.header()) {
    throw std::runtime_error(folder +
                             ": has no control file that can be read; is it the folder of "
                             "a recording that runs?");
  }
  const bool answered = arguments.what == "status" || ask(arguments.what, folder, file);
  print(arguments, folder, file.slots(), answered);
  if (answered) return kDone;
  throw std::runtime_error(
      "not every process has answered within 5 s; `gprof-ml control status` says how far they are");
}

}  // namespace

void add_control(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<ControlArguments>();
  CLI::App* const command =
      cli.add_subcommand("control", "Start and end windows of a recording that runs");
  command->footer(
      "start   record from now on\n"
      "stop    end the window; returns when its data is complete on disk\n"
      "flush   put on disk what there is\n"
      "status  say how far it is\n"
      "Example: gprof-ml run --start-paused -- ./server      and in another terminal\n"
      "         gprof-ml control start; sleep 5; gprof-ml control stop");
  command->add_option("WHAT", arguments->what, "start, stop, flush or status")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "flush", "status"}))
      ->type_name("start|stop|flush|status");
  command
      ->add_option("--pid", arguments->pid,
                   "Process id of the program, of any of its processes, or of its gprof-ml run")
      ->type_name("PID");
  command->add_option("--folder", arguments->folder, "Folder of raw records of the recording")
      ->type_name("DIR");
  command
      ->add_option_function<std::string>(
          "--format", [arguments](const std::string& form) { arguments->json = form == "json"; },
          "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  command->callback([arguments, &action] { action = [arguments] { return control(*arguments); }; });
}

}  // namespace gprofml::app
