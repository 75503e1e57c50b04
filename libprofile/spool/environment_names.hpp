// Which environment variables a recording keeps. Never the whole environment: it holds secrets.
// Shared by the recorder, which keeps them as facts "env.NAME", and the reader.
#pragma once

#include <cstddef>

namespace gprofml::spool {

/// Names that change what a GPU program does, or say its place in a job. `*` at the end: all that
/// begin so.
inline constexpr const char* kKeptVariables[] = {
    // CUDA, its libraries, what talks between GPUs
    "CUDA_*", "CUBLAS_*", "CUBLASLT_*", "CUDNN_*", "NCCL_*", "NVSHMEM_*", "UCX_*", "NVIDIA_TF32_*",
    "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD",
    // threads of the host
    "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    // frameworks
    "PYTORCH_*", "TORCH*", "VLLM_*", "TRITON_*", "XLA_*", "JAX_*", "TF_*", "GGML_*", "SGLANG_*",
    "DEEPSPEED_*", "PYTHONMALLOC", "MALLOC_ARENA_MAX",
    // place in a job
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_PORT",
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_RANK",
    "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PALS_RANKID",
    "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID",
    "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"};

/// A name with one of these is never kept, whatever else it says.
inline constexpr const char* kSecretWords[] = {"TOKEN",  "KEY",  "SECRET", "PASSWORD",
                                               "PASSWD", "CRED", "AUTH"};

/// The recorder's own, which say nothing of the program.
inline constexpr const char* kOwnVariables[] = {"CUDA_INJECTION64_PATH"};

/// Longer values are cut.
inline constexpr std::size_t kMostValueBytes = 1024;

namespace detail {

constexpr bool begins(const char* text, const char* start) {
  for (; *start != '\0'; ++text, ++start) {
    if (*text != *start) return false;
  }
  return true;
}

constexpr bool contains(const char* text, const char* word) {
  for (; *text != '\0'; ++text) {
    if (begins(text, word)) return true;
  }
  return false;
}

constexpr bool matches(const char* name, const char* pattern) {
  for (; *pattern != '\0'; ++name, ++pattern) {
    if (*pattern == '*') return true;
    if (*name != *pattern) return false;
  }
  return *name == '\0';
}

}  // namespace detail

/// Whether a variable of that name is kept.
constexpr bool is_kept_variable(const char* name) {
  for (const char* word : kSecretWords) {
    if (detail::contains(name, word)) return false;
  }
  for (const char* own : kOwnVariables) {
    if (detail::matches(name, own)) return false;
  }
  for (const char* pattern : kKeptVariables) {
    if (detail::matches(name, pattern)) return true;
  }
  return false;
}

/// Whether a value may be kept: an address with a name and a password in it may not.
constexpr bool is_kept_value(const char* value) {
  return !(detail::contains(value, "://") && detail::contains(value, "@"));
}

}  // namespace gprofml::spool
