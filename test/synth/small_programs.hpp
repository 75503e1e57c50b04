// Programs small enough to be worked out by hand, with round machine times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/synth/execution.hpp"
#include "test/synth/works.hpp"

namespace gprofml::synth {

/// Starts at 0; launch latency 30, stream gap 10, event gap 20, graph gap 5, sync return 40,
/// wake 50.
inline Program round_program(std::vector<std::vector<Action>> threads) {
  Program program;
  program.begin_ns = 0;
  program.timing = {30, 10, 20, 5, 40, 50, 2};
  for (std::vector<Action>& actions : threads) {
    HostThread thread;
    thread.tid = program.pid + static_cast<std::int64_t>(program.threads.size());
    thread.actions = std::move(actions);
    program.threads.push_back(std::move(thread));
  }
  return program;
}

inline Submit kernel(StreamRef on, Nanoseconds call_ns, Nanoseconds duration_ns,
                     std::string name = "k") {
  Submit submit;
  submit.call_ns = call_ns;
  submit.on = on;
  submit.work = kernel_work(std::move(name), duration_ns);
  return submit;
}

inline Synchronise synchronise(SyncScope scope, Nanoseconds call_ns, StreamRef on = {},
                               int event = 0) {
  Synchronise action;
  action.scope = scope;
  action.call_ns = call_ns;
  action.on = on;
  action.event = event;
  return action;
}

}  // namespace gprofml::synth
