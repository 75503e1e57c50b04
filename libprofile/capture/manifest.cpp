#include "libprofile/capture/manifest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include "libprofile/capture/output_name.hpp"

namespace gprofml::profile {
namespace {

constexpr std::string_view kFirstLine = "gprof-ml manifest 1";

/// A manifest holds a command line, which Linux limits to a few megabytes.
constexpr std::size_t kLargestBytes = 64u << 20;

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
    } else {
      out += text[++i] == 'n' ? '\n' : text[i];
    }
  }
  return out;
}

void add(std::string& out, std::string_view key, std::string_view value) {
  out += key;
  out += ' ';
  out += escaped(value);
  out += '\n';
}

std::int64_t number_of(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

RecordingProblem problem_of(const std::string& value) {
  const std::size_t blank = value.find(' ');
  if (blank == std::string::npos) return {value, {}};
  return {value.substr(0, blank), value.substr(blank + 1)};
}

void take_fact(Manifest& manifest, std::string_view key, const std::string& value) {
  if (key == "tool_version") manifest.tool_version = value;
  if (key == "argument") manifest.command.push_back(value);
  if (key == "working_folder") manifest.working_folder = value;
  if (key == "host") manifest.host = value;
  if (key == "options") manifest.options = value;
  if (key == "output") manifest.output = value;
  if (key == "keep_previous") manifest.keep_previous = value == "1";
  if (key == "replace_output") manifest.replace_output = value == "1";
  if (key == "launcher_pid") manifest.launcher_pid = number_of(value);
  if (key == "program_pid") manifest.program_pid = number_of(value);
  if (key == "start_ns") manifest.start_ns = number_of(value);
  if (key == "meta") {
    const RecordingProblem entry = problem_of(value);  // KEY VALUE, as those are
    manifest.meta[entry.code] = entry.detail;
  }
  if (key == "problem") manifest.problems.push_back(problem_of(value));
}

/// The text up to the next line end, which is taken off `rest`.
std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-+=./,:@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(descriptor, text.data() + done, text.size() - done);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string manifest_text(const Manifest& manifest) {
  std::string out(kFirstLine);
  out += '\n';
  add(out, "tool_version", manifest.tool_version);
  for (const std::string& argument : manifest.command) add(out, "argument", argument);
  add(out, "working_folder", manifest.working_folder);
  add(out, "host", manifest.host);
  add(out, "options", manifest.options);
  add(out, "output", manifest.output);
  add(out, "keep_previous", manifest.keep_previous ? "1" : "0");
  add(out, "replace_output", manifest.replace_output ? "1" : "0");
  add(out, "launcher_pid", std::to_string(manifest.launcher_pid));
  add(out, "program_pid", std::to_string(manifest.program_pid));
  add(out, "start_ns", std::to_string(manifest.start_ns));
  for (const auto& [key, value] : manifest.meta) add(out, "meta", key + " " + value);
  for (const RecordingProblem& problem : manifest.problems) {
    add(out, "problem", problem.code + " " + problem.detail);
  }
  return out;
}

std::optional<Manifest> manifest_of(const std::string& text) {
  std::string_view rest = text;
  if (next_line(rest) != kFirstLine) return std::nullopt;
  Manifest manifest;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    take_fact(manifest, line.substr(0, blank), unescaped(line.substr(blank + 1)));
  }
  return manifest;
}

bool write_manifest(const Manifest& manifest, const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  const int descriptor =
      open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return false;
  const bool written = write_all(descriptor, manifest_text(manifest));
  return (close(descriptor) == 0) && written;
}

bool add_problem(const RecordingProblem& problem, const std::string& folder) {
  const std::optional<Manifest> before = read_manifest(folder);
  if (!before) return false;
  for (const RecordingProblem& known : before->problems) {
    if (known.code == problem.code) return true;
  }
  const std::string path = folder + "/" + kManifestName;
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  std::string line;
  add(line, "problem", problem.code + " " + problem.detail);
  const bool written = write_all(descriptor, line);
  return (close(descriptor) == 0) && written;
}

bool launcher_lives(const Manifest& manifest) {
  if (manifest.launcher_pid <= 0 || manifest.host != host_name()) return false;
  std::ifstream file("/proc/" + std::to_string(manifest.launcher_pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const std::size_t name_end = text.rfind(") ");  // names may hold anything
  return name_end != std::string::npos && text.substr(name_end + 2, 1).find_first_of("ZX") != 0;
}

std::optional<Manifest> read_manifest(const std::string& folder) {
  std::ifstream file(folder + "/" + kManifestName, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  std::istreambuf_iterator<char> next(file);
  for (; next != std::istreambuf_iterator<char>() && text.size() < kLargestBytes; ++next) {
    text += *next;
  }
  return manifest_of(text);
}

}  // namespace gprofml::profile
