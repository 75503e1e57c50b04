// A client of the fake CUPTI for the length of a test: hands out buffers, keeps what comes back and
// subscribes to callbacks.
#pragma once

#include <cupti.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/simgpu/cupti/tests/fake_engine.hpp"

namespace gprofml::simgpu::test {

/// A buffer that came back.
struct Delivered {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t valid_size = 0;
  std::thread::id thread;
};

/// One at a time. Everything is undone when it goes.
class Session {
 public:
  /// `faults`: of the model file.
  explicit Session(const std::map<std::string, std::string>& faults = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What the next requests for buffers are answered with.
  std::size_t buffer_size = 4096;
  std::size_t most_records = 0;
  bool refuses = false;
  std::uint8_t initial_byte = 0;
  std::function<void()> when_requested;
  std::function<void()> when_completed;

  std::size_t requests();
  std::vector<Delivered> delivered();
  void wait_for_deliveries(std::size_t count);

  /// All records that came back, in order, up to the first invalid one of each buffer.
  std::vector<const CUpti_Activity*> records();

  template <typename Record>
  std::vector<Record> records_of(CUpti_ActivityKind kind) {
    std::vector<Record> found;
    for (const CUpti_Activity* record : records()) {
      if (record->kind == kind) found.push_back(*reinterpret_cast<const Record*>(record));
    }
    return found;
  }

 private:
  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                        std::size_t size, std::size_t valid_size);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t requests_ = 0;
  std::vector<Delivered> delivered_;
  std::deque<std::vector<std::uint64_t>> memory_;
};

/// The records of one buffer; `end` is what GetNextRecord said in the end.
std::vector<const CUpti_Activity*> records_in(const Delivered& buffer, CUptiResult* end = nullptr);

inline void check(CUptiResult result) {
  if (result != CUPTI_SUCCESS) throw result;
}

// --- events ------------------------------------------------------------------------------------

/// A kernel of the first context that ends at `end_ns`.
Kernel kernel(std::uint32_t correlation, std::int64_t end_ns);

/// cudaLaunchKernel, begun and ended.
ApiCall launch_call(std::uint32_t correlation);

/// Tells the observer of a call from begin to end.
void tell(const ApiCall& call);

inline Observer& observer() {
  return *fake::engine().observer.load();
}

}  // namespace gprofml::simgpu::test
