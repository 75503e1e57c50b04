#include "injection/code_map.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "injection/interner.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr std::int64_t kShortestPauseNs = 20'000'000;
constexpr std::int64_t kLongestPauseNs = 2'000'000'000;

std::size_t padded4(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

/// The build id among the notes of a file, at most `room` bytes of it; its length, 0: none.
std::uint32_t build_id_in(const unsigned char* notes, std::size_t bytes, std::uint8_t* build_id,
                          std::size_t room) {
  std::size_t at = 0;
  Elf64_Nhdr note;
  while (at + sizeof note <= bytes) {
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    if (note.n_namesz > bytes || note.n_descsz > bytes) return 0;
    const std::size_t content = name + padded4(note.n_namesz);
    if (content + note.n_descsz > bytes) return 0;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= room) {
      std::memcpy(build_id, notes + content, note.n_descsz);
      return note.n_descsz;
    }
    at = content + padded4(note.n_descsz);
  }
  return 0;
}

std::uint32_t read_build_id(int file, std::uint8_t* build_id, std::size_t room) {
  Elf64_Ehdr header;
  if (pread(file, &header, sizeof header, 0) != sizeof header) return 0;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return 0;
  }
  for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto offset = static_cast<off_t>(header.e_phoff + i * sizeof part);
    if (pread(file, &part, sizeof part, offset) != sizeof part) return 0;
    if (part.p_type != PT_NOTE) continue;
    unsigned char notes[2048];
    const std::size_t wanted = part.p_filesz < sizeof notes ? part.p_filesz : sizeof notes;
    const ssize_t got = pread(file, notes, wanted, static_cast<off_t>(part.p_offset));
    if (got <= 0) continue;
    const std::uint32_t bytes = build_id_in(notes, static_cast<std::size_t>(got), build_id, room);
    if (bytes > 0) return bytes;
  }
  return 0;
}

void describe_file(const char* path, spool::Module& module) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return;
  struct stat status;
  // fstat() has carried too new a symbol version since glibc 2.33.
  if (syscall(SYS_fstat, file, &status) == 0 && S_ISREG(status.st_mode)) {
    module.file_bytes = static_cast<std::uint64_t>(status.st_size);
    module.modified_ns =
        std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    module.build_id_bytes = read_build_id(file, module.build_id, sizeof module.build_id);
  }
  close(file);
}

}  // namespace

/// "7f0c-7f0d r-xp 00001000 08:01 1234    /usr/lib/libfoo.so"
void CodeMap::add_line(const char* line, std::size_t bytes) {
  if (count_ == kMostMappings || bytes > 8191) return;
  char* at = nullptr;
  Mapping mapping{};
  mapping.begin = std::strtoull(line, &at, 16);
  if (*at != '-') return;
  mapping.end = std::strtoull(at + 1, &at, 16);
  if (at + 5 >= line + bytes) return;
  mapping.is_code = at[3] == 'x';
  const char* behind_rights = at + 6;
  mapping.file_offset = std::strtoull(behind_rights, &at, 16);
  const char* end = line + bytes;
  const char* path =
      static_cast<const char*>(std::memchr(at, '/', static_cast<std::size_t>(end - at)));
  const char* special =
      static_cast<const char*>(std::memchr(at, '[', static_cast<std::size_t>(end - at)));
  if (path == nullptr || (special != nullptr && special < path)) path = special;
  mapping.identity = hash_bytes(behind_rights, static_cast<std::size_t>(end - behind_rights));
  if (mapping.is_code && path != nullptr) {
    const auto length = static_cast<std::size_t>(end - path);
    if (paths_used_ + length + 1 <= kPathBytes) {
      mapping.path = static_cast<std::uint32_t>(paths_used_);
      std::memcpy(paths_ + paths_used_, path, length);
      paths_[paths_used_ + length] = '\0';
      paths_used_ += length + 1;
    }
  }
  // What was known and written stays so; a line for each part of a file, ordered by address.
  if (mapping.is_code) {
    for (std::size_t low = 0, high = count_before_; low < high;) {
      const std::size_t middle = (low + high) / 2;
      if (before_[middle].begin < mapping.begin) {
        low = middle + 1;
        continue;
      }
      high = middle;
      if (before_[middle].begin == mapping.begin && before_[middle].end == mapping.end &&
          before_[middle].identity == mapping.identity && before_[middle].is_code) {
        mapping.is_written = before_[middle].is_written;
        goto known;
      }
    }
    has_new_code_ = true;
  }
known:
  mappings_[count_++] = mapping;
}

