// What the name of a spool says: HOST-PID-START_NS-NONCE.spool, as the recorder makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gprofml::profile {

/// The process id in the name of a spool that was made on `host`; nullopt for any other name.
std::optional<std::int64_t> pid_of_spool(std::string_view name, std::string_view host);

}  // namespace gprofml::profile
