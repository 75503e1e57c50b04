// A file that appears under its name only when it is complete.
#pragma once

#include <string>

namespace gprofml::profile::detail {

/// Owns a new empty file with a name of its own beside `path`. `publish` gives it the name `path`;
/// without that the destructor removes it. Nothing that exists is ever replaced, also not when it
/// appears in the meantime. Throws StoreError.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  const std::string& temporary_path() const { return temporary_path_; }

  /// Waits until the content is on the disk, then renames. Call once, after all writers closed.
  void publish();

 private:
  std::string path_;
  std::string directory_;
  std::string temporary_path_;
  bool published_ = false;
};

}  // namespace gprofml::profile::detail
