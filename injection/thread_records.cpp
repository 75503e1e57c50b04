// Threads as the spool's records: each once with the system's name, again when NVTX names it.
#include <cstdio>
#include <cstring>

#include "injection/system.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {
namespace {

/// Threads the spool knows; an id that is used again keeps its first name.
struct KnownThreads {
  static constexpr std::uint32_t kRoom = 8192;

  /// True when `tid` was not known yet; it then is. Once full everybody is known.
  bool add(std::uint32_t tid) {
    std::uint32_t slot = tid * 0x9e3779b1u % kRoom;
    for (; tids[slot] != 0; slot = (slot + 1) % kRoom) {
      if (tids[slot] == tid) return false;
    }
    if (count >= kRoom / 2) return false;
    tids[slot] = tid;
    ++count;
    return true;
  }

  const RecordStream* stream = nullptr;
  std::uint32_t count = 0;
  std::uint32_t tids[kRoom] = {};
};
KnownThreads known_threads;

/// False when the spool of this stream knows the thread already.
bool is_new(const RecordStream& stream, std::uint32_t tid) {
  if (known_threads.stream != &stream) {
    std::memset(known_threads.tids, 0, sizeof known_threads.tids);
    known_threads.count = 0;
    known_threads.stream = &stream;
  }
  return tid != 0 && known_threads.add(tid);
}

void write_thread(RecordStream& stream, std::uint32_t tid, const char* name, std::size_t bytes) {
  spool::Thread record{};
  record.tid = tid;
  record.name = stream.string(name, bytes);
  stream.add(spool::RecordKind::thread, record);
}

}  // namespace

void introduce_thread(RecordStream& stream, std::uint32_t tid) {
  if (!is_new(stream, tid)) return;
  char path[64];
  char name[32];
  std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
  std::size_t size = read_file(path, name, sizeof name);
  if (size > 0 && name[size - 1] == '\n') --size;
  write_thread(stream, tid, name, size);
}

void name_thread(RecordStream& stream, std::uint32_t tid, const char* name, std::size_t bytes) {
  is_new(stream, tid);
  write_thread(stream, tid, name, bytes);
}

}  // namespace gprofml::injection
