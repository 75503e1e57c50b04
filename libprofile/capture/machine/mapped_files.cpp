#include "libprofile/capture/machine/mapped_files.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace gprofml::profile {
namespace {

struct Mapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  bool is_executable = false;
  std::string_view path;
};

bool take_hexadecimal(std::string_view& text, std::uint64_t& number, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || used >= text.size() || text[used] != behind) return false;
  text.remove_prefix(used + 1);
  return true;
}

/// "7f31a000-7f31b000 r-xp 00001000 fd:01 1234   /usr/lib/libm.so.6"
std::optional<Mapping> mapping_of(std::string_view line) {
  Mapping mapping;
  if (!take_hexadecimal(line, mapping.start, '-') || !take_hexadecimal(line, mapping.end, ' ') ||
      line.size() < 5) {
    return std::nullopt;
  }
  mapping.is_executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take_hexadecimal(line, mapping.offset, ' ')) return std::nullopt;
  const std::size_t path = line.find('/');  // of what is no file a name in brackets, or nothing
  if (path == std::string_view::npos || mapping.end < mapping.start) return std::nullopt;
  mapping.path = line.substr(path);
  return mapping;
}

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool read(void* to, std::size_t bytes, std::uint64_t at) const {
    return descriptor_ >= 0 &&
           pread(descriptor_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  }

 private:
  int descriptor_;
};

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

/// The GNU build id among a segment's notes.
std::string build_id_in(const std::vector<unsigned char>& notes) {
  constexpr std::size_t kLongest = 64;
  const auto aligned = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  Elf64_Nhdr note{};
  for (std::size_t at = 0; at + sizeof note <= notes.size();) {
    std::memcpy(&note, notes.data() + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t description = name + aligned(note.n_namesz);
    const std::size_t next = description + aligned(note.n_descsz);
    if (next > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kLongest &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      return hexadecimal(notes.data() + description, note.n_descsz);
    }
    at = next;
  }
  return {};
}

}  // namespace

std::vector<MappedFile> mapped_files(std::string_view maps) {
  struct Found {
    MappedFile file;
    bool is_executable = false;
  };
  std::vector<Found> found;
  std::map<std::pair<std::string_view, std::uint64_t>, std::size_t> known;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const auto mapping = mapping_of(maps.substr(0, end));
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!mapping) continue;
    const std::uint64_t base = mapping->start - mapping->offset;
    const auto [at, is_new] = known.emplace(std::pair(mapping->path, base), found.size());
    if (is_new) found.push_back({{std::string(mapping->path), base, 0}, false});
    Found& one = found[at->second];
    one.file.bytes += mapping->end - mapping->start;
    one.is_executable = one.is_executable || mapping->is_executable;
  }
  std::vector<MappedFile> files;
  for (Found& one : found) {
    if (one.is_executable) files.push_back(std::move(one.file));
  }
  return files;
}

std::string build_id_of(const std::string& path) {
  constexpr std::uint64_t kMostNoteBytes = 64 * 1024;
  const File file(path);
  Elf64_Ehdr header{};
  const bool is_elf =
      file.read(&header, sizeof header, 0) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof(Elf64_Phdr);
  for (std::uint64_t i = 0; is_elf && i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(&segment, sizeof segment, header.e_phoff + i * sizeof segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!file.read(notes.data(), notes.size(), segment.p_offset)) continue;
    std::string id = build_id_in(notes);
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace gprofml::profile
