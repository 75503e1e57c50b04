// CUPTI's own work: what it costs and which records say so.
#include <catch2/catch.hpp>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

std::vector<CUpti_ActivityOverhead3> overheads(Session& session) {
  return session.records_of<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
}

}  // namespace

TEST_CASE("a request for a buffer costs its thread what the model says, and has a record") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
  fake::engine().overheads.buffer_request_ns = 3000;
  observer().submitted(kernel(1, 900'000));
  observer().submitted(kernel(2, 900'000));
  CHECK(now_ns() == 1'003'000);
  check(cuptiActivityFlushAll(0));
  const auto records = overheads(session);
  REQUIRE(records.size() == 1);
  CHECK(records[0].overheadKind == CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
  CHECK(records[0].objectKind == CUPTI_ACTIVITY_OBJECT_THREAD);
  CHECK(records[0].start == 1'000'000);
  CHECK(records[0].end == 1'003'000);
}

TEST_CASE("a flush costs the flushing thread, if there is something to flush") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
  fake::engine().overheads.buffer_flush_ns = 5000;
  check(cuptiActivityFlushAll(0));
  observer().submitted(kernel(1, 900'000));
  check(cuptiActivityFlushAll(0));
  check(cuptiActivityFlushAll(0));
  const auto records = overheads(session);
  REQUIRE(records.size() == 1);
  CHECK(records[0].overheadKind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
  CHECK(records[0].end - records[0].start == 5000);
}

TEST_CASE("without costs in the model there are no such records") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
  observer().submitted(kernel(1, 900'000));
  check(cuptiActivityFlushAll(0));
  CHECK(overheads(session).empty());
  CHECK(now_ns() == 1'000'000);
}

TEST_CASE("a submission that waits for room in the launch queue is an overhead of its stream") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
  observer().waited({700'000, 800'000, 1, 2, 13, 55});
  check(cuptiActivityFlushAll(0));
  const auto records = overheads(session);
  REQUIRE(records.size() == 1);
  CHECK(records[0].overheadKind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
  CHECK(records[0].objectId.dcs.deviceId == 1);
  CHECK(records[0].objectId.dcs.contextId == 2);
  CHECK(records[0].objectId.dcs.streamId == 13);
  CHECK(records[0].start == 700'000);
  CHECK(records[0].end == 800'000);
  CHECK(records[0].correlationId == 55);
  const auto* data =
      static_cast<const CUpti_ActivityOverheadCommandBufferFullData*>(records[0].overheadData);
  REQUIRE(data != nullptr);
  CHECK(data->commandBufferLength == 0);
  CHECK(data->channelID == 13);
}
