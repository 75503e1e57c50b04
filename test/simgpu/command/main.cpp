// The command `simgpu`: runs a program on the simulated GPU. It sets the environment of its child
// and becomes it, so that process id, signals and exit code are the program's own.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/simgpu/command/elf.hpp"
#include "test/simgpu/command/without_symbols.hpp"
#include "test/simgpu/engine/model.hpp"

namespace gprofml::simgpu {
namespace {

constexpr int kBadUsage = 2;
constexpr int kCannotStart = 127;

constexpr const char* kUsage =
    "usage: simgpu [--model FILE] [--clock virtual|wall] [--log FILE] [--log-ids] [--seed N]\n"
    "              [--devices N] [--libraries DIR] [--print-model] [--] PROGRAM [ARGUMENTS]\n";

class BadUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string libraries;
  bool print_model = false;
  bool help = false;
  std::vector<char*> program;
};

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

std::string absolute(const std::string& path) {
  char folder[4096];
  return path.empty() || path[0] == '/' || getcwd(folder, sizeof folder) == nullptr
             ? path
             : std::string(folder) + "/" + path;
}

void check_number(const std::string& option, const std::string& value, bool may_be_zero) {
  const bool digits = !value.empty() && value.size() <= 19 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || (!may_be_zero && std::stoull(value) == 0)) {
    throw BadUsage(option + " " + value + ": must be a whole number");
  }
}

/// Takes one option at arguments[at]; returns where the next stands, at itself when it is none.
int take_option(int count, char** arguments, int at, Options& options) {
  const std::string option = arguments[at];
  const auto value = [&]() -> std::string {
    if (at + 1 >= count) {
      throw BadUsage(option + " needs a value");
    }
    return arguments[at + 1];
  };
  if (option == "--print-model") {
    options.print_model = true;
    return at + 1;
  }
  if (option == "--help" || option == "-h") {
    options.help = true;
    return at + 1;
  }
  if (option == "--log-ids") {
    set("GPROFML_SIMGPU_LOG_IDS", "1");
    return at + 1;
  }
  if (option == "--model") {
    set("GPROFML_SIMGPU_MODEL", absolute(value()));
  } else if (option == "--clock") {
    if (value() != "virtual" && value() != "wall") {
      throw BadUsage("--clock " + value() + ": must be virtual or wall");
    }
    set("GPROFML_SIMGPU_CLOCK", value());
  } else if (option == "--log") {
    set("GPROFML_SIMGPU_LOG", absolute(value()));
  } else if (option == "--seed") {
    check_number(option, value(), true);
    set("GPROFML_SIMGPU_SEED", value());
  } else if (option == "--devices") {
    check_number(option, value(), false);
    set("GPROFML_SIMGPU_DEVICES", value());
  } else if (option == "--libraries") {
    options.libraries = absolute(value());
  } else {
    return at;
  }
  return at + 2;
}

Options parse(int count, char** arguments) {
  Options options;
  options.libraries = folder_of(folder_of(own_path())) + "/lib/simgpu";
  int at = 1;
  while (at < count && arguments[at][0] == '-') {
    if (std::strcmp(arguments[at], "--") == 0) {
      ++at;
      break;
    }
    const int next = take_option(count, arguments, at, options);
    if (next == at) {
      throw BadUsage(std::string("unknown option ") + arguments[at]);
    }
    at = next;
  }
  options.program.assign(arguments + at, arguments + count);
  options.program.push_back(nullptr);
  return options;
}

/// Folders and libraries of ours in front of what stands there already.
void prepend(const char* name, const std::string& value) {
  const char* present = std::getenv(name);
  set(name, present != nullptr && *present != '\0' ? value + ":" + present : value);
}

std::optional<std::string> library_like(const std::string& folder, const std::string& stem) {
  for (const char* suffix : {".so.13", ".so.12", ".so.14", ".so.15"}) {
    const std::string path = folder + "/" + stem + suffix;
    if (access(path.c_str(), R_OK) == 0) {
      return path;
    }
  }
  return std::nullopt;
}

/// The library, or a copy that lacks what the model's fault names.
std::string cupti_as_wanted(const std::string& library) {
  const auto names = model().faults.find("missing_symbol");
  if (names == model().faults.end()) {
    return library;
  }
  std::string unknown;
  const std::string copy = without_symbols(library, names->second, &unknown);
  if (!unknown.empty()) {
    throw ModelError("/faults/missing_symbol: " + library + " has no " + unknown);
  }
  if (copy.empty()) {
    throw ModelError("/faults/missing_symbol: no memory for a copy of " + library);
  }
  return copy;
}

void set_libraries(const std::string& folder) {
  const std::string engine = folder + "/libsimgpu_engine.so";
  if (access(engine.c_str(), R_OK) != 0) {
    throw BadUsage("there is no " + engine +
                   ": build the target simgpu, or name its folder with --libraries");
  }
  std::string preload = engine;
  if (const auto cupti = library_like(folder, "libcupti"); cupti) {
    preload = cupti_as_wanted(*cupti) + ":" + engine;
  }
  // A sanitizer's runtime wraps pthread_create as the engine does. ThreadSanitizer must be called
  // by the engine, so that new threads are its own first; AddressSanitizer insists on standing
  // first.
  for (const std::string& name : read_elf(engine).needed) {
    if (name.rfind("libtsan.", 0) == 0) {
      preload += ":" + name;
    } else if (name.rfind("libasan.", 0) == 0) {
      preload = name + ":" + preload;
    }
  }
  prepend("LD_LIBRARY_PATH", folder);
  prepend("LD_PRELOAD", preload);
}

/// The program's file as exec would find it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const std::string candidate = folders.substr(start, end - start) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    start = end + 1;
  }
  return name;
}

/// A static runtime or a path of its own bypasses the simulation; the program runs all the same.
void warn_of_bypass(const std::string& program) {
  const ElfFacts facts = read_elf(program);
  if (facts.contains_static_cudart) {
    std::fprintf(stderr,
                 "simgpu: %s has the CUDA runtime linked in and will not use the simulated one; "
                 "link it with -cudart shared\n",
                 program.c_str());
  }
  if (!facts.run_path_to_cudart.empty()) {
    std::fprintf(
        stderr,
        "simgpu: %s takes the CUDA runtime from its RPATH %s and will not use the simulated one\n",
        program.c_str(), facts.run_path_to_cudart.c_str());
  }
}

int run(int count, char** arguments) {
  Options options = parse(count, arguments);
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.print_model) {
    std::printf("%s\n", default_model_json().c_str());
    return 0;
  }
  if (options.program.size() < 2) {
    throw BadUsage("no program given");
  }
  check_model_of_environment();
  set_libraries(options.libraries);
  warn_of_bypass(find_program(options.program[0]));
  execvp(options.program[0], options.program.data());
  std::fprintf(stderr, "simgpu: cannot start %s: %s\n", options.program[0], strerror(errno));
  return kCannotStart;
}

}  // namespace
}  // namespace gprofml::simgpu

int main(int count, char** arguments) {
  using namespace gprofml::simgpu;
  try {
    return run(count, arguments);
  } catch (const BadUsage& error) {
    std::fprintf(stderr, "simgpu: %s\n%s", error.what(), kUsage);
  } catch (const ModelError& error) {
    const char* path = std::getenv("GPROFML_SIMGPU_MODEL");
    std::fprintf(stderr, "simgpu: model %s: %s\n", path != nullptr ? path : "(built-in)",
                 error.what());
  }
  return kBadUsage;
}
