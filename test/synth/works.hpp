// Short ways to write down GPU work, with the names that Kineto gives to copies and fills.
#pragma once

#include <cstdint>
#include <string>

#include "test/synth/program.hpp"

namespace gprofml::synth {

Work kernel_work(std::string name, Nanoseconds duration_ns);

/// A kernel that moves data between ranks.
Work communication_work(std::string name, Nanoseconds duration_ns);

/// Named as Kineto does: "Memcpy HtoD (Pageable -> Device)".
Work copy_work(profile::CopyKind kind, profile::MemoryKind source, profile::MemoryKind target,
               std::int64_t bytes, Nanoseconds duration_ns);

/// A fill of device memory, "Memset (Device)".
Work fill_work(std::int64_t bytes, Nanoseconds duration_ns);

}  // namespace gprofml::synth
