// --max-size: what all recorders of a recording write together is bounded.
#pragma once

#include <cstdint>
#include <string>

namespace gprofml::profile {

/// Bytes of all files in a spool folder; 0 when it cannot be read.
std::uint64_t spool_bytes(const std::string& folder);

/// Looks at the folder's size and ends the recording when it has reached the limit. The program
/// runs on. Each recorder holds the limit for its own file by itself, so none needs a launcher.
class SizeLimit {
 public:
  /// `most_bytes` 0: no limit.
  SizeLimit(std::string folder, std::uint64_t most_bytes);

  /// To be called now and then. Tells the recorders to stop, through the control file, once.
  void look();

  bool is_reached() const { return is_reached_; }

 private:
  std::string folder_;
  std::uint64_t most_bytes_;
  bool is_reached_ = false;
};

}  // namespace gprofml::profile