bool CodeMap::read() {
  if (mappings_ == nullptr) {
    mappings_ = static_cast<Mapping*>(map_memory(kMostMappings * sizeof(Mapping)));
    before_ = static_cast<Mapping*>(map_memory(kMostMappings * sizeof(Mapping)));
    paths_ = static_cast<char*>(map_memory(kPathBytes));
  }
  if (mappings_ == nullptr || before_ == nullptr || paths_ == nullptr) return false;
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  Mapping* const old = before_;
  before_ = mappings_;
  mappings_ = old;
  count_before_ = count_;
  count_ = 0;
  paths_used_ = 1;  // 0 says that there is none
  has_new_code_ = false;
  std::memset(pages_, 0, sizeof pages_);
  char text[16384];
  std::size_t held = 0;
  for (;;) {
    const ssize_t got = ::read(file, text + held, sizeof text - 1 - held);
    if (got <= 0) break;
    held += static_cast<std::size_t>(got);
    text[held] = '\0';
    char* line = text;
    while (char* end = static_cast<char*>(
               std::memchr(line, '\n', static_cast<std::size_t>(text + held - line)))) {
      *end = '\0';
      add_line(line, static_cast<std::size_t>(end - line));
      line = end + 1;
    }
    held -= static_cast<std::size_t>(line - text);
    std::memmove(text, line, held);
    if (held == sizeof text - 1) break;  // no line is that long
  }
  close(file);
  return true;
}

bool CodeMap::refresh() {
  const std::int64_t now_ns = monotonic_ns();
  if (read_ns_ != 0 && now_ns - read_ns_ < pause_ns_) return false;
  if (!read()) return false;
  // A stack may hold addresses of what is long gone, and they would have us read again and again.
  pause_ns_ = has_new_code_ || pause_ns_ == 0 ? kShortestPauseNs : pause_ns_ * 2;
  if (pause_ns_ > kLongestPauseNs) pause_ns_ = kLongestPauseNs;
  read_ns_ = now_ns;
  return has_new_code_;
}

CodeMap::Mapping* CodeMap::find(std::uint64_t address) {
  constexpr int kPageBits = 12;
  const std::uint64_t number = address >> kPageBits;
  Page& page = pages_[(number ^ number >> 13) % kPages];
  if (page.number != number) page = {number, find_among_all(address)};
  return page.mapping;
}

CodeMap::Mapping* CodeMap::find_among_all(std::uint64_t address) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (mappings_[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count_ && mappings_[low].begin <= address ? &mappings_[low] : nullptr;
}

/// Whether something is mapped within 1 GiB: libraries and memory lie together, and two counters
/// side by side in a stack frame, which may look like an address, lie elsewhere.
bool CodeMap::is_beside_others(std::uint64_t address) const {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 30;
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (mappings_[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < count_ && mappings_[low].begin - address < kFar) return true;
  return low > 0 && address - mappings_[low - 1].end < kFar;
}

CodeMap::Kind CodeMap::look_up(std::uint64_t address, RecordStream& stream) {
  Mapping* mapping = find(address);
  if (mapping == nullptr) {
    return count_ == 0 || is_beside_others(address) ? Kind::nowhere : Kind::data;
  }
  if (!mapping->is_code) return Kind::data;
  if (!mapping->is_written) write(*mapping, stream);
  return Kind::code;
}

void CodeMap::write(Mapping& mapping, RecordStream& stream) {
  mapping.is_written = true;
  spool::Module record{};
  record.start = mapping.begin;
  record.bytes = mapping.end - mapping.begin;
  record.file_offset = mapping.file_offset;
  if (mapping.path != 0) {
    const char* path = paths_ + mapping.path;
    if (path[0] == '/') describe_file(path, record);
    record.path = stream.string(path);
  }
  stream.add(spool::RecordKind::module, record);
}

}  // namespace gprofml::injection
