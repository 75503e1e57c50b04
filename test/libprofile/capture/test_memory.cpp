// Memory in a recording: given out and taken back, pools, managed memory on the move.
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "test/libprofile/capture/merge_support.hpp"

using namespace gprofml;
using profile::kNoRow;
using profile::kUnknown;
using profile::MemoryKind;
using profile::MigrationKind;
using profile::Trace;
using test::merged;
using test::RecordedProcess;

namespace {

// CUPTI's numbers.
constexpr std::uint32_t kAllocation = 1, kRelease = 2, kPinned = 2, kDevice = 3;
constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

spool::MemoryEvent memory(std::uint32_t operation, std::int64_t time, std::uint64_t address,
                          std::uint64_t bytes) {
  spool::MemoryEvent event{};
  event.time_ns = time;
  event.operation = operation;
  event.address = address;
  event.bytes = bytes;
  event.memory = kDevice;
  event.pool_used = kUnknownBytes;
  event.context = 1;
  event.stream = spool::kNoId;
  return event;
}

RecordedProcess process_with_device() {
  RecordedProcess p;
  p.device(0, 0xaa);
  p.context(1, 0, 7);
  return p;
}

void add(RecordedProcess& p, const spool::MemoryEvent& event) {
  p.spool.add(event, spool::RecordKind::memory_event);
}

spool::UnifiedMemory moved(std::uint32_t counter, std::int64_t start, std::int64_t end) {
  spool::UnifiedMemory record{};
  record.counter = counter;
  record.start_ns = start;
  record.end_ns = end;
  record.value = 65536;
  record.address = 0x7000;
  record.source_device = spool::kNoId;
  return record;
}

}  // namespace

TEST_CASE("allocations and frees find call, thread, stream and source") {
  RecordedProcess p = process_with_device();
  p.call("cudaMallocAsync_v11020", 44, 100, 110, 5);
  spool::MemoryEvent event = memory(kAllocation, 105, 0xf000000000000000, 4096);
  event.correlation = 5;
  event.stream = 13;
  event.pool = 0xabc;
  event.pool_size = 8192;
  event.pool_used = 5000;
  event.source = p.spool.string("/usr/lib/libtorch_cuda.so");
  add(p, event);
  spool::MemoryEvent pinned = memory(kAllocation, 120, 0x1000, 64);
  pinned.memory = kPinned;
  add(p, pinned);
  const Trace t = merged(p).trace;
  const profile::MemoryEventColumns& m = t.memory_events;
  REQUIRE(m.size() == 2);
  CHECK(m.time_ns[0] == 105);
  CHECK(m.bytes[0] == 4096);
  CHECK(m.address[0] == 0xf000000000000000);
  CHECK(m.memory[0] == MemoryKind::device);
  CHECK(m.device[0] == 0);
  CHECK(m.call[0] == 0);
  CHECK(t.threads[m.thread[0]].tid == 44);
  CHECK(t.streams[m.stream[0]].id == 13);
  CHECK(m.pool[0] == 0xabc);
  CHECK(m.total_allocated[0] == 5000);
  CHECK(m.total_reserved[0] == 8192);
  CHECK(t.text(m.source[0]) == "/usr/lib/libtorch_cuda.so");
  CHECK(m.memory[1] == MemoryKind::pinned);
  CHECK(m.device[1] == kNoRow);
  CHECK(m.stream[1] == kNoRow);
  CHECK(m.call[1] == kNoRow);
  CHECK(m.total_allocated[1] == kUnknown);
  CHECK(m.total_reserved[1] == kUnknown);
}

TEST_CASE("a release that does not say how much gives back what was given out") {
  RecordedProcess p = process_with_device();
  add(p, memory(kRelease, 400, 0x10, 0));  // written first, happened last
  add(p, memory(kAllocation, 100, 0x10, 256));
  add(p, memory(kRelease, 200, 0x10, 0));
  add(p, memory(kAllocation, 300, 0x10, 1024));
  add(p, memory(kRelease, 500, 0x10, 0));   // nothing is out there
  add(p, memory(kRelease, 600, 0x20, 32));  // one that says it
  const Trace t = merged(p).trace;
  CHECK(t.memory_events.bytes == std::vector<std::int64_t>{256, -256, 1024, -1024, 0, -32});
}

TEST_CASE("pools") {
  RecordedProcess p = process_with_device();
  for (std::uint32_t operation = 1; operation <= 4; ++operation) {
    spool::MemoryPool pool{};
    pool.time_ns = 100 * operation;
    pool.operation = operation;
    pool.pool = 0xabc;
    pool.size = 8192;
    pool.used = operation == 1 ? kUnknownBytes : 100;
    pool.release_threshold = ~std::uint64_t{0};  // "keep everything" is what programs set
    p.spool.add(pool, spool::RecordKind::memory_pool);
  }
  const Trace t = merged(p).trace;
  const profile::MemoryPoolEventColumns& pools = t.memory_pool_events;
  using profile::PoolOperation;
  CHECK(pools.operation == std::vector{PoolOperation::created, PoolOperation::destroyed,
                                       PoolOperation::trimmed, PoolOperation::unknown});
  CHECK(pools.bytes[0] == 8192);
  CHECK(pools.used_bytes == std::vector<std::int64_t>{kUnknown, 100, 100, 100});
  CHECK(pools.release_threshold_bytes[0] == std::numeric_limits<std::int64_t>::max());
  CHECK(pools.device[0] == 0);
}

TEST_CASE("managed memory on the move") {
  RecordedProcess p = process_with_device();
  p.spool.add(moved(1, 100, 150), spool::RecordKind::unified_memory);  // host to device
  spool::UnifiedMemory back = moved(2, 200, 260);
  back.source_device = 0;
  back.target_device = spool::kNoId;
  p.spool.add(back, spool::RecordKind::unified_memory);
  spool::UnifiedMemory fault = moved(3, 300, 0);  // its end, source and target say nothing
  fault.source_device = 77;
  fault.target_device = 78;
  fault.value = 0x400812;  // the program counter
  p.spool.add(fault, spool::RecordKind::unified_memory);
  spool::UnifiedMemory thrashing = moved(5, 400, 3);
  thrashing.source_device = 0b11;  // a mask
  p.spool.add(thrashing, spool::RecordKind::unified_memory);
  p.spool.add(moved(1, 500, 499), spool::RecordKind::unified_memory);
  p.spool.add(moved(99, 600, 600), spool::RecordKind::unified_memory);
  const Trace t = merged(p).trace;
  const profile::MigrationColumns& m = t.migrations;
  CHECK(m.kind == std::vector{MigrationKind::host_to_device, MigrationKind::device_to_host,
                              MigrationKind::cpu_fault, MigrationKind::thrashing,
                              MigrationKind::unknown});
  CHECK(m.end_ns == std::vector<profile::Nanoseconds>{150, 260, 300, 400, 600});
  CHECK(m.source_device == std::vector<profile::RowIndex>{kNoRow, 0, kNoRow, kNoRow, kNoRow});
  CHECK(m.target_device == std::vector<profile::RowIndex>{0, kNoRow, kNoRow, kNoRow, kNoRow});
  CHECK(m.value == std::vector<std::int64_t>{65536, 65536, 1, 65536, 65536});
  CHECK(t.devices.size() == 1);  // what is to be ignored made none
  CHECK(test::notes_of(t).front() == "bad_times 1");
}
