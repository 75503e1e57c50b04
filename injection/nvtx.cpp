#include "injection/nvtx.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "injection/nvtx_payloads.hpp"
#include "injection/recorder.hpp"
#include "injection/utf8.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kTrackedLevels = 64;
// Marks the id of a range whose start was lost, so that its end is lost too.
constexpr std::uint64_t kLostRange = std::uint64_t{1} << 63;
constexpr int kNoOpenRange = -1;

struct Text {
  TextKind kind = TextKind::none;
  const void* bytes = nullptr;  ///< registered: the address of the pointer to the string
  std::size_t size = 0;
};

Text plain_text(const char* text) {
  if (text == nullptr) return {};
  return {TextKind::inline_text, text, utf8_length(text, kLongestName)};
}

void count_lost() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->ranges_lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_unknown_handle() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->unknown_handles.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_unopened() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
    recorder->unopened_ends.fetch_add(1, std::memory_order_relaxed);
  }
}

/// In place of Extras where there are none: ranges without them, nearly all, must not pay for it.
struct NoExtras {};
constexpr NoExtras kNoExtras;

std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

/// Puts a push, mark or start into the ring; false when it is full. The time is taken last, so that
/// what we do here is not in the range.
template <class MaybeExtras>
bool put_named(EventRing& ring, EventKind kind, const Domain& domain, std::uint64_t range,
               std::uint32_t category, const Text& text, const MaybeExtras& extras) {
  constexpr bool kHasExtras = std::is_same_v<MaybeExtras, Extras>;
  const std::size_t text_end = sizeof(NamedEvent) + padded(text.size);
  std::size_t bytes = text_end;
  if constexpr (kHasExtras) bytes += extras.bytes();
  auto* event = static_cast<NamedEvent*>(ring.reserve(bytes, ring.headroom_to_open()));
  if (event == nullptr) return false;
  event->header = {static_cast<std::uint32_t>(bytes), kind, text.kind};
  if constexpr (kHasExtras) {
    event->header.has_extras = 1;
    extras.copy_to(reinterpret_cast<unsigned char*>(event) + text_end);
  }
  event->range = range;
  event->domain = &domain;
  event->category = category;
  event->text_bytes = static_cast<std::uint32_t>(text.size);
  if (text.size > 0) std::memcpy(event + 1, text.bytes, text.size);
  event->time_ns = now_ns();
  ring.commit(bytes);
  return true;
}

bool put_closing(EventRing& ring, EventKind kind, const Domain& domain, std::uint64_t range,
                 std::int64_t time_ns, std::size_t headroom) {
  auto* event = static_cast<ClosingEvent*>(ring.reserve(sizeof(ClosingEvent), headroom));
  if (event == nullptr) return false;
  event->header = {sizeof(ClosingEvent), kind, TextKind::none};
  event->time_ns = time_ns;
  event->range = range;
  event->domain = &domain;
  ring.commit(sizeof(ClosingEvent));
  return true;
}

void remember_lost(Nesting& nesting, std::uint32_t level) {
  if (level < kTrackedLevels) {
    nesting.lost_levels |= std::uint64_t{1} << level;
  } else if (nesting.lost_from == 0) {
    nesting.lost_from = level;
  }
}

/// Whether the push at `level` was lost; forgets it.
bool take_lost(Nesting& nesting, std::uint32_t level) {
  if (level < kTrackedLevels) {
    const std::uint64_t bit = std::uint64_t{1} << level;
    const bool lost = (nesting.lost_levels & bit) != 0;
    nesting.lost_levels &= ~bit;
    return lost;
  }
  const bool lost = nesting.lost_from != 0;
  if (nesting.lost_from == level) nesting.lost_from = 0;
  return lost;
}

