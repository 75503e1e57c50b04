// What the model can make go wrong with records and buffers: each fault as a client meets it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "test/simgpu/cupti/newer_records.hpp"
#include "test/simgpu/cupti/tests/session.hpp"
#include "test/simgpu/engine/clock.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

constexpr std::int64_t kPast = 900'000;
constexpr std::int64_t kFuture = 2'000'000;  // the clock stands at 1'000'000

using Ids = std::vector<std::uint32_t>;

void enable_kernels() {
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

std::vector<CUpti_ActivityKernel10> kernels(Session& session) {
  return session.records_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

Ids correlations(Session& session) {
  Ids all;
  for (const auto& record : kernels(session)) all.push_back(record.correlationId);
  return all;
}

std::size_t dropped() {
  std::size_t count = 0;
  check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &count));
  return count;
}

void submit(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t id = from; id <= to; ++id) observer().submitted(kernel(id, kPast));
}

void flush_forced() {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

}  // namespace

TEST_CASE("fault: every n-th GPU activity ends before it starts") {
  Session session{{{"reversed_timestamps", "3"}}};
  enable_kernels();
  submit(1, 6);
  flush_forced();
  for (const auto& record : kernels(session)) {
    const bool reversed = record.correlationId % 3 == 0;
    CHECK(record.start == static_cast<std::uint64_t>(reversed ? kPast : kPast - 100));
    CHECK(record.end == static_cast<std::uint64_t>(reversed ? kPast - 100 : kPast));
  }
}

