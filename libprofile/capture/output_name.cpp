#include "libprofile/capture/output_name.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/rank.hpp"

namespace gprofml::profile {
namespace {

/// Host names become part of a file's name: no separators in there.
std::string as_file_name(std::string_view text) {
  std::string name(text);
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
}

std::string expansion(std::string_view pattern, std::size_t at, std::int64_t pid,
                      std::string_view host, std::optional<std::int64_t> rank) {
  const char what = at < pattern.size() ? pattern[at] : '\0';
  switch (what) {
    case 'p':
      return std::to_string(pid);
    case 'h':
      return as_file_name(host);
    case 'r':
      if (rank) return std::to_string(*rank);
      throw CaptureError(
          fmt::format("{}: %r is a rank, but no variable says one ({}); leave it out, or start "
                      "gprof-ml under mpirun, srun or torchrun",
                      pattern, rank_variables()));
    case '%':
      return "%";
    default:
      throw CaptureError(
          fmt::format("{}: a % in an output's name stands before p (process id), h (host), r "
                      "(rank) or another %",
                      pattern));
  }
}

}  // namespace

std::string expand_output_name(std::string_view pattern, std::int64_t pid, std::string_view host,
                               std::optional<std::int64_t> rank) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%') {
      name += expansion(pattern, ++i, pid, host, rank);
    } else {
      name += pattern[i];
    }
  }
  return name;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) throw CaptureError(fmt::format("{}: no current folder: {}", path, error.message()));
  return absolute.lexically_normal().string();
}

}  // namespace gprofml::profile
