// A copy of a shared library that does not define some of its functions, as an older version of it
// would not: dlsym does not find them, and a program linked against them does not start.
#pragma once

#include <string>

namespace gprofml::simgpu {

/// Makes the copy in memory, readable by this process and what it becomes at the path returned; ""
/// when that cannot be done. `names` are separated by commas; a name that the library does not have
/// is left in `unknown`.
std::string without_symbols(const std::string& library, const std::string& names,
                            std::string* unknown);

}  // namespace gprofml::simgpu