template <class MaybeExtras = NoExtras>
int push(const Domain& domain, std::uint32_t category, const Text& text,
         const MaybeExtras& extras = kNoExtras) {
  const TimedCallback timed;
  EventRing* ring = thread_ring();
  if (ring == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  if (domain.id >= kMostDomains) {
    count_lost();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  Nesting& nesting = ring->nesting(domain);
  const std::uint32_t level = nesting.depth++;
  if (nesting.lost_from == 0 &&
      put_named(*ring, EventKind::push, domain, 0, category, text, extras)) {
    ++ring->open_pushes;
  } else {
    remember_lost(nesting, level);
    count_lost();
  }
  after_commit(*ring);
  return static_cast<int>(level);
}

/// Payloads that belong to a pop or end stand in front of it. Lost when they do not fit.
void put_payloads(EventRing& ring, const Domain& domain, std::uint64_t range,
                  const Extras& extras) {
  const std::size_t bytes = sizeof(PayloadEvent) + extras.bytes();
  auto* event = static_cast<PayloadEvent*>(ring.reserve(bytes, ring.headroom_to_open()));
  if (event == nullptr) return count_lost();
  event->header = {static_cast<std::uint32_t>(bytes), EventKind::payload, TextKind::none};
  event->header.has_extras = 1;
  event->range = range;
  event->domain = &domain;
  extras.copy_to(reinterpret_cast<unsigned char*>(event + 1));
  ring.commit(bytes);
}

template <class MaybeExtras = NoExtras>
int pop(const Domain& domain, const MaybeExtras& extras = kNoExtras) {
  const TimedCallback timed;
  const std::int64_t time_ns = now_ns();
  EventRing* ring = thread_ring();
  if (ring == nullptr || domain.id >= kMostDomains) return NVTX_NO_PUSH_POP_TRACKING;
  Nesting& nesting = ring->nesting(domain);
  if (nesting.depth == 0) {
    count_unopened();
    return kNoOpenRange;
  }
  const std::uint32_t level = --nesting.depth;
  if (take_lost(nesting, level)) {
    count_lost();
    return static_cast<int>(level);
  }
  if constexpr (std::is_same_v<MaybeExtras, Extras>) put_payloads(*ring, domain, 0, extras);
  --ring->open_pushes;
  // The push made sure that there is room.
  put_closing(*ring, EventKind::pop, domain, 0, time_ns, 0);
  after_commit(*ring);
  return static_cast<int>(level);
}

template <class MaybeExtras = NoExtras>
void mark(const Domain& domain, std::uint32_t category, const Text& text,
          const MaybeExtras& extras = kNoExtras) {
  const TimedCallback timed;
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  if (domain.id >= kMostDomains ||
      !put_named(*ring, EventKind::mark, domain, 0, category, text, extras)) {
    count_lost();
  }
  after_commit(*ring);
}

template <class MaybeExtras = NoExtras>
nvtxRangeId_t start(const Domain& domain, std::uint32_t category, const Text& text,
                    const MaybeExtras& extras = kNoExtras) {
  const TimedCallback timed;
  EventRing* ring = thread_ring();
  if (ring == nullptr) return kLostRange;
  std::uint64_t range = ring->next_range();
  if (domain.id >= kMostDomains ||
      !put_named(*ring, EventKind::start, domain, range, category, text, extras)) {
    count_lost();
    range |= kLostRange;
  }
  after_commit(*ring);
  return range;
}

template <class MaybeExtras = NoExtras>
void end(const Domain& domain, nvtxRangeId_t range, const MaybeExtras& extras = kNoExtras) {
  const TimedCallback timed;
  const std::int64_t time_ns = now_ns();
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  if (range == 0) return count_unopened();  // no start ever returned it
  const bool is_lost = (range & kLostRange) != 0 || domain.id >= kMostDomains;
  if constexpr (std::is_same_v<MaybeExtras, Extras>) {
    if (!is_lost) put_payloads(*ring, domain, range, extras);
  }
  if (is_lost ||
      !put_closing(*ring, EventKind::end, domain, range, time_ns, ring->headroom_to_end())) {
    count_lost();
  }
  after_commit(*ring);
}

void name_thread(std::uint32_t tid, const Text& text) {
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  const std::size_t bytes = sizeof(ThreadNameEvent) + padded(text.size);
  auto* event = static_cast<ThreadNameEvent*>(ring->reserve(bytes, ring->headroom_to_open()));
  if (event == nullptr) return count_lost();
  event->header = {static_cast<std::uint32_t>(bytes), EventKind::thread_name, text.kind};
  event->tid = tid;
  event->text_bytes = static_cast<std::uint32_t>(text.size);
  if (text.size > 0) std::memcpy(event + 1, text.bytes, text.size);
  ring->commit(bytes);
  after_commit(*ring);
}

void name_category(const Domain& domain, std::uint32_t category, const Text& text) {
  EventRing* ring = thread_ring();
  if (ring == nullptr || domain.id >= kMostDomains) return;
  const std::size_t bytes = sizeof(CategoryNameEvent) + padded(text.size);
  auto* event = static_cast<CategoryNameEvent*>(ring->reserve(bytes, ring->headroom_to_open()));
  if (event == nullptr) return count_lost();
  event->header = {static_cast<std::uint32_t>(bytes), EventKind::category_name, text.kind};
  event->domain = &domain;
  event->category = category;
  event->text_bytes = static_cast<std::uint32_t>(text.size);
  if (text.size > 0) std::memcpy(event + 1, text.bytes, text.size);
  ring->commit(bytes);
  after_commit(*ring);
}

/// Calls `use(Text)` with wide text as UTF-8. Apart, since it takes some stack of the program's.
template <class Use>
__attribute__((noinline)) auto with_wide_text(const wchar_t* wide, Use use) {
  char bytes[kLongestName];
  Text text{};
  if (wide != nullptr) text = {TextKind::inline_text, bytes, to_utf8(wide, bytes, sizeof bytes)};
  return use(text);
}

/// Calls `use(Text)` with the message of the attributes.
template <class Use>
auto with_message(const nvtxEventAttributes_t& attributes, Use use) {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return use(plain_text(attributes.message.ascii));
    case NVTX_MESSAGE_TYPE_UNICODE:
      return with_wide_text(attributes.message.unicode, use);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      if (attributes.message.registered == nullptr) return use(Text{});
      if (find_registered_string(attributes.message.registered) == nullptr) {
        count_unknown_handle();
        return use(Text{});
      }
      return use(Text{TextKind::registered, &attributes.message.registered, sizeof(void*)});
    default:
      return use(Text{});
  }
}

/// Calls `use(category, Text, extras)`. Apart, for extras take some stack and most ranges have
/// none.
template <class Use>
__attribute__((noinline)) auto with_extras(const nvtxEventAttributes_t& attributes, Use use) {
  const Extras extras(attributes);
  return with_message(attributes,
                      [&](const Text& text) { return use(attributes.category, text, extras); });
}

/// Calls `use(category, Text, extras)` with what the attributes say.
template <class Use>
auto with_attributes(const nvtxEventAttributes_t* attributes, Use use) {
  constexpr std::size_t kNeeded =
      offsetof(nvtxEventAttributes_t, message) + sizeof(nvtxMessageValue_t);
  if (attributes == nullptr || attributes->size < kNeeded) return use(0u, Text{}, kNoExtras);
  if (attributes->colorType != NVTX_COLOR_UNKNOWN ||
      attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) {
    return with_extras(*attributes, use);
  }
  return with_message(*attributes,
                      [&](const Text& text) { return use(attributes->category, text, kNoExtras); });
}

// --- what NVTX calls ---------------------------------------------------------------------------

int domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return with_attributes(attributes,
                         [domain](std::uint32_t category, const Text& text, const auto& extras) {
                           return push(domain_of(domain), category, text, extras);
                         });
}
int domain_range_pop(nvtxDomainHandle_t domain) {
  return pop(domain_of(domain));
}
int range_push_ex(const nvtxEventAttributes_t* attributes) {
  return domain_range_push_ex(nullptr, attributes);
}
int range_push_a(const char* message) {
  return push(default_domain, 0, plain_text(message));
}
int range_push_w(const wchar_t* message) {
  return with_wide_text(message, [](const Text& text) { return push(default_domain, 0, text); });
}
int range_pop() {
  return pop(default_domain);
}

void domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  with_attributes(attributes,
                  [domain](std::uint32_t category, const Text& text, const auto& extras) {
                    mark(domain_of(domain), category, text, extras);
                  });
}
void mark_ex(const nvtxEventAttributes_t* attributes) {
  domain_mark_ex(nullptr, attributes);
}
void mark_a(const char* message) {
  mark(default_domain, 0, plain_text(message));
}
void mark_w(const wchar_t* message) {
  with_wide_text(message, [](const Text& text) { mark(default_domain, 0, text); });
}

nvtxRangeId_t domain_range_start_ex(nvtxDomainHandle_t domain,
                                    const nvtxEventAttributes_t* attributes) {
  return with_attributes(attributes,
                         [domain](std::uint32_t category, const Text& text, const auto& extras) {
                           return start(domain_of(domain), category, text, extras);
                         });
}
nvtxRangeId_t range_start_ex(const nvtxEventAttributes_t* attributes) {
  return domain_range_start_ex(nullptr, attributes);
}
nvtxRangeId_t range_start_a(const char* message) {
  return start(default_domain, 0, plain_text(message));
}
nvtxRangeId_t range_start_w(const wchar_t* message) {
  return with_wide_text(message, [](const Text& text) { return start(default_domain, 0, text); });
}
void domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  end(domain_of(domain), range);
}
void range_end(nvtxRangeId_t range) {
  end(default_domain, range);
}

void name_os_thread_a(std::uint32_t tid, const char* name) {
  name_thread(tid, plain_text(name));
}
void name_os_thread_w(std::uint32_t tid, const wchar_t* name) {
  with_wide_text(name, [tid](const Text& text) { name_thread(tid, text); });
}

nvtxDomainHandle_t domain_create(const Text& name) {
  return reinterpret_cast<nvtxDomainHandle_t>(
      make_domain(static_cast<const char*>(name.bytes), name.size));
}
nvtxDomainHandle_t domain_create_a(const char* name) {
  return domain_create(plain_text(name));
}
nvtxDomainHandle_t domain_create_w(const wchar_t* name) {
  return with_wide_text(name, [](const Text& text) { return domain_create(text); });
}
void domain_destroy(nvtxDomainHandle_t) {}

