#include "injection/window_pass.hpp"

#include <cstring>

#include "injection/cupti_session.hpp"
#include "injection/recorder.hpp"
#include "injection/system.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {
namespace {

// A window is settled that long after its end, whatever has not come back.
constexpr std::int64_t kSettlePatienceNs = 2'000'000'000;
// The round that is under way may have looked at a buffer already.
constexpr std::uint32_t kRoundsToSettle = 2;

std::uint32_t flush_rounds(const CuptiSession* session) {
  return session == nullptr ? 0 : session->flush_rounds.load(std::memory_order_acquire);
}

bool hands_over_work(const CuptiSession* session) {
  return session != nullptr && session->has_asked_for_buffers.load(std::memory_order_acquire) &&
         !session->is_broken.load(std::memory_order_acquire);
}

bool reached(std::uint32_t count, std::uint32_t wanted) {
  return static_cast<std::int32_t>(count - wanted) >= 0;
}

void write_window(RecordStream& stream, const Window& window) {
  spool::Window record{};
  record.start_ns = window.start_ns;
  record.end_ns = window.end_ns == Windows::kOpen ? window.planned_end_ns : window.end_ns;
  record.index = window.index;
  record.reason = stream.string(window.reason);
  record.state = window.is_complete                ? spool::WindowState::complete
                 : window.end_ns == Windows::kOpen ? spool::WindowState::open
                                                   : spool::WindowState::closed;
  stream.add(spool::RecordKind::window, record);
}

void write_capture_event(RecordStream& stream, const char* kind, const char* detail,
                         std::int64_t value) {
  stream.capture_event(kind, detail, now_ns(), value);
}

}  // namespace

void WindowPass::start(Recorder& recorder, const char* folder) {
  control_.start(folder, static_cast<std::uint32_t>(recorder.pid));
  windows.start(recorder.options, recorder.start_ns);
  if (windows.is_on()) {
    write_capture_event(recorder.stream, "windowed", "only what is in windows is recorded", 0);
  }
}

void WindowPass::begin(Recorder& recorder) {
  if (windows.is_on()) oldest_out_ = recorder.buffers.oldest_out();
}

void WindowPass::obey(Recorder& recorder) {
  is_controlled_ = control_.read(header_);
  const std::int64_t time_ns = now_ns();
  if (windows.is_on()) ranges_.look_for_triggers(recorder.rings, windows);
  if (is_controlled_ && header_.generation != obeyed_) {
    obeyed_ = header_.generation;
    const bool was_on = windows.is_on();
    // Not in the future: clocks of containers and hosts are one, but who knows.
    const std::int64_t at_ns = header_.command_ns < time_ns ? header_.command_ns : time_ns;
    if (header_.wanted != spool::Wanted::by_options) {
      windows.want(header_.wanted == spool::Wanted::record, at_ns, "control");
    }
    if (!was_on && windows.is_on()) oldest_out_ = 0;
  }
  windows.advance(time_ns);
  if (is_controlled_) serve_flush(recorder);
  if (windows.take_opening()) {
    ranges_.release(recorder.rings, [&recorder](EventRing& ring, const EventHeader& event) {
      write_event(recorder.stream, ring, event);
    });
  }
  say_news(recorder);
}

void WindowPass::serve_flush(Recorder& recorder) {
  CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  if (header_.flush_generation == flush_served_ && flush_asked_ == flush_served_) return;
  if (header_.flush_generation != flush_asked_) {
    flush_asked_ = header_.flush_generation;
    flush_rounds_ = flush_rounds(session) + kRoundsToSettle;
    if (session != nullptr) session->work.raise();
  }
  if (!hands_over_work(session) || reached(flush_rounds(session), flush_rounds_)) {
    flush_served_ = flush_asked_;
  } else {
    session->work.raise();
  }
}

void WindowPass::say_news(Recorder& recorder) {
  windows.tell_news([&recorder](const Window& window) { write_window(recorder.stream, window); });
}

void WindowPass::conclude(Recorder& recorder, bool everything_is_back) {
  if (!windows.is_on()) return;
  CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  const bool waits = hands_over_work(session) && !everything_is_back;
  windows.settle(
      [&](Window& window) {
        window.buffers = recorder.buffers.requested();
        window.flush_rounds = flush_rounds(session) + kRoundsToSettle;
        window.deadline_ns = monotonic_ns() + kSettlePatienceNs;
        if (waits) session->work.raise();
      },
      [&](Window& window) {
        if (!waits) return true;
        if (oldest_out_ > window.buffers && reached(flush_rounds(session), window.flush_rounds)) {
          return true;
        }
        if (monotonic_ns() < window.deadline_ns) return false;
        write_capture_event(recorder.stream, "window_cut",
                            "CUPTI had not handed over all work of a window 2 s after its end; "
                            "what came later is missing",
                            window.index);
        return true;
      });
  say_news(recorder);
}

void WindowPass::answer(Recorder& recorder, bool ended) {
  if (!is_controlled_) return;
  if (obeyed_ != answered_ && windows.is_settled()) answered_ = obeyed_;
  const CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  spool::ControlSlot slot{};
  slot.generation = answered_;
  slot.flush_generation = flush_served_;
  slot.is_recording = !windows.is_on() || windows.is_open() ? 1 : 0;
  slot.windows_opened = windows.opened();
  slot.windows_closed = windows.completed();
  slot.has_gpu_work = hands_over_work(session) ? 1 : 0;
  slot.last_window_start_ns = windows.last_start_ns();
  slot.last_window_end_ns = windows.last_end_ns();
  slot.spool_bytes = recorder.file.bytes() + recorder.segments.bytes();
  slot.records = recorder.records_written;
  slot.lost = recorder.cupti_dropped.load(std::memory_order_relaxed) +
              recorder.buffers.discarded() + recorder.ranges_lost.load(std::memory_order_relaxed);
  const std::int64_t age_ns = monotonic_ns() - recorder.started_ns;
  if (age_ns > 0) {
    // Changes all the time by little: rounded, so that the slot is not written in every pass.
    slot.cost_ppm = thread_cpu_ns() * 1000 / (static_cast<std::uint64_t>(age_ns) / 1000 + 1);
    slot.cost_ppm -= slot.cost_ppm % 1000;
  }
  slot.ended = ended ? 1 : 0;
  control_.answer(slot, realtime_ns());
}

}  // namespace gprofml::injection
