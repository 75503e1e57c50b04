// What the real libcupti does without a GPU is the truth for the fake: names, results, lengths of
// records. Without that library these tests say so and pass.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "test/simgpu/cupti/tests/session.hpp"

namespace {

/// Opened by path and for itself, so that its symbols and the fake's do not mix.
void* real_library() {
  static void* const opened = [] {
    void* library = dlopen(GPROFML_REAL_CUPTI, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) WARN("no libcupti to compare with: " << dlerror());
    return library;
  }();
  return opened;
}

template <typename Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(real_library(), name));
}

/// Text and result of a function that gives a name.
template <typename Call>
std::string answer_of(const Call& call) {
  const char* text = nullptr;
  const CUptiResult result = call(&text);
  return std::to_string(result) + " " + (text == nullptr ? "nothing" : text);
}

}  // namespace

TEST_CASE("callbacks have the names that the real library gives") {
  if (real_library() == nullptr) return;
  auto* const name = real(cuptiGetCallbackName, "cuptiGetCallbackName");
  REQUIRE(name != nullptr);
  for (int d = 0; d <= CUPTI_CB_DOMAIN_SIZE; ++d) {
    const auto domain = static_cast<CUpti_CallbackDomain>(d);
    for (std::uint32_t id = 0; id < 1000; ++id) {
      const auto expected = answer_of([&](const char** text) { return name(domain, id, text); });
      const auto found =
          answer_of([&](const char** text) { return cuptiGetCallbackName(domain, id, text); });
      if (found != expected)
        FAIL("domain " << d << ", id " << id << ": " << found << ", not " << expected);
    }
  }
}

TEST_CASE("results have the names that the real library gives") {
  if (real_library() == nullptr) return;
  auto* const name = real(cuptiGetResultString, "cuptiGetResultString");
  REQUIRE(name != nullptr);
  // Beyond the header's last code it has private ones.
  for (int code = 0; code <= 999; ++code) {
    const auto result = static_cast<CUptiResult>(code);
    CHECK(answer_of([&](const char** text) { return cuptiGetResultString(result, text); }) ==
          answer_of([&](const char** text) { return name(result, text); }));
  }
}

TEST_CASE("version and supported chips are those of the real library") {
  if (real_library() == nullptr) return;
  std::uint32_t expected_version = 0;
  std::uint32_t version = 1;
  real(cuptiGetVersion, "cuptiGetVersion")(&expected_version);
  cuptiGetVersion(&version);
  CHECK(version == expected_version);
  auto* const supported = real(cuptiComputeCapabilitySupported, "cuptiComputeCapabilitySupported");
  for (int major = 0; major < 15; ++major) {
    for (int minor = 0; minor < 10; ++minor) {
      int expected = -1;
      int found = -2;
      supported(major, minor, &expected);
      cuptiComputeCapabilitySupported(major, minor, &found);
      INFO(major << "." << minor);
      CHECK(found == expected);
    }
  }
}

TEST_CASE("records are as long as the real library takes them to be") {
  if (real_library() == nullptr) return;
  auto* const next = real(cuptiActivityGetNextRecord, "cuptiActivityGetNextRecord");
  REQUIRE(next != nullptr);
  for (std::uint32_t kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT + 10U; ++kind) {
    // The kind stands wherever a next record may begin.
    std::vector<std::uint64_t> memory(64, kind);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(memory.data());
    for (std::size_t valid = 0; valid <= 512; valid += 4) {
      CUpti_Activity* expected = nullptr;
      CUpti_Activity* found = nullptr;
      for (int step = 0; step < 4; ++step) {
        const CUptiResult expected_result = next(bytes, valid, &expected);
        const CUptiResult result = cuptiActivityGetNextRecord(bytes, valid, &found);
        if (result != expected_result || found != expected) {
          FAIL("kind "
               << kind << ", " << valid << " bytes, step " << step << ": " << result << " at "
               << (found == nullptr ? -1 : reinterpret_cast<std::uint8_t*>(found) - bytes)
               << ", not " << expected_result << " at "
               << (expected == nullptr ? -1 : reinterpret_cast<std::uint8_t*>(expected) - bytes));
        }
      }
    }
  }
}

TEST_CASE("the real library walks a buffer of the fake as the fake does") {
  if (real_library() == nullptr) return;
  using namespace gprofml::simgpu;
  auto* const next = real(cuptiActivityGetNextRecord, "cuptiActivityGetNextRecord");
  test::Session session;
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                          CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                          CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                          CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_FUNCTION}) {
    test::check(cuptiActivityEnable(kind));
  }
  Copy copy;
  Copy peer;
  peer.kind = CopyKind::peer_to_peer;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    test::observer().submitted(copy);
    test::observer().submitted(test::kernel(id, id == 3 ? 2'000'000 : 900'000));
    test::observer().submitted(peer);
    test::observer().submitted(Fill{});
    test::tell(test::launch_call(id));
    test::observer().synchronised(Sync{});
    test::observer().recorded(EventRecord{});
  }
  test::check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  REQUIRE(session.delivered().size() == 1);
  const test::Delivered buffer = session.delivered()[0];
  CUptiResult end = CUPTI_SUCCESS;
  const auto records = test::records_in(buffer, &end);
  CHECK(end == CUPTI_ERROR_INVALID_KIND);
  CHECK(records.size() > 10);
  CUpti_Activity* record = nullptr;
  for (const CUpti_Activity* expected : records) {
    REQUIRE(next(buffer.bytes, buffer.valid_size, &record) == CUPTI_SUCCESS);
    REQUIRE(record == expected);
  }
  CHECK(next(buffer.bytes, buffer.valid_size, &record) == end);
}
