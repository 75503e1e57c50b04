// What is mapped into the process, for the writer: which addresses are code, of which file. Read
// from /proc/self/maps; read again when an address turns up that lay nowhere then (a library opened
// since).
#pragma once

#include <cstddef>
#include <cstdint>

#include "injection/record_stream.hpp"

namespace gprofml::injection {

class CodeMap {
 public:
  enum class Kind : std::uint8_t {
    nowhere,  ///< not mapped when last looked at, but beside what is
    data,     ///< or no address at all
    code
  };

  /// What is at an address. Of code, the module is written into `stream` before it is told.
  Kind look_up(std::uint64_t address, RecordStream& stream);

  /// Reads the mappings again, unless that was done a moment ago. False: nothing new is known.
  bool refresh();

 private:
  struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t file_offset;
    std::uint64_t identity;  ///< hash of path, offset and device:inode
    std::uint32_t path;      ///< offset in paths_, 0: none
    bool is_code;
    bool is_written;
  };

  bool read();
  void add_line(const char* line, std::size_t bytes);
  Mapping* find(std::uint64_t address);
  Mapping* find_among_all(std::uint64_t address) const;
  bool is_beside_others(std::uint64_t address) const;
  void write(Mapping& mapping, RecordStream& stream);

  static constexpr std::size_t kMostMappings = 1u << 16;  // the kernel's own limit
  static constexpr std::size_t kPathBytes = 8u << 20;

  /// The mappings of pages asked for last: stacks hold the same few again and again.
  struct Page {
    std::uint64_t number;
    Mapping* mapping;  ///< nullptr: none there
  };
  static constexpr std::size_t kPages = 4096;
  Page pages_[kPages] = {};

  Mapping* mappings_ = nullptr;  ///< by address
  Mapping* before_ = nullptr;    ///< as read last time
  std::size_t count_ = 0;
  std::size_t count_before_ = 0;
  char* paths_ = nullptr;
  std::size_t paths_used_ = 0;
  bool has_new_code_ = false;
  std::int64_t read_ns_ = 0;
  std::int64_t pause_ns_ = 0;
};

}  // namespace gprofml::injection
