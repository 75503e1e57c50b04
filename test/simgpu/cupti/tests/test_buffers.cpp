// What the documentation says of buffers, flushes and dropped records.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

constexpr std::int64_t kPast = 900'000;
constexpr std::int64_t kFuture = 2'000'000;  // the clock stands at 1'000'000
constexpr std::size_t kKernelSize = sizeof(CUpti_ActivityKernel10);

void enable_kernels() {
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

std::vector<std::uint32_t> correlations(Session& session) {
  std::vector<std::uint32_t> all;
  const auto kernels =
      session.records_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (const auto& record : kernels) all.push_back(record.correlationId);
  return all;
}

using Ids = std::vector<std::uint32_t>;

std::size_t dropped() {
  std::size_t count = 0;
  check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &count));
  return count;
}

void set_attribute(CUpti_ActivityAttribute attribute, std::uint8_t value) {
  std::size_t size = sizeof value;
  check(cuptiActivitySetAttribute(attribute, &size, &value));
}

}  // namespace

TEST_CASE("records stand one after the other in the order of submission") {
  Session session;
  enable_kernels();
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  ApiCall call = launch_call(5);
  observer().api_enter(call);
  observer().submitted(kernel(5, kPast));
  observer().api_exit(call);
  tell(launch_call(6));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 1);
  CHECK(buffers[0].size == 4096);
  CHECK(buffers[0].valid_size == kKernelSize + 2 * sizeof(CUpti_ActivityAPI));
  CUptiResult end = CUPTI_SUCCESS;
  const auto records = records_in(buffers[0], &end);
  CHECK(end == CUPTI_ERROR_MAX_LIMIT_REACHED);
  REQUIRE(records.size() == 3);
  CHECK(records[0]->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CHECK(records[1]->kind == CUPTI_ACTIVITY_KIND_RUNTIME);
  CHECK(records[2]->kind == CUPTI_ACTIVITY_KIND_RUNTIME);
  CHECK(dropped() == 0);
}

TEST_CASE("a flush withholds a buffer until its last record is finished") {
  Session session;
  enable_kernels();
  observer().submitted(kernel(1, kFuture));
  observer().submitted(kernel(2, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(session.delivered().empty());
  observer().submitted(kernel(3, kPast));  // still into the same buffer
  fake::engine().now_ns = kFuture - 1;
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(session.delivered().empty());
  fake::engine().now_ns = kFuture;
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2, 3});
  CHECK(session.requests() == 1);
}

TEST_CASE("a forced flush returns everything and invalidates what is not finished") {
  Session session;
  enable_kernels();
  observer().submitted(kernel(1, kPast));
  observer().submitted(kernel(2, kFuture));
  observer().submitted(kernel(3, kPast));
  REQUIRE(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 1);
  CHECK(buffers[0].valid_size == 3 * kKernelSize);
  CUptiResult end = CUPTI_SUCCESS;
  CHECK(records_in(buffers[0], &end).size() == 1);
  CHECK(end == CUPTI_ERROR_INVALID_KIND);
}

TEST_CASE("a forced flush leaves alone what has finished since it was written") {
  Session session;
  enable_kernels();
  observer().submitted(kernel(1, kFuture));
  observer().submitted(kernel(2, 2 * kFuture));
  fake::engine().now_ns = 2 * kFuture;
  REQUIRE(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2});
}

TEST_CASE("on the wall clock a finished buffer does not wait for an earlier one") {
  Session session;
  fake::engine().is_virtual = false;
  session.most_records = 1;
  enable_kernels();
  observer().submitted(kernel(1, kFuture));
  observer().submitted(kernel(2, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{2});
  fake::engine().now_ns = kFuture;
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{2, 1});
}

TEST_CASE("on the virtual clock buffers of a thread come back in order") {
  Session session;
  session.most_records = 1;
  enable_kernels();
  observer().submitted(kernel(1, kFuture));
  observer().submitted(kernel(2, kPast));
  session.most_records = 0;
  observer().submitted(kernel(3, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(session.delivered().empty());
  fake::engine().now_ns = kFuture;
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2, 3});
}

TEST_CASE("a full buffer is completed without a flush and not on the producing thread") {
  Session session;
  session.buffer_size = 2 * kKernelSize + 40;  // room for two, and some to spare
  enable_kernels();
  for (std::uint32_t id = 1; id <= 5; ++id) observer().submitted(kernel(id, kPast));
  session.wait_for_deliveries(2);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 2);
  CHECK(buffers[0].valid_size == 2 * kKernelSize);
  CHECK(buffers[0].thread != std::this_thread::get_id());
  CHECK(correlations(session) == Ids{1, 2, 3, 4});
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2, 3, 4, 5});
}

