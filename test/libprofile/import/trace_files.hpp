// Files for the importer's tests.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "libprofile/import/import.hpp"

namespace gprofml::test {

/// A file with this content that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, std::string_view suffix = ".json") {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("gprofml_import_" + std::to_string(::getpid()) + "_" + std::to_string(count++) +
             std::string(suffix));
    std::ofstream out(path_, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path_.string());
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// One gzip member.
inline std::string gzipped(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline profile::Trace import_text(std::string_view content,
                                  const profile::ImportOptions& options = {}) {
  const TemporaryFile file(content);
  return profile::import_file(file.path(), options);
}

/// The message of the error that importing `content` ends with, without the path; "" when none.
inline std::string import_error(std::string_view content,
                                const profile::ImportOptions& options = {}) {
  const TemporaryFile file(content);
  try {
    profile::import_file(file.path(), options);
  } catch (const profile::ImportError& error) {
    const std::string what = error.what();
    if (what.compare(0, file.path().size() + 2, file.path() + ": ") != 0)
      throw std::runtime_error("no file in the message: " + what);
    if (what.find('\n') != std::string::npos) throw std::runtime_error("two lines: " + what);
    return what.substr(file.path().size() + 2);
  }
  return "";
}

/// Events of a quality code; 0 when it is not there.
inline std::int64_t quality(const profile::Trace& trace, std::string_view code,
                            std::string_view detail = {}) {
  std::int64_t count = 0;
  for (const profile::QualityNote& note : trace.quality)
    if (trace.text(note.code) == code && (detail.empty() || trace.text(note.detail) == detail))
      count += note.count;
  return count;
}

inline std::string quality_detail(const profile::Trace& trace, std::string_view code) {
  for (const profile::QualityNote& note : trace.quality)
    if (trace.text(note.code) == code) return std::string(trace.text(note.detail));
  return "";
}

}  // namespace gprofml::test
