#include "injection/stack_records.hpp"

#include <cstring>
#include <new>

#include "injection/code_map.hpp"
#include "injection/interner.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

using spool::Stack;
using spool::StackWord;

constexpr std::size_t kMostWords = kMostCopiedBytes / 8 + 2 * kMostFrameRecords;

/// A stack as it is written, its number left open.
struct Draft {
  Stack stack;
  StackWord words[kMostWords];
};

struct StackWriter {
  CodeMap code;
  Interner known{1};
  Draft draft;
};

/// Of the recording under way; a forked child begins anew.
StackWriter* stack_writer = nullptr;
const RecordStream* writes_to = nullptr;

StackWriter* writer_for(const RecordStream& stream) {
  if (writes_to != &stream) {
    void* memory = map_memory(sizeof(StackWriter));
    stack_writer = memory == nullptr ? nullptr : new (memory) StackWriter;
    writes_to = &stream;
  }
  return stack_writer;
}

/// Says what of a stack is kept. `has_gaps`: an address lay nowhere and may be that of new code.
class Sieve {
 public:
  Sieve(const StackEvent& event, CodeMap& code, RecordStream& stream)
      : stack_pointer_(event.registers[1]),
        stack_end_(event.stack_end),
        code_(code),
        stream_(stream) {}

  /// 0: dropped.
  std::uint64_t keep(std::uint64_t word) {
    if (word >= stack_pointer_ && word < stack_end_) return Stack::kBase + (word - stack_pointer_);
    if (word < kLowestAddress || word >= kUserEnd) return 0;
    const CodeMap::Kind kind = code_.look_up(word, stream_);
    has_gaps = has_gaps || kind == CodeMap::Kind::nowhere;
    // What was code when the stack was taken may be gone: Python takes its trampolines away before
    // exit handlers run. Numbers that are no addresses are hardly ever of that size.
    if (kind == CodeMap::Kind::nowhere) return word >= kLowestOfCode ? word : 0;
    return kind == CodeMap::Kind::code ? word : 0;
  }

  bool has_gaps = false;

 private:
  static constexpr std::uint64_t kLowestAddress = 0x1000;
  static constexpr std::uint64_t kLowestOfCode = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;

  const std::uint64_t stack_pointer_;
  const std::uint64_t stack_end_;
  CodeMap& code_;
  RecordStream& stream_;
};

std::uint64_t word_at(const unsigned char* bytes, std::size_t offset) {
  std::uint64_t word;
  std::memcpy(&word, bytes + offset, sizeof word);
  return word;
}

/// Fills in the draft; whether a look at the mappings may tell more.
bool sift(const StackEvent& event, StackWriter& writer, RecordStream& stream) {
  Draft& draft = writer.draft;
  Sieve sieve(event, writer.code, stream);
  std::memset(&draft.stack, 0, sizeof draft.stack);
  draft.stack.flags = event.flags;
  draft.stack.copied_bytes = event.copied_bytes;
  for (std::uint32_t i = 0; i < Stack::kRegisters; ++i) {
    draft.stack.registers[i] = sieve.keep(event.registers[i]);
  }
  draft.stack.registers[1] = Stack::kBase;
  std::uint32_t words = 0;
  const auto add = [&](std::uint64_t offset, std::uint64_t value) {
    const std::uint64_t kept = sieve.keep(value);
    if (kept != 0) draft.words[words++] = {offset, kept};
  };
  const auto* copy = reinterpret_cast<const unsigned char*>(&event + 1);
  for (std::uint32_t at = 0; at < event.copied_bytes; at += 8) add(at, word_at(copy, at));
  const unsigned char* records = copy + event.copied_bytes;
  for (std::uint32_t i = 0; i < event.frame_records; ++i) {
    FrameRecord record;
    std::memcpy(&record, records + i * sizeof record, sizeof record);
    add(record.offset, record.frame_pointer);
    add(record.offset + 8, record.address);
  }
  draft.stack.words = words;
  return sieve.has_gaps;
}

void write_use(RecordStream& stream, const StackEvent& event, std::uint32_t stack) {
  spool::CallStack record{};
  record.graph_node = event.graph_node;
  record.correlation = event.correlation;
  record.stack = stack;
  // A node's is needed for as long as the graph is replayed.
  if (record.graph_node != 0) {
    stream.add_lasting(spool::RecordKind::call_stack, record);
  } else {
    stream.add(spool::RecordKind::call_stack, record);
  }
}

}  // namespace

void write_stack(RecordStream& stream, EventRing& ring, const StackEvent& event) {
  if (event.flags == kStackOfCall) {
    const bool is_known =
        ring.written_stack != 0 && ring.written_stack_correlation == event.correlation;
    if (is_known) write_use(stream, event, ring.written_stack);
    return;
  }
  StackWriter* writer = writer_for(stream);
  if (writer == nullptr) return;
  if (sift(event, *writer, stream) && writer->code.refresh()) sift(event, *writer, stream);
  Draft& draft = writer->draft;
  const std::size_t tail_bytes = draft.stack.words * sizeof(StackWord);
  const Interner::Interned known =
      writer->known.intern(&draft.stack, sizeof draft.stack + tail_bytes);
  if (known.id == 0) return;
  if (known.is_new) {
    draft.stack.id = known.id;
    stream.add_with_tail(spool::RecordKind::stack, draft.stack, draft.words, tail_bytes);
  }
  if (event.graph_node == 0) {
    ring.written_stack = known.id;
    ring.written_stack_correlation = event.correlation;
  }
  write_use(stream, event, known.id);
}

}  // namespace gprofml::injection
