// The file on disk: opened exclusively, locked while its writer lives, appended to chunk by chunk.
//
// The descriptor lives in the program's table, and the program may close all it finds there
// (daemons do) and get the same number for a file of its own. So before each write the descriptor
// is compared with the file by device and inode; when it is another one, the spool is opened again
// by its path. Nothing here is called by two threads at once.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

class SpoolFile {
 public:
  /// Creates `<folder>/<host>-<pid>-<start_ns>-<nonce>.spool` and writes the header. False, with
  /// errno set, when the folder does not take it; no file is left behind then.
  bool create(const char* folder, const char* host, std::int64_t start_ns);

  /// The same for a segment of `spool` (format.hpp), `<spool>.<index>.segment`, with its header.
  bool create_segment(const SpoolFile& spool, std::uint32_t index);

  /// Appends one chunk. `chunk` begins with room for the ChunkHeader, the payload stands behind it.
  /// False when it could not be written whole: the file is then cut back to its last whole chunk.
  bool append(unsigned char* chunk, std::size_t payload_bytes);

  /// In a forked child: lets go of the parent's file, so that the lock ends with the parent.
  void abandon();

  /// Deletes it, unless somebody has put another file in its place.
  void remove();

  int last_error() const { return last_error_; }
  /// Bytes of the file's whole chunks, its header too; 0 when there is none.
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(whole_bytes_); }

 private:
  bool is_ours(int descriptor) const;
  bool open_new(const spool::FileHeader& header);
  void unlink_own() const;
  bool open_again();
  bool fail_to_create(int error);
  bool write_all(const unsigned char* bytes, std::size_t size);

  int descriptor_ = -1;
  int last_error_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t sequence_ = 0;
  std::int64_t whole_bytes_ = 0;
  spool::FileHeader header_ = {};
  char path_[4096] = {};
};

}  // namespace gprofml::injection
