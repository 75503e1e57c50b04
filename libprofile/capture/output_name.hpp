// The name of a recording's file, with what only the running program can say filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gprofml::profile {

/// `pattern` with %p replaced by `pid`, %h by `host`, %r by `rank` and %% by a percent sign. Throws
/// CaptureError (one line) for any other character behind a percent sign, and for %r without a
/// rank.
std::string expand_output_name(std::string_view pattern, std::int64_t pid, std::string_view host,
                               std::optional<std::int64_t> rank = std::nullopt);

/// The name of this machine as the kernel knows it; "localhost" when it says nothing.
std::string host_name();

/// `path` from the root, with the current folder in front when it is relative. Throws CaptureError
/// when there is no current folder any more.
std::string absolute_path(const std::string& path);

}  // namespace gprofml::profile
