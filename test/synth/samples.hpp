// The small traces in samples/: simulated, and marked so in the file.
#pragma once

#include <string>
#include <vector>

#include "test/synth/program.hpp"

namespace gprofml::synth {

/// A small language model decoding one token a step, eight steps (ProfilerStep#0 to #7), bound by
/// the host: short kernels, one by one, a copy and a synchronisation after each token, and one
/// slow cudaMalloc in the first step.
Program decode_program();

/// Data-parallel training with two host threads: gradients are reduced on a stream of their own,
/// behind events, partly hidden behind the backward pass.
Program two_streams_program();

struct Sample {
  std::string file;  ///< name in samples/
  std::string json;
};

/// The files as they must be in samples/, byte for byte.
std::vector<Sample> samples();

}  // namespace gprofml::synth
