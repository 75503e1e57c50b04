// Drives the shipped recorder as CUPTI does: a stand-in CUPTI whose buffers the benchmark fills.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/stand_in_cupti.hpp"

namespace gprofml::bench {

/// CPU time of the calling thread.
std::int64_t thread_cpu_ns();

/// A folder that is removed with all that is in it at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs `work` in a child process, since a recorder lives once a process, and returns the numbers
/// that it returned. Throws std::runtime_error when the child did not come to its end.
std::vector<double> in_child(const std::function<std::vector<double>()>& work);

/// Launches as a program of today makes them: 320 kernels with mangled names of 30 to 250 bytes,
/// each launched with a few configurations, most of the launches by the first few kernels.
class LaunchMix {
 public:
  LaunchMix();
  /// Fills in the record of kernel number `i` (1, 2, …); `graph`: as a node of a replayed graph.
  void kernel(std::uint64_t i, bool graph, CUpti_ActivityKernel10& record) const;
  /// The record of the call that launched it.
  static void call(std::uint64_t i, CUpti_ActivityAPI& record);

 private:
  std::vector<std::string> names_;
  std::vector<CUpti_ActivityKernel10> kinds_;
};

/// Records put into a buffer one behind the other, as CUPTI puts them.
class BufferFill {
 public:
  void start(unsigned char* buffer, std::size_t room) {
    buffer_ = buffer;
    room_ = room;
    used_ = 0;
  }
  bool fits(std::size_t bytes) const { return used_ + bytes <= room_; }
  void put(const void* record, std::size_t bytes) {
    __builtin_memcpy(buffer_ + used_, record, bytes);
    used_ += bytes;
  }
  unsigned char* buffer() const { return buffer_; }
  std::size_t used() const { return used_; }

 private:
  unsigned char* buffer_ = nullptr;
  std::size_t room_ = 0;
  std::size_t used_ = 0;
};

/// The recorder of this process, started by InitializeInjection as the CUDA driver does.
class RecorderDriver {
 public:
  /// Spools go to `folder`. Throws std::runtime_error when the recorder does not start.
  explicit RecorderDriver(const std::filesystem::path& folder);

  /// Puts a record where CUPTI would, calling back for buffers; the time in those calls is the
  /// recorder's cost in the program's thread.
  void put(const void* record, std::size_t bytes) {
    if (!fill_.fits(bytes)) next_buffer();
    fill_.put(record, bytes);
  }
  /// What CUPTI calls at a launch, if the recorder has asked for it.
  void launch_callbacks(std::uint32_t correlation);
  bool records_calls() const { return cupti_->calls_have_records; }

  /// Hands over the buffer begun and waits until the writer has written all and sleeps.
  void drain();
  /// CPU time of the writer so far; valid after the first drain().
  std::int64_t writer_cpu_ns() const;
  std::uint64_t buffers() const { return completed_; }

 private:
  void next_buffer();
  void complete();

  StandInCupti* cupti_ = nullptr;
  BufferFill fill_;
  std::uint64_t completed_ = 0;
};

/// Has the machine give us memory for so many bytes of files, and lets go of it again: a virtual
/// machine's first touch of a page costs ten times the write, and says nothing of the writer.
void warm_page_cache(std::uintmax_t bytes);

/// Bytes of all spools in a folder.
std::uintmax_t spool_bytes(const std::filesystem::path& folder);

}  // namespace gprofml::bench
