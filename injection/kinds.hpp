// Which of CUPTI's activity kinds record what is asked for.
#pragma once

#include "injection/cupti_session.hpp"

namespace gprofml::injection {

/// Enables the kinds of the recording's groups, with what each needs beside it. What is refused is
/// noted ("not_enabled"). Returns CUPTI's answer for kernels, without which the rest is of little
/// use but kept; success when they are not asked for.
CUptiResult enable_kinds(CuptiSession& session);

/// Disables what records memory, for good.
void disable_memory_kinds(CuptiSession& session);

/// Disables what enable_kinds() enabled, and all calls.
void disable_kinds(CuptiSession& session);

}  // namespace gprofml::injection
