// The environment variables that a recording keeps (spool/environment_names.hpp), as facts
// "env.NAME".
#pragma once

#include "injection/mailbox.hpp"

namespace gprofml::injection {

/// `environment` as environ: NAME=VALUE, ended by nullptr. May be nullptr.
void post_environment(Mailbox& mailbox, const char* const* environment);

}  // namespace gprofml::injection
