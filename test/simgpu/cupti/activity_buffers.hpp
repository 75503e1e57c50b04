// Activity buffers: records are packed into memory that the client hands out.
//
//   producing thread: append ─► its queue { current buffer, full buffers } ─► delivery ─► client
//   flushing thread:  flush ───────► every queue ───────────────────────────► delivery ─► client
//
// By default each producing thread has a queue of its own, else all share one. A record may be of
// an activity that the GPU has not finished: its buffer is withheld until the clock has come to the
// end of the last of them, and a forced flush marks such records invalid. On the virtual clock a
// queue is also given back in order, a buffer never before one that was begun earlier: which
// buffers a flush finds finished depends on when the flush happens, and what is recorded there must
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace gprofml::simgpu::cupti {

/// End of a record that needs no waiting for.
inline constexpr std::int64_t kFinished = std::numeric_limits<std::int64_t>::min();

/// Appends one record of `size` bytes (a multiple of 8) to the calling thread's buffer, asking the
/// client for one when needed. `end_ns`: when the activity is finished, in the engine's time.
/// Without a buffer the record is counted as dropped.
void append_record(const void* record, std::size_t size, std::int64_t end_ns);

template <typename Record>
void append(const Record& record, std::int64_t end_ns = kFinished) {
  static_assert(sizeof(Record) % 8 == 0, "records are aligned to 8 bytes");
  append_record(&record, sizeof record, end_ns);
}

enum class Flush : std::uint8_t {
  full,      ///< buffers that are full, with all records finished
  finished,  ///< all buffers in which every record is finished
  forced,    ///< all buffers; records that are not finished become invalid
  lost       ///< all buffers, without their records, which count as dropped (a fault)
};

/// Takes buffers from all queues and puts them on their way to the client; does not wait.
void collect(Flush flush);

/// Whether any queue holds a record.
bool has_records();

/// Records dropped since the last call.
std::size_t take_dropped_records();

/// Whether threads have buffers of their own; takes effect for threads without a buffer.
void use_buffer_per_thread(bool per_thread);
/// Whether the client promises zeroed buffers.
void trust_zeroed_buffers(bool trust);

/// Forgets all buffers without giving them back (cuptiFinalize).
void abandon_buffers();

}  // namespace gprofml::simgpu::cupti
