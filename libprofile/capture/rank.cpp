#include "libprofile/capture/rank.hpp"

#include <charconv>
#include <string_view>

namespace gprofml::profile {
namespace {

struct Source {
  const char* variable;
  const char* beside = nullptr;  ///< must be set too: the name alone is anybody's
};

constexpr Source kSources[] = {
    {"RANK", "TORCHELASTIC_RUN_ID"},
    {"OMPI_COMM_WORLD_RANK"},
    {"PMIX_RANK"},
    {"PMI_RANK"},
    {"MV2_COMM_WORLD_RANK"},
    {"PALS_RANKID"},
    {"FLUX_TASK_RANK"},
    {"JSM_NAMESPACE_RANK"},
    {"SLURM_PROCID", "SLURM_STEP_ID"},  // a batch script has the first of them alone
    {"RANK", "LOCAL_RANK"},
    {"RANK", "WORLD_SIZE"},
};

std::optional<std::int64_t> number_of(const char* value) {
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Rank> rank_of(const std::function<const char*(const char*)>& read) {
  for (const Source& source : kSources) {
    if (source.beside != nullptr && read(source.beside) == nullptr) continue;
    if (const auto number = number_of(read(source.variable))) return Rank{*number, source.variable};
  }
  return std::nullopt;
}

std::string rank_variables() {
  std::string names;
  for (const Source& source : kSources) {
    if (names.find(source.variable) != std::string::npos && source.beside != nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(source.variable);
  }
  return names;
}

}  // namespace gprofml::profile
