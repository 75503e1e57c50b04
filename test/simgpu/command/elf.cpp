#include "test/simgpu/command/elf.hpp"

#include <linux/elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace gprofml::simgpu {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{256} << 20U;

/// A view of the file that cannot be read beyond.
class Image {
 public:
  explicit Image(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class Struct>
  bool read(std::uint64_t at, Struct* value) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(Struct)) {
      return false;
    }
    std::memcpy(value, bytes_.data() + at, sizeof(Struct));
    return true;
  }

  std::string text(std::uint64_t at) const {
    std::string result;
    while (at < bytes_.size() && bytes_[at] != '\0') {
      result += bytes_[at++];
    }
    return result;
  }

  bool contains(const std::string& needle) const {
    return std::search(bytes_.begin(), bytes_.end(), needle.begin(), needle.end()) != bytes_.end();
  }

 private:
  std::vector<char> bytes_;
};

std::vector<Elf64_Phdr> segments(const Image& image, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> result;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (image.read(header.e_phoff + std::uint64_t{i} * header.e_phentsize, &segment)) {
      result.push_back(segment);
    }
  }
  return result;
}

std::uint64_t file_offset(const std::vector<Elf64_Phdr>& all, std::uint64_t address) {
  for (const Elf64_Phdr& segment : all) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address < segment.p_vaddr + segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return ~std::uint64_t{0};
}

/// The folder of a run path that holds a libcudart, "" when none does.
std::string folder_with_cudart(const std::string& run_path, const std::string& library,
                               const std::string& origin) {
  for (std::size_t start = 0; start < run_path.size();) {
    const std::size_t end = std::min(run_path.find(':', start), run_path.size());
    std::string folder = run_path.substr(start, end - start);
    if (const std::size_t at = folder.find("$ORIGIN"); at != std::string::npos) {
      folder.replace(at, 7, origin);
    }
    if (access((folder + "/" + library).c_str(), R_OK) == 0) {
      return folder;
    }
    start = end + 1;
  }
  return "";
}

}  // namespace

ElfFacts read_elf(const std::string& path) {
  ElfFacts facts;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() > kMostBytes) {
    return facts;
  }
  file.seekg(0);
  const Image image(std::vector<char>(std::istreambuf_iterator<char>(file), {}));
  Elf64_Ehdr header;
  if (!image.read(0, &header) || std::memcmp(header.e_ident, "\177ELF\2", 5) != 0) {
    return facts;
  }
  facts.is_elf = true;
  const std::vector<Elf64_Phdr> all = segments(image, header);
  std::vector<std::uint64_t> needed;
  std::uint64_t strings = 0;
  std::uint64_t run_path = 0;
  for (const Elf64_Phdr& segment : all) {
    Elf64_Dyn entry;
    for (std::uint64_t at = segment.p_offset;
         segment.p_type == PT_DYNAMIC && image.read(at, &entry) && entry.d_tag != DT_NULL &&
         at < segment.p_offset + segment.p_filesz;
         at += sizeof entry) {
      if (entry.d_tag == DT_NEEDED) {
        needed.push_back(entry.d_un.d_val);
      } else if (entry.d_tag == DT_STRTAB) {
        strings = file_offset(all, entry.d_un.d_ptr);
      } else if (entry.d_tag == DT_RPATH) {
        run_path = entry.d_un.d_val;
      }
    }
  }
  std::string library;
  for (const std::uint64_t offset : needed) {
    const std::string name = image.text(strings + offset);
    facts.needed.push_back(name);
    if (name.rfind("libcudart.so", 0) == 0) {
      facts.needs_cudart = true;
      library = name;
    }
  }
  if (facts.needs_cudart && run_path != 0) {
    facts.run_path_to_cudart = folder_with_cudart(image.text(strings + run_path), library,
                                                  path.substr(0, path.rfind('/')));
  }
  facts.contains_static_cudart =
      !facts.needs_cudart && image.contains("cudaErrorInvalidDeviceFunction");
  return facts;
}

}  // namespace gprofml::simgpu
