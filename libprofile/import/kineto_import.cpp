#include "libprofile/import/kineto_import.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "libprofile/import/kineto_builder.hpp"
#include "libprofile/import/kineto_header.hpp"
#include "libprofile/import/window_parser.hpp"
#include "libprofile/import/window_stream.hpp"

namespace gprofml::profile {

Trace import_kineto(const std::string& path, const ImportOptions& options) {
  WindowStream windows(path, options.window_bytes, options.threads);
  WindowParser parser;
  KinetoBuilder builder(std::filesystem::path(path).filename().string());
  while (const Window* window = windows.next()) {
    if (window->cut_off && !options.keep_partial) break;
    parser.parse(*window, builder);
  }
  windows.finish();
  const WindowReader& reader = windows.reader();
  if (!reader.cut_off().empty() && !options.keep_partial)
    throw ImportError(fmt::format(
        "{}: {}; write the trace again, or use --keep-partial to keep its complete events", path,
        reader.cut_off()));
  if (builder.taken() == 0 && builder.bad_events() != 0)
    throw ImportError(
        fmt::format("{}: none of its {} events is one of a Kineto or Chrome trace; "
                    "give such a trace, or a run.db",
                    path, builder.bad_events()));
  return builder.finish(kineto_header(reader.header()), reader.cut_off());
}

}  // namespace gprofml::profile
