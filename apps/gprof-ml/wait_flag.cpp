#include "apps/gprof-ml/wait_flag.hpp"

#include <CLI/CLI.hpp>

#include "libprofile/capture/parse_quantity.hpp"

namespace gprofml::app {

profile::Patience patience_of(const std::string& text) {
  profile::Patience patience;
  patience.for_processes = true;
  patience.is_endless = text == "all";
  if (patience.is_endless) return patience;
  const bool is_number =
      !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  const auto time = profile::parse_duration(text == "none" ? "0" : is_number ? text + "s" : text);
  if (!time) throw CLI::ValidationError("--wait: takes seconds, all or none, not " + text);
  patience.time_ns = *time;
  return patience;
}

}  // namespace gprofml::app