nvtxStringHandle_t register_string(const Text& text) {
  RegisteredString* string =
      make_registered_string(static_cast<const char*>(text.bytes), text.size);
  if (string != nullptr) register_handle(*string);
  return reinterpret_cast<nvtxStringHandle_t>(string);
}
nvtxStringHandle_t domain_register_string_a(nvtxDomainHandle_t, const char* text) {
  return register_string(plain_text(text));
}
nvtxStringHandle_t domain_register_string_w(nvtxDomainHandle_t, const wchar_t* text) {
  return with_wide_text(text, [](const Text& utf8) { return register_string(utf8); });
}

void domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  name_category(domain_of(domain), category, plain_text(name));
}
void domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t category,
                            const wchar_t* name) {
  with_wide_text(name, [domain, category](const Text& text) {
    name_category(domain_of(domain), category, text);
  });
}
void name_category_a(std::uint32_t category, const char* name) {
  domain_name_category_a(nullptr, category, name);
}
void name_category_w(std::uint32_t category, const wchar_t* name) {
  domain_name_category_w(nullptr, category, name);
}

// --- taking over the tables --------------------------------------------------------------------

struct Replacement {
  unsigned id;
  NvtxFunctionPointer function;
};

template <class Function>
Replacement replacement(unsigned id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <std::size_t kCount>
void replace(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
             const Replacement (&replacements)[kCount]) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Replacement& replacement : replacements) {
    if (replacement.id < size && table[replacement.id] != nullptr) {
      *table[replacement.id] = replacement.function;
    }
  }
}

}  // namespace

const Domain& domain_of(nvtxDomainHandle_t handle) {
  if (handle == nullptr) return default_domain;
  if (const Domain* domain = find_domain(handle)) return *domain;
  count_unknown_handle();
  return default_domain;
}

int push_with(const Domain& domain, const Extras& extras) {
  return push(domain, 0, Text{}, extras);
}
int pop_with(const Domain& domain, const Extras& extras) {
  return pop(domain, extras);
}
void mark_with(const Domain& domain, const Extras& extras) {
  mark(domain, 0, Text{}, extras);
}
nvtxRangeId_t start_with(const Domain& domain, const Extras& extras) {
  return start(domain, 0, Text{}, extras);
}
void end_with(const Domain& domain, nvtxRangeId_t range, const Extras& extras) {
  end(domain, range, extras);
}

void attach_to_nvtx(const void* (*get_export_table)(std::uint32_t)) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return;
  replace(*callbacks, NVTX_CB_MODULE_CORE,
          {replacement(NVTX_CBID_CORE_MarkEx, mark_ex), replacement(NVTX_CBID_CORE_MarkA, mark_a),
           replacement(NVTX_CBID_CORE_MarkW, mark_w),
           replacement(NVTX_CBID_CORE_RangeStartEx, range_start_ex),
           replacement(NVTX_CBID_CORE_RangeStartA, range_start_a),
           replacement(NVTX_CBID_CORE_RangeStartW, range_start_w),
           replacement(NVTX_CBID_CORE_RangeEnd, range_end),
           replacement(NVTX_CBID_CORE_RangePushEx, range_push_ex),
           replacement(NVTX_CBID_CORE_RangePushA, range_push_a),
           replacement(NVTX_CBID_CORE_RangePushW, range_push_w),
           replacement(NVTX_CBID_CORE_RangePop, range_pop),
           replacement(NVTX_CBID_CORE_NameCategoryA, name_category_a),
           replacement(NVTX_CBID_CORE_NameCategoryW, name_category_w),
           replacement(NVTX_CBID_CORE_NameOsThreadA, name_os_thread_a),
           replacement(NVTX_CBID_CORE_NameOsThreadW, name_os_thread_w)});
  replace(*callbacks, NVTX_CB_MODULE_CORE2,
          {replacement(NVTX_CBID_CORE2_DomainMarkEx, domain_mark_ex),
           replacement(NVTX_CBID_CORE2_DomainRangeStartEx, domain_range_start_ex),
           replacement(NVTX_CBID_CORE2_DomainRangeEnd, domain_range_end),
           replacement(NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push_ex),
           replacement(NVTX_CBID_CORE2_DomainRangePop, domain_range_pop),
           replacement(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category_a),
           replacement(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category_w),
           replacement(NVTX_CBID_CORE2_DomainRegisterStringA, domain_register_string_a),
           replacement(NVTX_CBID_CORE2_DomainRegisterStringW, domain_register_string_w),
           replacement(NVTX_CBID_CORE2_DomainCreateA, domain_create_a),
           replacement(NVTX_CBID_CORE2_DomainCreateW, domain_create_w),
           replacement(NVTX_CBID_CORE2_DomainDestroy, domain_destroy)});
}

}  // namespace gprofml::injection
