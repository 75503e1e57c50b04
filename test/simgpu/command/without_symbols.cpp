#include "test/simgpu/command/without_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace gprofml::simgpu {
namespace {

/// Above the numbers that programs count on for their own files.
constexpr int kLowestFile = 400;

template <class Struct>
bool read_at(const std::vector<char>& bytes, std::uint64_t at, Struct* value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Struct)) {
    return false;
  }
  std::memcpy(value, bytes.data() + at, sizeof(Struct));
  return true;
}

std::vector<Elf64_Shdr> sections(const std::vector<char>& bytes) {
  std::vector<Elf64_Shdr> result;
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return result;
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (read_at(bytes, header.e_shoff + std::uint64_t{i} * header.e_shentsize, &section)) {
      result.push_back(section);
    }
  }
  return result;
}

/// Makes the symbol one that the library wants from others instead of one that it has.
bool undefine(std::vector<char>& bytes, const std::string& name) {
  const std::vector<Elf64_Shdr> all = sections(bytes);
  for (const Elf64_Shdr& table : all) {
    if (table.sh_type != SHT_DYNSYM || table.sh_link >= all.size()) {
      continue;
    }
    const std::uint64_t texts = all[table.sh_link].sh_offset;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read_at(bytes, table.sh_offset + at, &symbol) ||
          texts + symbol.st_name + name.size() >= bytes.size() || symbol.st_shndx == SHN_UNDEF ||
          name != bytes.data() + texts + symbol.st_name) {
        continue;
      }
      symbol.st_shndx = SHN_UNDEF;
      symbol.st_value = 0;
      symbol.st_size = 0;
      std::memcpy(bytes.data() + table.sh_offset + at, &symbol, sizeof symbol);
      return true;
    }
  }
  return false;
}

/// The bytes as a file without a name; "" when there is none to be had.
std::string file_in_memory(const std::vector<char>& bytes) {
  const int made = memfd_create("libcupti", 0);
  const int file = made >= 0 ? fcntl(made, F_DUPFD, kLowestFile) : -1;
  close(made);
  for (std::size_t written = 0; file >= 0 && written < bytes.size();) {
    const ssize_t now = write(file, bytes.data() + written, bytes.size() - written);
    if (now <= 0) {
      return "";
    }
    written += static_cast<std::size_t>(now);
  }
  return file >= 0 ? "/proc/self/fd/" + std::to_string(file) : "";
}

}  // namespace

std::string without_symbols(const std::string& library, const std::string& names,
                            std::string* unknown) {
  std::ifstream file(library, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (!undefine(bytes, name)) {
      *unknown = name;
      return "";
    }
  }
  return file_in_memory(bytes);
}

}  // namespace gprofml::simgpu
