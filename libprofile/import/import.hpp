// From a foreign trace file to a Trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

struct ImportOptions {
  bool keep_partial = false;  ///< a truncated file keeps its complete events instead of failing
  int threads = 2;            ///< 1: read, scan and parse on the calling thread
  std::size_t window_bytes = std::size_t{8}
                             << 20;  ///< size of the windows a file is read in; for tests
};

/// A file that cannot be read, is not a trace, or is damaged. `what()` is one line: the file, the
/// byte, what is wrong and what to do.
class ImportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether `path` looks like something `import_file` reads, judged by its first bytes.
bool is_importable(const std::string& path);

/// Reads one file into a canonical Trace. The format is chosen by content. Throws ImportError.
/// Events that cannot be used are counted in Trace::quality with the byte offset of the first.
Trace import_file(const std::string& path, const ImportOptions& options = {});

}  // namespace gprofml::profile
