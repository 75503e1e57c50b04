// The buffers that CUPTI fills: a fixed pool, handed out and taken back without locks, because both
// happens in the program's threads.
//
//   free stack ──request()──► CUPTI fills ──complete()──► full stack ──take_full()──► writer
//        ▲                                                                              │
//        └───────────────────────── give_back(): zeroed again ──────────────────────────┘
//
// With no free buffer CUPTI gets a buffer that everybody shares and nobody reads; what it puts
// there is counted, as far as it can be told. (Refusing a buffer crashed CUPTI before 12.9.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

class ActivityBuffers {
 public:
  // A buffer with an unfinished record is withheld and lost to a SIGKILL, with all that is finished
  // in it: some 250 launches. Larger ones cost the launching thread no less that could be measured.
  static constexpr std::size_t kBytes = std::size_t{64} * 1024;
  static constexpr std::uint32_t kCount = 2048;

  struct Full {
    Full* next;
    unsigned char* data;
    std::size_t valid_bytes;
  };

  /// Reserves the pool; memory is taken page by page as it is used. False when there is none.
  bool start();

  // --- in CUPTI's callbacks
  unsigned char* request();
  /// `records` in a shared buffer are counted as discarded.
  void complete(unsigned char* data, std::size_t valid_bytes, std::uint64_t records);
  bool is_shared(const unsigned char* data) const { return data == shared_; }
  /// Some buffer has come back and not been taken yet.
  bool has_full() const { return full_.load(std::memory_order_acquire) != nullptr; }
  /// Fewer than half of the pool is free.
  bool is_running_out() const { return free_count_.load(std::memory_order_relaxed) < kCount / 2; }

  // --- the writer's
  /// How many were requested so far, and which of those (counted from 1) is the oldest that has not
  /// come back; UINT64_MAX: all have. Asked before take_full(), that call has all older ones.
  std::uint64_t requested() const { return requested_.load(std::memory_order_acquire); }
  std::uint64_t oldest_out() const;
  /// All buffers that came back since the last call, oldest first.
  Full* take_full();
  void give_back(Full& buffer);

  std::uint64_t discarded() const { return discarded_.load(std::memory_order_relaxed); }
  void count_discarded(std::uint64_t records) {
    discarded_.fetch_add(records, std::memory_order_relaxed);
  }

  std::uint64_t unknown_records = 0;
  std::uint64_t incomplete_records = 0;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  void push_free(std::uint32_t index);
  std::uint32_t pop_free();

  unsigned char* pool_ = nullptr;
  unsigned char* shared_ = nullptr;
  /// Index of the top (low half) and a count of changes (high half), against ABA.
  std::atomic<std::uint64_t> free_{kNone};
  std::atomic<std::uint32_t> free_count_{0};
  std::atomic<std::uint32_t> next_free_[kCount];
  std::atomic<std::uint64_t> requested_{0};
  std::atomic<std::uint64_t> out_as_[kCount];  ///< which request it answered; 0: it is not out
  std::atomic<Full*> full_{nullptr};
  Full descriptors_[kCount];
  std::atomic<std::uint64_t> discarded_{0};
};

}  // namespace gprofml::injection
