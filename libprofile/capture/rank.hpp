// A process's place in a distributed job, as what started it says in environment variables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gprofml::profile {

struct Rank {
  std::int64_t number = 0;
  std::string variable;  ///< that says so
};

/// Torchrun's, an MPI's (Open MPI, PMIx, MPICH, Intel MPI, MVAPICH2, Cray), Flux's, IBM's, Slurm's,
/// then RANK where LOCAL_RANK or WORLD_SIZE stands beside it: what starts single processes goes
/// before what starts those. `read` gives a variable's value, nullptr when it is not set. nullopt:
/// no rank, also where Slurm's variable is that of the batch script itself.
std::optional<Rank> rank_of(const std::function<const char*(const char*)>& read);

/// The variables that are looked at, for messages: "RANK, OMPI_COMM_WORLD_RANK, …".
std::string rank_variables();

}  // namespace gprofml::profile
