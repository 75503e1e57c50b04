#include "libprofile/capture/perf_maps.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "libprofile/capture/call_stacks.hpp"
#include "libprofile/capture/merge.hpp"
#include "libprofile/spool/reader.hpp"

namespace gprofml::profile {
namespace {

// A large Python program has some ten thousand functions of a hundred bytes.
constexpr off_t kLargestMap = off_t{256} << 20;

class File {
 public:
  File(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void copy_map(const std::string& from, const std::string& to, Nanoseconds start_ns) {
  // /tmp belongs to everybody: no links are followed, and nobody else's file is read.
  const File source(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (source.descriptor() < 0 || ::fstat(source.descriptor(), &status) != 0) return;
  const Nanoseconds written_ns =
      Nanoseconds{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || written_ns < start_ns ||
      status.st_size > kLargestMap) {
    return;
  }
  const File target(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  if (target.descriptor() < 0) return;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(source.descriptor(), buffer, sizeof buffer);
    if (got <= 0) return;
    if (::write(target.descriptor(), buffer, static_cast<std::size_t>(got)) != got) {
      ::unlink(to.c_str());  // half a map gives half the names and no sign of it
      return;
    }
  }
}

}  // namespace

void keep_perf_maps(const std::string& folder, Nanoseconds start_ns, const std::string& maps) {
  std::vector<std::string> spools;
  try {
    spools = spools_in(folder);
  } catch (const CaptureError&) {
    return;
  }
  for (const std::string& path : spools) {
    try {
      const std::string name = perf_map_name(SpoolReader(path).header().pid);
      copy_map(maps + "/" + name, folder + "/" + name, start_ns);
    } catch (const SpoolError&) {
      // One that cannot be read has no stacks either.
    }
  }
}

bool is_perf_map(const std::string& name) {
  constexpr std::string_view kHead = "perf-", kTail = ".map";
  if (name.size() <= kHead.size() + kTail.size()) return false;
  const std::string_view view = name;
  const std::string_view digits =
      view.substr(kHead.size(), view.size() - kHead.size() - kTail.size());
  return view.substr(0, kHead.size()) == kHead &&
         view.substr(view.size() - kTail.size()) == kTail &&
         std::all_of(digits.begin(), digits.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace gprofml::profile
