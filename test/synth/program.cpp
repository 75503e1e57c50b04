#include "test/synth/program.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace gprofml::synth {
namespace {

// Calls visit(work) for each piece of GPU work in the order that numbers them.
template <typename AnyProgram, typename Visit>
void for_each_work(AnyProgram& program, Visit visit) {
  for (auto& thread : program.threads) {
    for (auto& action : thread.actions) {
      if (auto* submit = std::get_if<Submit>(&action)) {
        visit(submit->work);
      } else if (auto* graph = std::get_if<LaunchGraph>(&action)) {
        for (auto& node : graph->nodes) visit(node.work);
      }
    }
  }
}

template <typename AnyProgram>
auto* find_work(AnyProgram& program, std::size_t index) {
  decltype(&std::get<Submit>(program.threads[0].actions[0]).work) found = nullptr;
  std::size_t number = 0;
  for_each_work(program, [&](auto& work) {
    if (number++ == index) found = &work;
  });
  if (found == nullptr) {
    throw std::out_of_range(fmt::format("the program has no GPU work {}, only {}", index, number));
  }
  return found;
}

struct SetDuration {
  Nanoseconds duration_ns;

  void operator()(HostWork& work) const { work.duration_ns = duration_ns; }
  template <typename AnyAction>
  void operator()(AnyAction& action) const {
    if constexpr (requires { action.call_ns; }) {
      action.call_ns = duration_ns;
    } else {
      throw std::invalid_argument("this action takes no time, so its duration cannot be changed");
    }
  }
};

struct Scale {
  std::int64_t factor;

  void operator()(Work& work) const {
    work.duration_ns *= factor;
    work.start_delay_ns *= factor;
  }
  void operator()(HostWork& work) const { work.duration_ns *= factor; }
  template <typename AnyAction>
  void operator()(AnyAction& action) const {
    if constexpr (requires { action.call_ns; }) action.call_ns *= factor;
    if constexpr (requires { action.return_delay_ns; }) action.return_delay_ns *= factor;
    if constexpr (requires { action.wake_delay_ns; }) action.wake_delay_ns *= factor;
  }
};

}  // namespace

std::size_t work_count(const Program& program) {
  std::size_t count = 0;
  for_each_work(program, [&](const Work&) { ++count; });
  return count;
}

const Work& work_at(const Program& program, std::size_t index) {
  return *find_work(program, index);
}

Program with_work_duration(Program program, std::size_t index, Nanoseconds duration_ns) {
  find_work(program, index)->duration_ns = duration_ns;
  return program;
}

Program with_action_duration(Program program, std::size_t thread, std::size_t action,
                             Nanoseconds duration_ns) {
  std::visit(SetDuration{duration_ns}, program.threads.at(thread).actions.at(action));
  return program;
}

Program scaled(Program program, std::int64_t factor) {
  const Scale scale{factor};
  for_each_work(program, scale);
  for (HostThread& thread : program.threads) {
    thread.start_ns *= factor;
    for (Action& action : thread.actions) std::visit(scale, action);
  }
  Timing& timing = program.timing;
  for (Nanoseconds* time : {&timing.launch_latency_ns, &timing.stream_gap_ns, &timing.event_gap_ns,
                            &timing.graph_gap_ns, &timing.sync_return_ns, &timing.wake_ns,
                            &timing.sync_record_margin_ns}) {
    *time *= factor;
  }
  return program;
}

}  // namespace gprofml::synth