TEST_CASE("a buffer takes no more records than the client allows") {
  Session session;
  session.most_records = 3;
  enable_kernels();
  for (std::uint32_t id = 1; id <= 7; ++id) observer().submitted(kernel(id, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 3);
  CHECK(records_in(buffers[0]).size() == 3);
  CHECK(records_in(buffers[1]).size() == 3);
  CHECK(records_in(buffers[2]).size() == 1);
}

TEST_CASE("without a buffer records are dropped and counted until someone reads the count") {
  Session session;
  enable_kernels();
  session.refuses = true;
  observer().submitted(kernel(1, kPast));
  observer().submitted(kernel(2, kPast));
  CHECK(dropped() == 2);
  CHECK(dropped() == 0);
  session.refuses = false;
  observer().submitted(kernel(3, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{3});
  CHECK(cuptiActivityGetNumDroppedRecords(nullptr, 0, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("a buffer that is too small comes back empty and its record is dropped") {
  Session session;
  enable_kernels();
  session.buffer_size = kKernelSize - 8;
  observer().submitted(kernel(1, kPast));
  CHECK(dropped() == 1);
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  const auto buffers = session.delivered();
  REQUIRE(buffers.size() == 1);
  CHECK(buffers[0].valid_size == 0);
}

TEST_CASE("buffers are zeroed unless the client says that they are") {
  Session session;
  enable_kernels();
  session.initial_byte = 0xff;
  observer().submitted(kernel(1, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  const auto clean =
      session.records_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  REQUIRE(clean.size() == 1);
  CHECK(clean[0].queued == 0);
  set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
  observer().submitted(kernel(2, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  const auto both =
      session.records_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  REQUIRE(both.size() == 2);
  CHECK(both[1].queued == ~std::uint64_t{0});  // the client lied, and that is what it gets
}

TEST_CASE("each thread has a buffer of its own, or all share one") {
  Session session;
  const bool shared = GENERATE(false, true);
  if (shared) set_attribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
  enable_kernels();
  observer().submitted(kernel(1, kPast));
  std::thread{[] { observer().submitted(kernel(2, kPast)); }}.join();
  CHECK(session.requests() == (shared ? 1 : 2));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(session.delivered().size() == (shared ? 1 : 2));
  CHECK(correlations(session).size() == 2);
}

TEST_CASE("the buffer of a thread that ended is given back when its records are finished") {
  Session session;
  enable_kernels();
  std::thread{[] { observer().submitted(kernel(1, kPast)); }}.join();
  session.wait_for_deliveries(1);
  std::thread{[] { observer().submitted(kernel(2, kFuture)); }}.join();
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1});
  fake::engine().now_ns = kFuture;
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2});
}

TEST_CASE("the client may call CUPTI from its buffer callbacks") {
  Session session;
  enable_kernels();
  session.when_requested = [] { dropped(); };
  session.when_completed = [] {
    dropped();
    check(cuptiActivityFlushAll(0));
  };
  session.most_records = 1;
  for (std::uint32_t id = 1; id <= 4; ++id) observer().submitted(kernel(id, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2, 3, 4});
}

TEST_CASE("records made while the client is asked for a buffer are dropped") {
  Session session;
  enable_kernels();
  session.when_requested = [] { observer().submitted(kernel(99, kPast)); };
  observer().submitted(kernel(1, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1});
  CHECK(dropped() == 1);
}

TEST_CASE("a periodic flush returns only buffers that are full and finished") {
  Session session;
  fake::engine().is_virtual = false;
  session.most_records = 2;
  enable_kernels();
  observer().submitted(kernel(1, kPast));
  observer().submitted(kernel(2, kFuture));
  observer().submitted(kernel(3, kPast));  // in a buffer that is finished, but not full
  fake::engine().now_ns = kFuture;
  REQUIRE(cuptiActivityFlushPeriod(1) == CUPTI_SUCCESS);
  session.wait_for_deliveries(1);
  REQUIRE(cuptiActivityFlushPeriod(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2});
}

TEST_CASE("a child that was forked from a recorded process records nothing") {
  Session session;
  enable_kernels();
  observer().submitted(kernel(1, kPast));
  const pid_t child = fork();
  if (child == 0) {
    observer().submitted(kernel(2, kPast));
    tell(launch_call(2));
    const bool flushed = cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS;
    _exit(flushed && session.delivered().empty() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1});
}

TEST_CASE("the model can have every n-th record dropped") {
  Session session{{{"drop_every", "3"}}};
  enable_kernels();
  for (std::uint32_t id = 1; id <= 7; ++id) observer().submitted(kernel(id, kPast));
  REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
  CHECK(correlations(session) == Ids{1, 2, 4, 5, 7});
  CHECK(dropped() == 2);
}

TEST_CASE("flushing needs registered callbacks and both of them") {
  CHECK(cuptiActivityRegisterCallbacks(nullptr, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiGetLastError() == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiGetLastError() == CUPTI_SUCCESS);
}
