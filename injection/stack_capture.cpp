#include "injection/stack_capture.hpp"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injection/system.hpp"

// Sanitizers watch every load; the stack of others is read on purpose, whatever lies there.
#if defined(__clang__) || defined(__GNUC__)
#define GPROFML_READS_STACKS __attribute__((no_sanitize("address", "thread"), noinline))
#else
#define GPROFML_READS_STACKS
#endif

namespace gprofml::injection {
namespace {

using spool::Stack;

/// The main thread's stack as the kernel laid it out: field 28 of /proc/self/stat. The C library
/// would read all of /proc/self/maps instead, with allocations.
std::uint64_t end_of_main_stack() {
  char text[1024];
  const std::size_t size = read_file("/proc/self/stat", text, sizeof text - 1);
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');  // the command's name may hold anything
  for (int field = 2; at != nullptr && field < 28; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10) & ~std::uint64_t{7};
}

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Empty, but not unknown: what is not known is read through the kernel.
Range stack_of_this_thread(std::uint32_t tid) {
  if (tid == static_cast<std::uint32_t>(getpid())) {
    // Nothing else is mapped so close below its end (the kernel keeps at least 128 MiB free), and
    // between a stack pointer in there and the end all is mapped.
    constexpr std::uint64_t kReserved = std::uint64_t{64} << 20;
    const std::uint64_t end = end_of_main_stack();
    return end > kReserved ? Range{end - kReserved, end} : Range{0, 1};
  }
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 1};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {0, 1};
  const auto first = reinterpret_cast<std::uint64_t>(begin);
  return {first, (first + bytes) & ~std::uint64_t{7}};
}

/// `bytes`, a multiple of 8. Not memcpy: sanitizers replace that one.
GPROFML_READS_STACKS void copy_words(void* to, std::uint64_t from, std::size_t bytes) {
#if defined(__x86_64__)
  std::size_t words = bytes / 8;
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
#else
  const auto* source = reinterpret_cast<const volatile std::uint64_t*>(from);
  auto* target = static_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / 8; ++i) target[i] = source[i];
#endif
}

/// Reads what can be read: a coroutine's stack may end anywhere, and another thread may take it
/// away. Bytes read.
std::size_t copy_through_kernel(void* to, std::uint64_t from, std::size_t bytes) {
  const int saved_errno = errno;
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(from), bytes};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  errno = saved_errno;
  return got <= 0 ? 0 : static_cast<std::size_t>(got) & ~std::size_t{7};
}

/// The chain of frame pointers, those of its records that lie behind the copy. Each is above the
/// one before and within the stack, so it ends.
GPROFML_READS_STACKS std::uint32_t follow_frame_pointers(std::uint64_t frame_pointer,
                                                         std::uint64_t stack_pointer,
                                                         std::uint64_t copy_end,
                                                         std::uint64_t stack_end,
                                                         std::uint32_t room, FrameRecord* records) {
  std::uint32_t count = 0;
  std::uint64_t lowest = stack_pointer;
  constexpr int kMostInCopy = kMostCopiedBytes / 16;
  for (int step = 0; step < kMostInCopy && count < room; ++step) {
    if (frame_pointer < lowest || frame_pointer % 8 != 0) break;
    if (frame_pointer > stack_end - 16) break;
    const auto* pair = reinterpret_cast<const volatile std::uint64_t*>(frame_pointer);
    const std::uint64_t next = pair[0];
    if (frame_pointer + 16 > copy_end) {
      records[count++] = {frame_pointer - stack_pointer, next, pair[1]};
    }
    lowest = frame_pointer + 16;
    frame_pointer = next;
  }
  return count;
}

/// Where the frame pointer is used for something else by now, a caller has saved it: words of the
/// copy that point behind it. What is read there is true whether or not it is a frame record.
GPROFML_READS_STACKS std::uint32_t follow_saved_frame_pointers(const unsigned char* copy,
                                                               std::uint64_t stack_pointer,
                                                               std::uint64_t copy_end,
                                                               std::uint64_t stack_end,
                                                               FrameRecord* records) {
  constexpr int kMostChains = 8;
  std::uint32_t count = 0;
  std::uint64_t reached = 0;
  int chains = 0;
  // From the outermost word inwards: the outermost frame of the copy leads on.
  for (std::uint64_t at = copy_end - stack_pointer; at >= 8 && chains < kMostChains; at -= 8) {
    std::uint64_t word;
    std::memcpy(&word, copy + at - 8, sizeof word);
    if (word < copy_end || word > stack_end - 16 || word % 16 != 0 || word == reached) continue;
    // Pairs twice do no harm; the writer's sizes allow for kMostFrameRecords.
    const std::uint32_t added = follow_frame_pointers(word, stack_pointer, copy_end, stack_end,
                                                      kMostFrameRecords - count, records + count);
    count += added;
    reached = word;
    ++chains;
    if (count == kMostFrameRecords) break;
  }
  return count;
}

}  // namespace

