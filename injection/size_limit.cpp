#include "injection/size_limit.hpp"

#include <cstdio>

#include "injection/system.hpp"

namespace gprofml::injection {

bool is_over_size_limit(const Recorder& recorder) {
  const std::uint64_t most = recorder.options.most_bytes;
  return most != 0 && recorder.file.bytes() + recorder.segments.bytes() >= most;
}

void end_at_size_limit(Recorder& recorder) {
  char detail[160];
  std::snprintf(detail, sizeof detail,
                "the raw records reached the limit of %llu bytes (--max-size); what followed was "
                "not recorded",
                static_cast<unsigned long long>(recorder.options.most_bytes));
  recorder.stream.note("size_limit", detail, 1);
  spool::End end{};
  end.time_ns = realtime_ns();
  end.reason = spool::EndReason::stopped;
  recorder.stream.add(spool::RecordKind::end, end);
  recorder.end_is_written = true;
  recorder.stream.flush();
}

}  // namespace gprofml::injection
