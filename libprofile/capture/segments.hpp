// The segments beside a spool of which only the last part is kept (format.hpp, Segment).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libprofile/spool/reader.hpp"

namespace gprofml::profile {

/// The segments of a spool, oldest first. Usually none, one or two.
struct Segments {
  std::vector<std::unique_ptr<SpoolReader>> readers;
  std::vector<std::string> unreadable;  ///< one line each: which file, why
};

/// Opens them, each as long as it is now. To be called before the spool itself is opened: its
/// process may write on, and the spool then has all that they need. One that was deleted meanwhile
/// makes it look again.
Segments open_segments(const std::string& spool_path);

}  // namespace gprofml::profile
