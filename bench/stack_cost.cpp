// What a call stack costs: the thread that launches, which copies its stack and follows frame
// pointers, and the writer, which keeps what unwinding needs and tells equal stacks.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <vector>

#include "bench/bench_output.hpp"
#include "injection/stack_records.hpp"
#include "injection/system.hpp"

namespace {

namespace bench = gprofml::bench;
namespace injection = gprofml::injection;

constexpr int kStacks = 100;  // that a ring holds, and more
constexpr int kRounds = 200;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::int64_t cpu_ns() {
  return static_cast<std::int64_t>(injection::thread_cpu_ns());
}

struct Ring {
  Ring() : ring(*table->acquire(this)) {}
  std::unique_ptr<injection::RingTable> table = std::make_unique<injection::RingTable>();
  injection::EventRing& ring;
};

/// Takes stacks `depth` calls of about 100 bytes deep; ns of one.
__attribute__((noinline, optimize("no-omit-frame-pointer"))) double take(injection::EventRing& ring,
                                                                         int depth) {
  volatile char room[64];
  room[0] = static_cast<char>(depth);
  double result = 0;
  if (depth > 0) {
    result = take(ring, depth - 1);
  } else {
    const std::int64_t begin_ns = cpu_ns();
    for (std::uint32_t i = 1; i <= kStacks; ++i) injection::take_stack(ring, i, 0);
    result = static_cast<double>(cpu_ns() - begin_ns) / kStacks;
  }
  room[1] = room[0];
  return result;
}

void measure() {
  Ring ring;
  const auto folder = std::filesystem::temp_directory_path() / "gprofml_bench_stacks";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto file = std::make_unique<injection::SpoolFile>();
  const auto stream = std::make_unique<injection::RecordStream>();
  if (!file->create(folder.c_str(), "bench", 1) || !stream->start(*file)) return;
  const auto drain = [&] {
    ring.ring.drain([&](const injection::EventHeader& event) {
      injection::write_stack(*stream, ring.ring,
                             reinterpret_cast<const injection::StackEvent&>(event));
    });
  };
  std::vector<double> shallow, deep, writer;
  for (int round = 0; round < kRounds; ++round) {
    shallow.push_back(take(ring.ring, 20));
    drain();
    deep.push_back(take(ring.ring, 80));
    const std::int64_t begin_ns = cpu_ns();
    drain();
    writer.push_back(static_cast<double>(cpu_ns() - begin_ns) / kStacks);
  }
  bench::report("stack_ns_20_frames", median(shallow), "ns", "", true);
  bench::report("stack_ns_80_frames", median(deep), "ns", "", true);
  bench::report("stack_writer_ns", median(writer), "ns", "", true);
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::bench_main(
      argc, argv, {{{"stack_ns_20_frames", "stack_ns_80_frames", "stack_writer_ns"}, measure}});
}
