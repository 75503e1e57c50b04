#include "libprofile/capture/size_limit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "libprofile/spool/control.hpp"

namespace gprofml::profile {
namespace {

bool tell_recorders_to_stop(const std::string& folder) {
  const std::string path = folder + "/" + spool::kControlName;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const std::uint32_t stop = 1;
  const bool told =
      pwrite(descriptor, &stop, sizeof stop, offsetof(spool::ControlHeader, stop)) == sizeof stop;
  close(descriptor);
  return told;
}

}  // namespace

std::uint64_t spool_bytes(const std::string& folder) {
  namespace fs = std::filesystem;
  std::uint64_t bytes = 0;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const std::uintmax_t size = entry->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

SizeLimit::SizeLimit(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

void SizeLimit::look() {
  if (is_reached_ || most_bytes_ == 0 || folder_.empty()) return;
  if (spool_bytes(folder_) < most_bytes_) return;
  is_reached_ = tell_recorders_to_stop(folder_);
}

}  // namespace gprofml::profile