TEST_CASE("fault: every n-th GPU activity starts before the call that launched it") {
  Session session{{{"early_starts", "2"}}};
  enable_kernels();
  for (std::uint32_t id = 1; id <= 2; ++id) {
    const ApiCall call = launch_call(id);  // begins at 900'000
    observer().api_enter(call);
    observer().submitted(kernel(id, 980'000));
    observer().api_exit(call);
  }
  flush_forced();
  const auto records = kernels(session);
  REQUIRE(records.size() == 2);
  CHECK(records[0].start == 979'900);
  CHECK(records[1].start == 899'000);
  CHECK(records[1].end == 899'100);
}

TEST_CASE("fault: records come in another order and in other buffers, none twice, none lost") {
  const auto order_of = [](std::vector<std::size_t>* sizes) {
    Session session{{{"shuffled_records", "5"}}};
    session.most_records = 4;
    enable_kernels();
    submit(1, 40);
    check(cuptiActivityFlushAll(0));
    CHECK(correlations(session).size() <= 36);  // five are held back until a flush by force
    flush_forced();
    for (const Delivered& buffer : session.delivered()) sizes->push_back(records_in(buffer).size());
    return correlations(session);
  };
  std::vector<std::size_t> sizes;
  const Ids first = order_of(&sizes);
  CHECK(first == order_of(&sizes));
  Ids sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(first != sorted);
  REQUIRE(sorted.size() == 40);
  for (std::uint32_t id = 1; id <= 40; ++id) CHECK(sorted[id - 1] == id);
  // Across buffers: a record of the first four submitted is not in the first buffer.
  const auto late = std::find_if(first.begin() + 4, first.end(), [](auto id) { return id <= 4; });
  CHECK(late != first.end());
}

TEST_CASE("fault: what is held back of a thread comes when the thread ends") {
  Session session{{{"shuffled_records", "100"}}};
  enable_kernels();
  std::thread{[] { submit(1, 3); }}.join();
  session.wait_for_deliveries(1);
  CHECK(correlations(session).size() == 3);
}

TEST_CASE("fault: the last GPU activity of each buffer is incomplete in a flush by force") {
  Session session{{{"incomplete_at_forced_flush", "1"}}};
  enable_kernels();
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  submit(1, 3);
  tell(launch_call(3));
  flush_forced();
  REQUIRE(session.delivered().size() == 1);
  CUptiResult end = CUPTI_SUCCESS;
  CHECK(records_in(session.delivered()[0], &end).size() == 2);
  CHECK(end == CUPTI_ERROR_INVALID_KIND);
  submit(4, 4);
  check(cuptiActivityFlushAll(0));
  CHECK(correlations(session) == Ids{1, 2, 4});
}

TEST_CASE("fault: records of a kind that the headers do not know") {
  Session session{{{"unknown_kind", "2"}}};
  enable_kernels();
  submit(1, 5);
  flush_forced();
  CHECK(correlations(session) == Ids{1, 2, 3, 4, 5});
  const auto unknown = session.records_of<cupti::UnknownRecord>(cupti::kUnknownKind);
  REQUIRE(unknown.size() == 2);
  CHECK(unknown[0].content[0] == 0xa5a5a5a5);
  CHECK(session.records()[2]->kind == cupti::kUnknownKind);
}

TEST_CASE("fault: records are longer than this version's structs") {
  Session session{{{"longer_records", "24"}, {"unknown_kind", "3"}}};
  enable_kernels();
  submit(1, 3);
  flush_forced();
  CHECK(correlations(session) == Ids{1, 2, 3});
  const auto records = session.records();
  REQUIRE(records.size() == 4);
  const auto* first = reinterpret_cast<const std::uint8_t*>(records[0]);
  CHECK(reinterpret_cast<const std::uint8_t*>(records[1]) - first ==
        static_cast<std::ptrdiff_t>(sizeof(CUpti_ActivityKernel10) + 24));
  CHECK(first[sizeof(CUpti_ActivityKernel10)] == cupti::kAddedByte);
  CHECK(session.delivered()[0].valid_size ==
        3 * (sizeof(CUpti_ActivityKernel10) + 24) + sizeof(cupti::UnknownRecord) + 24);
}

TEST_CASE("fault: another version") {
  Session session{{{"version", "24"}}};
  std::uint32_t version = 0;
  check(cuptiGetVersion(&version));
  CHECK(version == 24);
}

TEST_CASE("fault: names of an unloaded module give way to the next one's") {
  Session session{{{"reused_names", "1"}}};
  enable_kernels();
  Kernel first = kernel(1, kPast);
  first.name = "first";
  first.module_id = 1;
  Kernel other = kernel(2, kPast);
  other.name = "other";
  other.module_id = 2;
  observer().submitted(first);
  observer().submitted(other);
  ResourceEvent unload;
  unload.what = ResourceEvent::What::module_unload_starting;
  unload.module_id = 1;
  observer().resource(unload);
  Kernel second = kernel(3, kPast);
  second.name = "second";
  second.module_id = 3;
  observer().submitted(second);
  flush_forced();
  const auto records = kernels(session);
  REQUIRE(records.size() == 3);
  CHECK(records[0].name == records[2].name);
  CHECK(std::string{records[0].name} == "second");
  CHECK(std::string{records[1].name} == "other");
}

TEST_CASE("fault: CUPTI's clock is set while the program runs") {
  // Relative to the virtual clock's zero.
  const std::string at = std::to_string(950'000 - kEpochNs);
  const std::int64_t by_ns = GENERATE(5'000'000, -700'000);
  Session session{{{"clock_step_at_ns", at}, {"clock_step_ns", std::to_string(by_ns)}}};
  enable_kernels();
  Kernel before = kernel(1, kPast);
  Kernel across = kernel(2, 1'000'000);
  across.at.start_ns = 940'000;
  observer().submitted(before);
  observer().submitted(across);
  flush_forced();
  const auto records = kernels(session);
  REQUIRE(records.size() == 2);
  CHECK(records[0].end == 900'000);
  CHECK(records[1].start == 940'000);
  CHECK(records[1].end == static_cast<std::uint64_t>(1'000'000 + by_ns));
  std::uint64_t now = 0;
  check(cuptiGetTimestamp(&now));
  CHECK(now == static_cast<std::uint64_t>(1'000'000 + by_ns));
}

TEST_CASE("fault: no buffer comes back before a flush by force") {
  Session session{{{"buffers_held", "1"}}};
  session.most_records = 2;
  enable_kernels();
  submit(1, 7);
  check(cuptiActivityFlushAll(0));
  CHECK(session.delivered().empty());
  CHECK(session.requests() == 4);
  session.refuses = true;  // the client's pool is empty
  submit(8, 10);
  CHECK(dropped() == 2);  // the fourth buffer had room for one more
  flush_forced();
  CHECK(correlations(session) == Ids{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("fault: a destroyed context takes along what was not delivered") {
  Session session{{{"context_loses_records", "1"}}};
  session.most_records = 2;
  enable_kernels();
  observer().submitted(kernel(1, kFuture));
  submit(2, 3);
  const ContextInfo context{1, reinterpret_cast<CUcontext>(0x40), 0, 7};
  ResourceEvent destroy;
  destroy.what = ResourceEvent::What::context_destroy_starting;
  destroy.context = &context;
  observer().resource(destroy);
  submit(4, 4);
  flush_forced();
  CHECK(correlations(session) == Ids{4});
  CHECK(dropped() == 3);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 3);
  CHECK(buffers[0].valid_size == 0);
  CHECK(buffers[1].valid_size == 0);
}
