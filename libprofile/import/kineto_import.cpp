#include "libprofile/import/kineto_import.hpp"

#include <fmt/format.h>

#include <bit>
#include <filesystem>

#include "libprofile/import/kineto_builder.hpp"
#include "libprofile/import/kineto_header.hpp"
#include "libprofile/import/window_parser.hpp"
#include "libprofile/import/window_stream.hpp"

namespace gprofml::profile {

namespace {

constexpr double kSpare = 1.1;

bool is_power_of_four(std::uint64_t n) {
  return std::has_single_bit(n) && std::countr_zero(n) % 2 == 0;
}

}  // namespace

Trace import_kineto(const std::string& path, const ImportOptions& options) {
  WindowStream windows(path, options.window_bytes, options.threads);
  WindowParser parser;
  KinetoBuilder builder(std::filesystem::path(path).filename().string());
  std::uint64_t parsed_windows = 0;
  while (const Window* window = windows.next()) {
    if (window->cut_off && !options.keep_partial) break;
    parser.parse(*window, builder);
    // The makeup of a file changes along it: look again after 1, 4, 16 … windows.
    if (const auto size = windows.expected_size(); size != 0 && is_power_of_four(++parsed_windows))
      builder.expect(kSpare * static_cast<double>(size) /
                     static_cast<double>(window->offset + window->size));
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
