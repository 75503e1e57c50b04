// The code of a process that is gone: unwinds its saved stacks and names their functions, from the
// files that were mapped into it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libprofile/symbols/perf_map.hpp"

namespace gprofml::profile {

/// A part of a file that was mapped executable; `path` empty: code made at run time.
struct MappedCode {
  std::string path;
  std::string build_id;  ///< bytes; empty: none
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t modified_ns = 0;
};

/// What is left of a thread's stack. Addresses within it count from `base`, where the stack
/// pointer was.
struct SavedStack {
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 56;
  static constexpr std::size_t kRegisters = 8;

  struct Word {
    std::uint64_t address;
    std::uint64_t value;
  };
  std::uint64_t registers[kRegisters] = {};  ///< rip, rsp, rbp, rbx, r12, r13, r14, r15
  std::uint64_t copied_bytes = 0;            ///< from kBase on; what has no word there is zero
  std::vector<Word> words;                   ///< by address
};

/// A function as far as it can be told. Never a guess: of a file that is gone, or is not the one
/// that was mapped (another build id; without one another size or time), only where in it.
struct CodeName {
  std::string function;      ///< demangled; empty: not known
  std::string module;        ///< path as mapped, or a Python function's file; empty: none
  std::int64_t offset = -1;  ///< in the module's file, where the function is not known; -1: none
};

/// Not thread-safe. Reads files of the machine that recorded; on another machine, or when they have
/// changed, names are missing and stacks may be short.
class ProcessImage {
 public:
  ProcessImage(std::vector<MappedCode> code, std::shared_ptr<const PerfMap> perf_map);
  ~ProcessImage();
  ProcessImage(const ProcessImage&) = delete;
  ProcessImage& operator=(const ProcessImage&) = delete;

  /// Addresses inside the functions of a stack, innermost first: those of calls are of the call
  /// itself, not of what follows it. At most kMostFrames.
  std::vector<std::uint64_t> unwind(const SavedStack& stack);

  /// Functions at an address, innermost first: more than one where calls were inlined. Never empty.
  const std::vector<CodeName>& names_at(std::uint64_t address);

  /// Files that were mapped and are another now, or gone.
  const std::vector<std::string>& changed_files() const;

  static constexpr std::size_t kMostFrames = 256;

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
};

}  // namespace gprofml::profile
