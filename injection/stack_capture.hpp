// Where the calling thread is in its program: registers, a copy of what is nearest of its stack,
// and the chain of frame pointers beyond. Taken inside CUPTI's callbacks, on the program's threads.
//
//      stack pointer                                              outermost frame
//      v                                                                        v
//      | callback | libcupti, libcuda | the program's functions …               |
//      '--------- copied, <= 4 KiB ---------'   '-- fp, return address --' …
//
// Both are needed and neither alone is right: libraries that use the frame pointer for something
// else, or leave it as it is, make a chain lose frames without a sign of it, and 4 KiB do not reach
// the outermost frame. Unwinding afterwards goes by the call frame information of each function
// and so takes from either what is true.
//
// Nothing is read but the thread's own stack, whose end is known, or what the kernel says can be
// read: no fault is possible, whatever a program has done to its registers. No lock and no
// allocation, but at a thread's first stack (pthread_getattr_np).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injection/event_ring.hpp"
#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

inline constexpr std::size_t kMostCopiedBytes = 4096;
inline constexpr std::size_t kMostFrameRecords = 64;

/// Behind it `copied_bytes` of stack, then `frame_records` times (offset, frame pointer, address).
struct StackEvent {
  EventHeader header;
  std::uint64_t graph_node;  ///< 0: of a call
  std::uint32_t correlation;
  std::uint32_t copied_bytes;
  std::uint32_t frame_records;
  std::uint32_t flags;      ///< spool::Stack::Flag
  std::uint64_t stack_end;  ///< beyond it nothing belongs to the stack
  std::uint64_t registers[spool::Stack::kRegisters];
};
static_assert(sizeof(StackEvent) % 8 == 0);

/// In `flags`, of nodes: the stack is that of the call with that correlation id, earlier in the
/// ring, within which the node came into being.
inline constexpr std::uint32_t kStackOfCall = 1u << 31;

struct FrameRecord {
  std::uint64_t offset;  ///< from the stack pointer
  std::uint64_t frame_pointer;
  std::uint64_t address;
};

inline constexpr std::size_t kMostStackEventBytes =
    sizeof(StackEvent) + kMostCopiedBytes + kMostFrameRecords * sizeof(FrameRecord);

/// Notes that a node came into being within the call whose stack was taken last. False: no room.
bool put_stack_of_call(EventRing& ring, std::uint64_t graph_node);

/// Takes the calling thread's stack into its ring. False when there is no room.
bool take_stack(EventRing& ring, std::uint32_t correlation, std::uint64_t graph_node);

}  // namespace gprofml::injection
