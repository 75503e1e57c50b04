// Varied programs for property tests.
#pragma once

#include <cstdint>

#include "test/synth/execution.hpp"

namespace gprofml::synth {

/// What a random program contains.
struct ProgramShape {
  int threads = 1;
  int devices = 1;
  int streams = 1;       ///< over all devices; at least one a device
  int activities = 100;  ///< about this many pieces of GPU work
  bool graphs = true;
  bool copies = true;  ///< copies and fills, some blocking
  bool events = true;  ///< event records, stream waits
  bool syncs = true;   ///< synchronisations and frees
  bool ranges = true;  ///< ops, annotations, python frames, nested
  bool communication = true;
  bool hand_overs = true;            ///< threads pass streams to each other (needs threads > 1)
  bool cross_device_events = false;  ///< events of another device's streams are waited for
  bool ties = false;   ///< times so coarse that many events tie; else no two events do
  int host_scale = 1;  ///< host code is this many times slower
};

/// A shape drawn from the seed: 1–3 threads, 1–2 devices, 1–5 streams, 20–400 activities, each
/// feature mostly present. Never cross-device events or ties.
ProgramShape random_shape(std::uint64_t seed);

/// A valid program: it runs to its end, closes its ranges and hands each stream from one thread to
/// the next only through a signal. The same seed and shape give the same program. Unless
/// `shape.ties`, no two starts or ends of activities, calls, ranges or synchronisation records of
/// its execution are equal.
Program random_program(std::uint64_t seed, const ProgramShape& shape);
Program random_program(std::uint64_t seed);

/// Whether any two of those times are equal.
bool has_ties(const Execution& execution);

}  // namespace gprofml::synth
