#include "apps/gprof-ml/message.hpp"

#include <cstdio>

#include "libanalysis/report/printable.hpp"

namespace gprofml::app {

void print_message(const std::string& text) {
  std::fprintf(stderr, "gprof-ml: %s\n", analysis::printable(text).c_str());
}

}  // namespace gprofml::app
