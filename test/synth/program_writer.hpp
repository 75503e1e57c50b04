// Writes the actions of one host thread as a framework would perform them.
#pragma once

#include <string>
#include <utility>

#include "test/synth/program.hpp"
#include "test/synth/random.hpp"

namespace gprofml::synth {

/// Appends to one thread. Every action is preceded by some host code, whose length varies by the
/// seed a little, as it does in reality.
class ThreadWriter {
 public:
  ThreadWriter(HostThread& thread, std::uint64_t seed) : thread_(thread), random_(seed) {}

  /// About `typical_ns`: between three quarters and five quarters of it.
  Nanoseconds about(Nanoseconds typical_ns) {
    return random_.between(typical_ns * 3 / 4, typical_ns * 5 / 4);
  }

  void host(Nanoseconds typical_ns) { thread_.actions.emplace_back(HostWork{about(typical_ns)}); }

  void add(Action action) { thread_.actions.push_back(std::move(action)); }

  void begin(profile::RangeKind kind, std::string name) {
    host(700);
    add(BeginRange{kind, std::move(name)});
  }
  void begin_op(std::string name) { begin(profile::RangeKind::op, std::move(name)); }
  void end() {
    host(500);
    add(EndRange{});
  }

  void launch(StreamRef on, Work work, Nanoseconds host_before_ns) {
    host(host_before_ns);
    Submit submit;
    submit.call_ns = about(2900);
    submit.on = on;
    submit.work = std::move(work);
    submit.work.duration_ns = about(submit.work.duration_ns);
    submit.work.start_delay_ns = random_.between(0, 300);
    add(submit);
  }

 private:
  HostThread& thread_;
  Random random_;
};

}  // namespace gprofml::synth
