#include "apps/gprof-ml/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace gprofml::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw OutputError(fmt::format("{}: cannot write: {}", path, std::strerror(error)));
}

/// Writes and closes: some file systems report a full disk only then.
void write_and_close(std::FILE* file, const std::string& text, const std::string& path) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) fail(path, write_error);
  if (!closed) fail(path, errno);
}

void write_file(const std::string& text, const std::string& name, const std::string& shown_name) {
  std::FILE* file = std::fopen(name.c_str(), "wb");
  if (file == nullptr) fail(shown_name, errno);
  write_and_close(file, text, shown_name);
}

void replace_file(const std::string& text, const std::string& path) {
  const std::string temporary = temporary_beside(path);
  try {
    write_file(text, temporary, path);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path, errno);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

}  // namespace

std::string temporary_beside(const std::string& path) {
  return fmt::format("{}.part.{}", path, ::getpid());
}

void write_result(const std::string& text, const std::string& path) {
  if (path.empty()) return write_and_close(stdout, text, "standard output");
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) fail(path, EISDIR);
  const bool replaceable = !fs::exists(status) || fs::is_regular_file(status);
  return replaceable ? replace_file(text, path) : write_file(text, path, path);
}

}  // namespace gprofml::app
