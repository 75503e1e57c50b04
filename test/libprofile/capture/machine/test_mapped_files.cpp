#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libprofile/capture/machine/mapped_files.hpp"
#include "libprofile/capture/machine/watched_process.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::profile {
namespace {

TEST_CASE("Of what is mapped the files with code are kept, whole") {
  const char* const maps =
      "00400000-00401000 r--p 00000000 fd:01 11                         /bin/program\n"
      "00401000-00405000 r-xp 00001000 fd:01 11                         /bin/program\n"
      "00405000-00406000 rw-p 00005000 fd:01 11                         /bin/program\n"
      "01000000-02000000 rw-p 00000000 00:00 0                          [heap]\n"
      "7f0000000000-7f0000001000 r--p 00000000 fd:01 12                 /data/weights bin\n"
      "7f0000002000-7f0000003000 r-xp 00002000 fd:01 13                 /lib/a b.so (deleted)\n"
      "7f0000010000-7f0000011000 r-xp 00000000 fd:01 14                 /lib/twice.so\n"
      "7f0000020000-7f0000022000 r-xp 00000000 fd:01 14                 /lib/twice.so\n"
      "7f0000030000-7f0000031000 rwxp 00000000 00:00 0 \n"
      "nonsense\n"
      "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                  [vdso]\n";
  CHECK(mapped_files(maps) ==
        std::vector<MappedFile>{{"/bin/program", 0x400000, 0x6000},
                                {"/lib/a b.so (deleted)", 0x7f0000000000, 0x1000},
                                {"/lib/twice.so", 0x7f0000010000, 0x1000},
                                {"/lib/twice.so", 0x7f0000020000, 0x2000}});
  CHECK(mapped_files("").empty());
  CHECK(mapped_files("00400000-").empty());
}

/// As the program itself finds its build id in its memory.
std::string own_build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* to) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& segment = program->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const auto* at =
              reinterpret_cast<const unsigned char*>(program->dlpi_addr) + segment.p_vaddr;
          const auto* const end = at + segment.p_memsz;
          while (at < end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const auto* const value = at + sizeof note + ((note.n_namesz + 3) & ~3u);
            if (note.n_type == NT_GNU_BUILD_ID) {
              for (unsigned b = 0; b < note.n_descsz; ++b) {
                *static_cast<std::string*>(to) += fmt::format("{:02x}", value[b]);
              }
              return 1;
            }
            at = value + ((note.n_descsz + 3) & ~3u);
          }
        }
        return 1;  // the first is the program
      },
      &id);
  return id;
}

TEST_CASE("A file's build id is the one that the program carries") {
  CHECK(build_id_of("/proc/self/exe") == own_build_id());
  const test::TemporaryFolder folder;
  const std::string path = folder / "file";
  std::ofstream(path) << "no ELF file";
  CHECK(build_id_of(path).empty());
  CHECK(build_id_of(folder / "absent").empty());
  CHECK(build_id_of("/dev/zero").empty());
  std::filesystem::copy_file("/proc/self/exe", path,
                             std::filesystem::copy_options::overwrite_existing);
  for (const std::uintmax_t bytes : {63u, 64u, 100u, 600u}) {
    std::filesystem::resize_file(path, bytes);
    CHECK(build_id_of(path).size() <= own_build_id().size());  // cut: none, and no crash
  }
}

TEST_CASE("A process's modules are told once each") {
  WatchedProcess process(getpid(), "name.spool");
  const auto modules = process.new_modules();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto own = std::find_if(modules.begin(), modules.end(),
                                [&](const auto& module) { return module.file.path == program; });
  REQUIRE(own != modules.end());
  CHECK(own->build_id == own_build_id());
  Dl_info here{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&own_build_id), &here) != 0);
  CHECK(own->file.base == reinterpret_cast<std::uintptr_t>(here.dli_fbase));
  CHECK(process.new_modules().empty());
}

}  // namespace
}  // namespace gprofml::profile
