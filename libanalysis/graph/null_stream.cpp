#include "libanalysis/graph/null_stream.hpp"

#include <algorithm>

namespace gprofml::analysis {

using profile::RowIndex;
using profile::StreamKind;

namespace {

// What is open in a context while its work is walked through in order.
struct ContextState {
  ActivityIndex last_on_null = kNoActivity;
  std::vector<ActivityIndex> last_on_stream;  // blocking ones, since then; one entry a stream
  std::vector<RowIndex> streams;              // beside it
};

bool blocking(StreamKind kind) {
  return kind == StreamKind::blocking || kind == StreamKind::per_thread;
}

}  // namespace

NullStreamBarriers::NullStreamBarriers(const profile::Trace& trace, const Activities& work) {
  const bool any = std::any_of(
      trace.streams.begin(), trace.streams.end(),
      [](const profile::Stream& stream) { return stream.flags == StreamKind::null_stream; });
  if (!any) return;
  std::vector<ContextState> contexts(trace.contexts.size());
  // Where a stream stands in its context's list; valid while the list names that stream there.
  std::vector<std::uint32_t> place(trace.streams.size(), 0);
  first_.reserve(work.size() + 1);
  for (ActivityIndex i = 0; i < work.size(); ++i) {
    first_.push_back(static_cast<std::uint32_t>(before_.size()));
    const RowIndex s = work.stream[i];
    const profile::Stream& stream = trace.streams[s];
    ContextState& context = contexts[stream.context];
    if (stream.flags == StreamKind::null_stream) {
      before_.insert(before_.end(), context.last_on_stream.begin(), context.last_on_stream.end());
      context.last_on_stream.clear();
      context.streams.clear();
      context.last_on_null = i;
    } else if (blocking(stream.flags)) {
      if (context.last_on_null != kNoActivity) before_.push_back(context.last_on_null);
      const bool listed = place[s] < context.streams.size() && context.streams[place[s]] == s;
      if (listed) {
        context.last_on_stream[place[s]] = i;
      } else {
        place[s] = static_cast<std::uint32_t>(context.streams.size());
        context.streams.push_back(s);
        context.last_on_stream.push_back(i);
      }
    }
  }
  first_.push_back(static_cast<std::uint32_t>(before_.size()));
}

}  // namespace gprofml::analysis
