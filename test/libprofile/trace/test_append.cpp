#include <catch2/catch.hpp>

#include "test/libprofile/trace/difference.hpp"
#include "test/libprofile/trace/trace_builder.hpp"

using namespace gprofml::profile;
using gprofml::test::TraceBuilder;

namespace {

/// A process whose one kernel says who it is by name, launch, op and device.
Trace one_process(std::string_view name, std::string_view uuid, std::string_view host,
                  std::string_view pci_bus) {
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  Device& device = b.trace.devices[0];
  device.uuid = b.trace.intern(uuid);
  device.host = b.trace.intern(host);
  device.pci_bus = b.trace.intern(pci_bus);
  b.call("unrelated", thread, 1, 2, 1);
  const RowIndex call = b.call(name, thread, 3, 4, 2);
  b.range("unrelated", thread, 0, 9);
  const RowIndex op = b.range(name, thread, 1, 8);
  const RowIndex kernel = b.kernel(name, stream, 10, 20, 2);
  b.trace.kernels.launch[kernel] = call;
  b.trace.kernels.op[kernel] = op;
  b.trace.quality.push_back({0, b.trace.intern("code"), 1, b.trace.intern(name)});
  return std::move(b.trace);
}

}  // namespace

TEST_CASE("two processes on one GPU share its row, by UUID or by host and PCI bus") {
  const bool by_uuid = GENERATE(true, false);
  Trace joint = by_uuid ? one_process("a", "GPU-1", "", "") : one_process("a", "", "node", "0:1");
  append(joint, by_uuid ? one_process("b", "GPU-1", "", "") : one_process("b", "", "node", "0:1"));
  REQUIRE(first_inconsistency(joint) == std::nullopt);
  CHECK(joint.devices.size() == 1);
  CHECK(joint.devices[0].process == kNoRow);
  CHECK(joint.processes.size() == 2);
  CHECK(joint.contexts.size() == 2);
  CHECK(joint.device_of_stream(joint.kernels.stream[1]) == 0);
  CHECK(joint.process_of_stream(joint.kernels.stream[1]) == 1);
}

TEST_CASE("without a common identity two devices 0 stay two") {
  const auto devices_of = [](Trace a, const Trace& b) {
    append(a, b);
    REQUIRE(first_inconsistency(a) == std::nullopt);
    return a.devices.size();
  };
  CHECK(devices_of(one_process("a", "", "", ""), one_process("b", "", "", "")) == 2);
  CHECK(devices_of(one_process("a", "GPU-1", "n", "0:1"), one_process("b", "GPU-2", "n", "0:1")) ==
        2);
  CHECK(devices_of(one_process("a", "", "n1", "0:1"), one_process("b", "", "n2", "0:1")) == 2);
  CHECK(devices_of(one_process("a", "", "", "0:1"), one_process("b", "", "", "0:1")) == 2);
}

TEST_CASE("every reference of the appended trace is carried over") {
  Trace joint = one_process("a", "", "", "");
  append(joint, one_process("b", "", "", ""));
  append(joint, one_process("c", "", "", ""));
  for (RowIndex row = 0; row < 3; ++row) {
    const std::string name(1, static_cast<char>('a' + row));
    CHECK(joint.text(joint.kernels.name[row]) == name);
    CHECK(joint.text(joint.api_calls.name[joint.kernels.launch[row]]) == name);
    CHECK(joint.text(joint.ranges.name[joint.kernels.op[row]]) == name);
    CHECK(joint.threads[joint.api_calls.thread[joint.kernels.launch[row]]].process == row);
    CHECK(joint.quality[row].process == row);
    CHECK(joint.text(joint.quality[row].detail) == name);
  }
}

TEST_CASE("appending to nothing gives the trace itself") {
  const Trace whole = one_process("a", "GPU-1", "node", "0:1");
  Trace empty;
  append(empty, whole);
  CHECK(gprofml::test::first_difference(empty, whole) == "");
}
