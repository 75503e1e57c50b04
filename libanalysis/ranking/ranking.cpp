#include "libanalysis/ranking/ranking.hpp"

namespace gprofml::analysis {

std::string_view name_of(RankKind kind) {
  switch (kind) {
    case RankKind::op:
      return "op";
    case RankKind::carrier:
      return "carrier";
    case RankKind::cause:
      break;
  }
  return "cause";
}

}  // namespace gprofml::analysis
