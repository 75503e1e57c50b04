#include "libprofile/symbols/elf_file.hpp"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gprofml::profile {
namespace {

/// An ELF file that is open for reading; `elf` is nullptr when it cannot be.
class OpenElf {
 public:
  explicit OpenElf(const std::string& path) {
    // The path is what a spool says, and to open a device may already do something.
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) return;
    ::elf_version(EV_CURRENT);
    elf_ = ::elf_begin(file_, ELF_C_READ_MMAP, nullptr);
  }
  ~OpenElf() {
    if (elf_ != nullptr) ::elf_end(elf_);
    if (file_ >= 0) ::close(file_);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Elf* elf() const { return elf_; }
  int file() const { return file_; }

 private:
  int file_ = -1;
  Elf* elf_ = nullptr;
};

std::string build_id_of(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = elf == nullptr ? 0 : ::dwelf_elf_gnu_build_id(elf, &bytes);
  return size <= 0 ? std::string()
                   : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace

bool is_same_file(const MappedCode& code) {
  const OpenElf now(code.path);
  struct stat status {};
  if (now.file() < 0 || ::fstat(now.file(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::string build_id = build_id_of(now.elf());
  if (!code.build_id.empty() && !build_id.empty()) return code.build_id == build_id;
  const std::int64_t modified_ns =
      std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return code.build_id.empty() == build_id.empty() && code.modified_ns == modified_ns &&
         code.file_bytes == static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::uint64_t> load_bias(const MappedCode& code) {
  const OpenElf file(code.path);
  std::size_t parts = 0;
  if (file.elf() == nullptr || ::elf_getphdrnum(file.elf(), &parts) != 0) return std::nullopt;
  for (std::size_t i = 0; i < parts; ++i) {
    GElf_Phdr part;
    if (::gelf_getphdr(file.elf(), static_cast<int>(i), &part) == nullptr) continue;
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    // A mapping begins with the page that holds the part's first byte.
    constexpr std::uint64_t kPage = 4096;
    const std::uint64_t first = part.p_offset & ~(kPage - 1);
    if (code.file_offset < first || code.file_offset >= part.p_offset + part.p_filesz) continue;
    return code.start - (part.p_vaddr - part.p_offset + code.file_offset);
  }
  return std::nullopt;
}

}  // namespace gprofml::profile
