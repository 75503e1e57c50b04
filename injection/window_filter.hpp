// Which of CUPTI's records are in a window.
#pragma once

#include "injection/activity_layouts.hpp"
#include "injection/windows.hpp"

namespace gprofml::injection {

/// Where things run and come from is always wanted; of what happened, what meets a window, and GPU
/// work that may have been launched in one.
bool is_in_window(const Windows& windows, const RawRecord& record);

}  // namespace gprofml::injection
