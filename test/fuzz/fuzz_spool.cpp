// libFuzzer target: any bytes as a spool. Merging either gives a consistent trace or one line of a
// CaptureError. A checksum hides what stands behind it from a fuzzer, so the input is also read as
// the records of one good chunk.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "libprofile/capture/merge.hpp"
#include "test/libprofile/spool/spool_writer.hpp"
#include "test/temporary_folder.hpp"

namespace {

using gprofml::profile::CaptureError;

[[noreturn]] void fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

void merge(const std::string& bytes) {
  static const gprofml::test::TemporaryFolder folder;
  std::ofstream(folder / "a.spool", std::ios::binary | std::ios::trunc) << bytes;
  try {
    const auto recording = gprofml::profile::merge_spools(folder.path().string());
    if (const auto broken = gprofml::profile::first_inconsistency(recording.trace)) {
      fail("broken", *broken);
    }
    if (recording.processes.size() != 1) fail("processes", "not one");
  } catch (const CaptureError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) fail("two lines", error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  merge(bytes);
  gprofml::test::SpoolWriter writer;
  writer.raw(bytes);
  merge(writer.bytes());
  return 0;
}
