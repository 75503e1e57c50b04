// libFuzzer target of the importer: any bytes either give a sound trace, the same whatever the
// window size, or one ImportError.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "libprofile/import/import.hpp"
#include "test/libprofile/trace/difference.hpp"

namespace {

using gprofml::profile::ImportError;
using gprofml::profile::ImportOptions;
using gprofml::profile::Trace;

[[noreturn]] void fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

/// A file in memory that is filled anew for every input.
std::string file_holding(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = ::memfd_create("input", 0);
  if (descriptor < 0 || ::ftruncate(descriptor, 0) != 0) fail("memfd", "unusable");
  for (std::size_t at = 0; at < size;) {
    const ssize_t wrote = ::pwrite(descriptor, data + at, size - at, static_cast<off_t>(at));
    if (wrote <= 0) fail("memfd", "short write");
    at += static_cast<std::size_t>(wrote);
  }
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// nullopt: ImportError, whose message must be one line.
std::optional<Trace> imported(const std::string& path, std::size_t window_bytes,
                              bool keep_partial) {
  ImportOptions options;
  options.threads = 1;
  options.window_bytes = window_bytes;
  options.keep_partial = keep_partial;
  try {
    Trace trace = gprofml::profile::import_file(path, options);
    if (const auto broken = gprofml::profile::first_inconsistency(trace)) fail("broken", *broken);
    return trace;
  } catch (const ImportError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) fail("two lines", error.what());
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = file_holding(data, size);
  const auto large = imported(path, 4096, true);
  const auto small = imported(path, 64, true);
  if (large.has_value() != small.has_value()) fail("window size", "decides about acceptance");
  if (large) {
    const std::string difference = gprofml::test::first_difference(*large, *small);
    if (!difference.empty()) fail("window size", difference);
  }
  const auto strict = imported(path, 4096, false);
  if (strict && !large) fail("keep_partial", "refuses what is whole");
  return 0;
}
