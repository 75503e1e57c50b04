#include "injection/facts.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "injection/environment_facts.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

void post_number(Mailbox& mailbox, const char* key, long long number) {
  char text[24];
  std::snprintf(text, sizeof text, "%lld", number);
  mailbox.fact(key, text);
}

void post_link(Mailbox& mailbox, const char* key, const char* link) {
  char target[4096];
  const ssize_t size = readlink(link, target, sizeof target);
  if (size > 0) mailbox.fact(key, target, static_cast<std::size_t>(size));
}

void post_command(Mailbox& mailbox, bool redact) {
  char arguments[8000];
  std::size_t size = read_file("/proc/self/cmdline", arguments, sizeof arguments);
  if (redact) size = strnlen(arguments, size);
  if (size > 0 && arguments[size - 1] == '\0') --size;
  if (size > 0) mailbox.fact("command", arguments, size);
}

/// The names of the groups, by commas, as `--kinds` takes them.
void post_groups(Mailbox& mailbox, std::uint32_t groups) {
  char text[256];
  std::size_t used = 0;
  text[0] = '\0';
  for (const spool::GroupName& group : spool::kGroupNames) {
    if ((groups & group.bit) == 0 || used + std::strlen(group.name) + 2 > sizeof text) continue;
    used += static_cast<std::size_t>(
        std::snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "," : "", group.name));
  }
  mailbox.fact("recorded_kinds", text);
}

/// The kernel module's version, "… Kernel Module  580.65.06 …": asking CUDA would be a CUDA call.
void post_driver_version(Mailbox& mailbox) {
  char text[512];
  const std::size_t size = read_file("/proc/driver/nvidia/version", text, sizeof text - 1);
  text[size] = '\0';
  const char* at = std::strstr(text, "Kernel Module");
  if (at == nullptr) return;
  at += std::strlen("Kernel Module");
  while (*at != '\0' && (*at < '0' || *at > '9') && *at != '\n') ++at;
  const std::size_t length = std::strspn(at, "0123456789.");
  if (length > 0) mailbox.fact("driver_version", at, length);
}

}  // namespace

void post_process_facts(Mailbox& mailbox, const char* host, const Options& options) {
  mailbox.fact("host", host);
  post_number(mailbox, "pid", getpid());
  post_number(mailbox, "parent_pid", getppid());
  post_link(mailbox, "executable", "/proc/self/exe");
  post_command(mailbox, options.redact);
  post_link(mailbox, "working_folder", "/proc/self/cwd");
  mailbox.fact("library_version", GPROFML_VERSION);
  post_number(mailbox, "level", options.level);
  post_groups(mailbox, options.groups);
  post_driver_version(mailbox);
  post_environment(mailbox, environ);
}

}  // namespace gprofml::injection
