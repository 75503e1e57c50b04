// What the spool says about the process it records.
#pragma once

#include "injection/mailbox.hpp"

namespace gprofml::injection {

void post_process_facts(Mailbox& mailbox, const char* host);

}  // namespace gprofml::injection
