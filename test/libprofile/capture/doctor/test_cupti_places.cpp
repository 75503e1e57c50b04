#include "libprofile/capture/doctor/cupti_places.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "libprofile/capture/doctor/library_path.hpp"
#include "test/libprofile/capture/doctor/planted_machine.hpp"

using namespace gprofml::profile;
using planted::PlantedMachine;

namespace {

std::string taken(const Machine& machine, const std::string& runtime) {
  for (const CuptiPlace& place : cupti_places(machine, runtime)) {
    if (place.state == CuptiPlaceState::found) return place.path;
  }
  return {};
}

void append(std::string& text, std::uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  text.append(bytes, sizeof bytes);
}

/// A cache of the dynamic linker with these (name, file).
std::string cache_of(const std::vector<std::pair<std::string, std::string>>& libraries) {
  std::string text = "glibc-ld.so.cache1.1";
  append(text, static_cast<std::uint32_t>(libraries.size()));
  text.resize(48, '\0');
  std::string strings;
  std::string entries;
  const std::size_t start = text.size() + 24 * libraries.size();
  for (const auto& [name, file] : libraries) {
    append(entries, 0x303);
    append(entries, static_cast<std::uint32_t>(start + strings.size()));
    strings += name + '\0';
    append(entries, static_cast<std::uint32_t>(start + strings.size()));
    strings += file + '\0';
    entries.append(12, '\0');
  }
  return text + entries + strings;
}

}  // namespace

TEST_CASE("CUPTI is looked for in the recorder's order", "[doctor]") {
  PlantedMachine machine(FAKE_NVML_LIBRARY);
  machine.variable("CUDA_HOME", "/home-cuda");
  machine.variable("CUDA_PATH", "/path-cuda");
  machine.variable("LD_LIBRARY_PATH", "/on-path");
  // From the last place to the first: each that is added is taken.
  machine.remove("/usr/local/cuda");
  const std::vector<std::string> places{
      "/on-path/libcupti.so.12",
      "/on-path/libcupti.so.13",
      "/usr/local/cuda/lib64/libcupti.so.12",
      "/path-cuda/lib/libcupti.so.13",
      "/path-cuda/extras/CUPTI/lib64/libcupti.so.12",
      "/home-cuda/lib64/libcupti.so.12",
      "/home-cuda/lib64/libcupti.so.13",
      "/wheels/cu13/lib/libcupti.so.13",
      "/wheels/cuda_cupti/lib/libcupti.so.12",
      "/wheels/cuda_runtime/extras/CUPTI/lib64/libcupti.so.12",
      "/wheels/cuda_runtime/lib/libcupti.so.12",
  };
  machine.file("/wheels/cuda_runtime/lib/libcudart.so.12");
  for (const std::string& place : places) {
    machine.file(place);
    const std::string path = taken(machine.machine, "/wheels/cuda_runtime/lib");
    CHECK(planted::fs::path(path).lexically_normal().string() == place);
  }
}

TEST_CASE("A running program says where its CUDA runtime is", "[doctor]") {
  PlantedMachine machine(FAKE_NVML_LIBRARY);
  machine.file("/usr/lib/libcudart.so.13");
  CHECK(runtime_folders(machine.machine) == std::vector<std::string>{"/usr/lib"});
  machine.machine.pid = 12;
  machine.file("/proc/12/maps",
               "00400000-00401000 r-xp 00000000 08:01 5   /bin/x\n"
               "7f0000000000-7f0000001000 r-xp 00000000 08:01 6   /venv/lib/libcudart.so.12\n");
  CHECK(runtime_folders(machine.machine) == std::vector<std::string>{"/venv/lib"});
  CHECK(loaded_cupti(machine.machine).empty());
  machine.file("/proc/12/maps",
               "7f0000000000-7f0000001000 r-xp 00000000 08:01 6   /venv/lib/libcupti.so.12\n");
  CHECK(loaded_cupti(machine.machine) == "/venv/lib/libcupti.so.12");
}

TEST_CASE("The dynamic linker's cache is read", "[doctor]") {
  const std::string cache = cache_of({{"liba.so", "/a/liba.so"},
                                      {"libcupti.so.13", "/x/libcupti.so.13"},
                                      {"libcupti.so.13", "/y/libcupti.so.13"}});
  using Files = std::vector<std::string>;
  CHECK(cached_libraries(cache, "libcupti.so.13") ==
        Files{"/x/libcupti.so.13", "/y/libcupti.so.13"});
  CHECK(cached_libraries("older table" + cache, "liba.so") == Files{"/a/liba.so"});
  CHECK(cached_libraries(cache, "libb.so").empty());
  CHECK(cached_libraries("", "liba.so").empty());
  for (std::size_t cut = 0; cut < cache.size(); ++cut) {
    cached_libraries(cache.substr(0, cut), "libcupti.so.13");  // damaged: whatever can be read
  }
}
