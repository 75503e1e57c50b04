// Which kernels move data between ranks.
#pragma once

#include <string_view>

namespace gprofml::analysis {

/// Whether a kernel is communication, judged by its name, whatever the case: nccl, rccl,
/// all_reduce, all_gather, reduce_scatter, all_to_all (with or without the underscores),
/// cross_device_reduce, multimem, nvshmem, deep_ep or msccl.
bool is_communication_kernel(std::string_view name);

}  // namespace gprofml::analysis