bool put_stack_of_call(EventRing& ring, std::uint64_t graph_node) {
  void* room = ring.reserve(sizeof(StackEvent), ring.headroom_to_open());
  if (room == nullptr) return false;
  auto& event = *static_cast<StackEvent*>(room);
  event = StackEvent{};
  event.header = {sizeof event, EventKind::stack, TextKind::none};
  event.graph_node = graph_node;
  event.correlation = ring.stack_correlation;
  event.flags = kStackOfCall;
  ring.commit(sizeof event);
  return true;
}

GPROFML_READS_STACKS bool take_stack(EventRing& ring, std::uint32_t correlation,
                                     std::uint64_t graph_node) {
#if defined(__x86_64__)
  void* room = ring.reserve(kMostStackEventBytes, ring.headroom_to_open());
  if (room == nullptr) return false;
  auto& event = *static_cast<StackEvent*>(room);
  std::uint64_t* const registers = event.registers;
  __asm__ volatile(
      "leaq 0(%%rip), %%rax\n\t"
      "movq %%rax, 0(%0)\n\t"
      "movq %%rsp, 8(%0)\n\t"
      "movq %%rbp, 16(%0)\n\t"
      "movq %%rbx, 24(%0)\n\t"
      "movq %%r12, 32(%0)\n\t"
      "movq %%r13, 40(%0)\n\t"
      "movq %%r14, 48(%0)\n\t"
      "movq %%r15, 56(%0)"
      :
      : "r"(registers)
      : "rax", "memory");
  const std::uint64_t stack_pointer = registers[1];
  if (ring.stack_end == 0) {
    const int saved_errno = errno;
    const Range stack = stack_of_this_thread(ring.tid);
    errno = saved_errno;
    ring.stack_begin = stack.begin;
    ring.stack_end = stack.end;
  }
  auto* const copy = reinterpret_cast<unsigned char*>(&event + 1);
  event.graph_node = graph_node;
  event.correlation = correlation;
  event.frame_records = 0;
  event.flags = 0;
  const bool is_own = stack_pointer >= ring.stack_begin && stack_pointer + 16 < ring.stack_end;
  if (is_own) {
    const std::uint64_t all = ring.stack_end - stack_pointer;
    const std::size_t bytes = all < kMostCopiedBytes ? all : kMostCopiedBytes;
    copy_words(copy, stack_pointer, bytes);
    event.copied_bytes = static_cast<std::uint32_t>(bytes);
    event.stack_end = ring.stack_end;
    const std::uint64_t copy_end = stack_pointer + bytes;
    auto* const records = reinterpret_cast<FrameRecord*>(copy + bytes);
    if (copy_end < ring.stack_end) {
      event.frame_records = follow_frame_pointers(registers[2], stack_pointer, copy_end,
                                                  ring.stack_end, kMostFrameRecords, records);
      if (event.frame_records == 0) {
        event.frame_records =
            follow_saved_frame_pointers(copy, stack_pointer, copy_end, ring.stack_end, records);
      }
    }
  } else {
    const std::size_t bytes = copy_through_kernel(copy, stack_pointer, kMostCopiedBytes);
    event.copied_bytes = static_cast<std::uint32_t>(bytes);
    event.stack_end = stack_pointer + bytes;
    event.flags = Stack::kElsewhere;
    if (bytes == 0) event.flags |= Stack::kUnreadable;
  }
  const std::size_t bytes =
      sizeof event + event.copied_bytes + event.frame_records * sizeof(FrameRecord);
  event.header = {static_cast<std::uint32_t>(bytes), EventKind::stack, TextKind::none};
  ring.commit(bytes);
  return true;
#else
  // Which registers unwinding needs is known here for x86-64 only.
  (void)ring, (void)correlation, (void)graph_node;
  return false;
#endif
}

}  // namespace gprofml::injection
