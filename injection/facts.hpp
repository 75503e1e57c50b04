// What the spool says about the process it records.
#pragma once

#include "injection/mailbox.hpp"
#include "injection/options.hpp"

namespace gprofml::injection {

void post_process_facts(Mailbox& mailbox, const char* host, const Options& options);

}  // namespace gprofml::injection
