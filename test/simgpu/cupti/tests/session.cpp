#include "test/simgpu/cupti/tests/session.hpp"

#include <unistd.h>

#include <atomic>
#include <cstring>

namespace gprofml::simgpu::test {
namespace {

std::atomic<Session*> session{nullptr};

}  // namespace

Session::Session(const std::map<std::string, std::string>& faults) {
  fake::reset_engine();
  fake::engine().faults = faults;
  session = this;
  check(cuptiActivityRegisterCallbacks(requested, completed));
}

Session::~Session() {
  cuptiActivityFlushPeriod(0);
  when_requested = nullptr;
  when_completed = nullptr;
  fake::engine().faults.clear();
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  cuptiFinalize();
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  std::uint8_t per_thread = 1;
  std::uint8_t zeroed = 0;
  std::size_t size = sizeof per_thread;
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread);
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  cuptiActivityEnableLatencyTimestamps(0);
  cuptiActivityEnableCudaEventDeviceTimestamps(0);
  cuptiActivityEnableAllSyncRecords(1);
  session = nullptr;
}

void Session::requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  Session& own = *session;
  if (own.when_requested) own.when_requested();
  const std::lock_guard lock{own.mutex_};
  ++own.requests_;
  *buffer = nullptr;
  *size = 0;
  *most_records = own.most_records;
  if (own.refuses) return;
  own.memory_.emplace_back((own.buffer_size + 7) / 8);
  *buffer = reinterpret_cast<std::uint8_t*>(own.memory_.back().data());
  *size = own.buffer_size;
  std::memset(*buffer, own.initial_byte, own.buffer_size);
}

void Session::completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                        std::size_t valid_size) {
  Session& own = *session;
  if (own.when_completed) own.when_completed();
  const std::lock_guard lock{own.mutex_};
  own.delivered_.push_back({buffer, size, valid_size, std::this_thread::get_id()});
  own.changed_.notify_all();
}

std::size_t Session::requests() {
  const std::lock_guard lock{mutex_};
  return requests_;
}

std::vector<Delivered> Session::delivered() {
  const std::lock_guard lock{mutex_};
  return delivered_;
}

void Session::wait_for_deliveries(std::size_t count) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return delivered_.size() >= count; });
}

std::vector<const CUpti_Activity*> Session::records() {
  std::vector<const CUpti_Activity*> all;
  for (const Delivered& buffer : delivered()) {
    for (const CUpti_Activity* record : records_in(buffer)) all.push_back(record);
  }
  return all;
}

std::vector<const CUpti_Activity*> records_in(const Delivered& buffer, CUptiResult* end) {
  std::vector<const CUpti_Activity*> all;
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  for (;;) {
    result = cuptiActivityGetNextRecord(buffer.bytes, buffer.valid_size, &record);
    if (result != CUPTI_SUCCESS) break;
    all.push_back(record);
  }
  if (end != nullptr) *end = result;
  return all;
}

Kernel kernel(std::uint32_t correlation, std::int64_t end_ns) {
  Kernel made;
  made.at.start_ns = end_ns - 100;
  made.at.end_ns = end_ns;
  made.at.context_id = 1;
  made.at.stream_id = 7;
  made.at.correlation = correlation;
  made.name = "_Z6kernelv";
  return made;
}

ApiCall launch_call(std::uint32_t correlation) {
  ApiCall call;
  call.callback_id = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.name = "cudaLaunchKernel_v7000";
  call.correlation = correlation;
  call.tid = static_cast<std::uint32_t>(gettid());
  call.pthread = pthread_self();
  call.context_id = 1;
  call.start_ns = 900'000;
  call.end_ns = 900'500;
  return call;
}

void tell(const ApiCall& call) {
  ApiCall entry = call;
  entry.end_ns = 0;
  observer().api_enter(entry);
  observer().api_exit(call);
}

}  // namespace gprofml::simgpu::test
