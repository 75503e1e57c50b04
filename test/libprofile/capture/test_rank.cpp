#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "libprofile/capture/rank.hpp"
#include "libprofile/spool/environment_names.hpp"

namespace gprofml::profile {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Rank> rank_in(const Variables& variables) {
  return rank_of([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("Each launcher's ranks are understood", "[rank]") {
  const struct {
    Variables variables;
    std::int64_t rank;
    const char* says;
  } cases[] = {
      {{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 3, "OMPI_COMM_WORLD_RANK"},
      {{{"PMIX_RANK", "0"}}, 0, "PMIX_RANK"},
      {{{"PMI_RANK", "17"}, {"PMI_SIZE", "32"}}, 17, "PMI_RANK"},
      {{{"MV2_COMM_WORLD_RANK", "2"}}, 2, "MV2_COMM_WORLD_RANK"},
      {{{"PALS_RANKID", "5"}}, 5, "PALS_RANKID"},
      {{{"FLUX_TASK_RANK", "6"}}, 6, "FLUX_TASK_RANK"},
      {{{"JSM_NAMESPACE_RANK", "7"}}, 7, "JSM_NAMESPACE_RANK"},
      {{{"SLURM_PROCID", "8"}, {"SLURM_STEP_ID", "0"}}, 8, "SLURM_PROCID"},
      {{{"RANK", "9"}, {"LOCAL_RANK", "1"}}, 9, "RANK"},
      {{{"RANK", "9"}, {"WORLD_SIZE", "16"}}, 9, "RANK"},
      // torchrun started by srun or mpirun, once a node: the worker's own rank is torchrun's.
      {{{"RANK", "13"},
        {"LOCAL_RANK", "5"},
        {"WORLD_SIZE", "16"},
        {"TORCHELASTIC_RUN_ID", "none"},
        {"SLURM_PROCID", "1"},
        {"SLURM_STEP_ID", "0"},
        {"OMPI_COMM_WORLD_RANK", "1"}},
       13,
       "RANK"},
      // mpirun inside an allocation of Slurm's.
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "1"}},
       2,
       "OMPI_COMM_WORLD_RANK"},
  };
  for (const auto& one : cases) {
    INFO(one.says << " " << one.rank);
    const auto rank = rank_in(one.variables);
    REQUIRE(rank);
    CHECK(rank->number == one.rank);
    CHECK(rank->variable == one.says);
  }
}

TEST_CASE("What says no rank gives none", "[rank]") {
  for (const Variables& variables :
       {Variables{}, Variables{{"RANK", "3"}},                    // a word of anybody's
        Variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}},  // the batch script
        Variables{{"OMPI_COMM_WORLD_RANK", ""}}, Variables{{"PMI_RANK", "-1"}},
        Variables{{"PMIX_RANK", "1x"}}, Variables{{"RANK", "one"}, {"WORLD_SIZE", "2"}},
        Variables{{"LOCAL_RANK", "1"}, {"WORLD_SIZE", "2"}}}) {
    CHECK_FALSE(rank_in(variables));
  }
}

TEST_CASE("Variables that change what runs are kept, and no others", "[rank]") {
  for (const char* const kept :
       {"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "NCCL_ALGO", "OMP_NUM_THREADS",
        "PYTORCH_CUDA_ALLOC_CONF", "TORCH_LOGS", "TORCHINDUCTOR_MAX_AUTOTUNE", "VLLM_USE_V1",
        "LD_LIBRARY_PATH", "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    INFO(kept);
    CHECK(spool::is_kept_variable(kept));
  }
  for (const char* const left_out :
       {"", "HOME", "USER", "PATH", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "VLLM_API_KEY",
        "TORCH_SECRET", "NCCL_PASSWORD", "CUDA_TOKEN", "PYTORCH_CREDENTIALS", "TORCH_AUTH",
        "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "CUDA", "RANKS",
        "OMP_NUM_THREADS2", "xCUDA_A"}) {
    INFO(left_out);
    CHECK_FALSE(spool::is_kept_variable(left_out));
  }
  CHECK(spool::is_kept_value("expandable_segments:True"));
  CHECK(spool::is_kept_value("tcp://10.0.0.1:29500"));
  CHECK_FALSE(spool::is_kept_value("https://user:word@example.com/x"));
}

TEST_CASE("The names of the rank variables are each said once", "[rank]") {
  const std::string names = rank_variables();
  CHECK(names.rfind("RANK, OMPI_COMM_WORLD_RANK, ", 0) == 0);
  CHECK(names.find("RANK", names.size() - 6) == std::string::npos);
  CHECK(names.find("SLURM_PROCID") != std::string::npos);
}

}  // namespace
}  // namespace gprofml::profile
