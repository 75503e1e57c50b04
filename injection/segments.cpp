#include "injection/segments.hpp"

#include <cerrno>
#include <cstdio>

#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

// Of --max-size: so that both segments, what lasts and the next one find room below it.
constexpr std::uint64_t kPartsOfLimit = 4;

void write_segment(RecordStream& stream, std::uint32_t index, spool::SegmentPart part) {
  spool::Segment record{};
  record.time_ns = now_ns();
  record.index = index;
  record.part = part;
  stream.add(spool::RecordKind::segment, record);
}

}  // namespace

void Segments::start(Recorder& recorder) {
  const std::int64_t keep_ns = recorder.options.keep_last_ns;
  if (keep_ns <= 0) return;
  recorder.stream.capture_event("keep_last", "only the last `value` ns are kept", now_ns(),
                                keep_ns);
  open_ranges_ = static_cast<OpenRanges*>(map_memory(sizeof(OpenRanges)));
  if (open_ranges_ == nullptr || !file(0).create_segment(recorder.file, 0) ||
      !recorder.stream.split(file(0), *open_ranges_)) {
    recorder.stream.note("keep_last_failed",
                         "no file for the last part of the recording could be made: everything is "
                         "kept until the end, up to --max-size",
                         1);
    return;
  }
  open_ranges_->start();
  is_on_ = true;
  begin(recorder, 0);
}

void Segments::begin(Recorder& recorder, std::uint32_t index) {
  write_segment(recorder.stream, index, spool::SegmentPart::begins);
  open_ranges_->write_again(recorder.stream);
  write_segment(recorder.stream, index, spool::SegmentPart::goes_on);
  newest_ = index;
  begun_ns_ = monotonic_ns();
}

bool Segments::is_due(const Recorder& recorder) const {
  if (!is_on_) return false;
  const std::uint64_t most = recorder.options.most_bytes;
  return monotonic_ns() - begun_ns_ >= recorder.options.keep_last_ns ||
         (most != 0 && files_[newest_ % kFiles].bytes() >= most / kPartsOfLimit);
}

bool Segments::switch_when_due(Recorder& recorder) {
  if (!is_due(recorder) || !recorder.stream.flush()) return false;
  const std::uint32_t next = newest_ + 1;
  if (!file(next).create_segment(recorder.file, next)) {
    if (failure_is_noted_) return false;
    failure_is_noted_ = true;
    char detail[200];
    std::snprintf(detail, sizeof detail,
                  "no further file for the last part of the recording could be made (errno %d): "
                  "from there on everything is kept, up to --max-size",
                  errno);
    recorder.stream.note("keep_last_failed", detail, 1);
    return false;
  }
  recorder.stream.go_on_in(file(next));
  begin(recorder, next);
  // The one in between reaches back far enough by itself.
  if (next >= 2) file(next - 2).remove();
  return true;
}

std::uint64_t Segments::bytes() const {
  std::uint64_t bytes = 0;
  for (const SpoolFile& file : files_) bytes += file.bytes();
  return bytes;
}

void Segments::abandon() {
  for (SpoolFile& file : files_) file.abandon();
}

}  // namespace gprofml::injection
