#include "test/synth/samples.hpp"

#include "test/synth/to_kineto.hpp"

namespace gprofml::synth {
namespace {

Sample sample(const std::string& name, const Program& program, const std::string& what) {
  KinetoOptions options;
  options.trace_name = name + " (simulated by gprof-ml's test/synth)";
  options.header = {{"gprofml_simulated", "true"}, {"gprofml_description", "\"" + what + "\""}};
  return {name + ".json", to_kineto_json(run(program), options)};
}

}  // namespace

std::vector<Sample> samples() {
  return {
      sample("decode_small", decode_program(),
             "Simulated, not measured: a small model decoding one token a step, bound by the host"),
      sample(
          "two_streams", two_streams_program(),
          "Simulated, not measured: training with all-reduce on a second stream, partly exposed")};
}

}  // namespace gprofml::synth
