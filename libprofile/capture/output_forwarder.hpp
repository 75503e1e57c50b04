// The process behind an OutputTap that hands a program's output on.
#pragma once

#include <cstdint>
#include <string>

namespace gprofml::profile {

/// What an OutputTap says to a forwarder over its socket, a message each: the first byte is the
/// kind.
enum class ForwarderMessage : char {
  keep_in = 'K',  ///< behind it the path of the file for copies
  drain = 'D',    ///< answered with the same once there is nothing to read
  stop_keeping = 'S'
};

struct ForwarderDescriptors {
  int from = -1;     ///< reads the program's output: a pipe or the master of a pty
  int to = -1;       ///< where it goes
  int control = -1;  ///< SOCK_SEQPACKET
  bool is_pty = false;
};

/// The last this many bytes of an output are kept.
inline constexpr std::uint64_t kKeptOutputBytes = std::uint64_t{64} << 20;

/// The head of a file of copies, behind which the ring begins.
struct KeptOutputHeader {
  std::uint64_t total = 0;  ///< bytes ever written to it
  std::uint64_t ring = 0;   ///< bytes of the ring
};

inline constexpr char kOutputSuffix[] = ".output";
/// Output that goes to a regular file: the offset where the program's begins, a line end, the path.
inline constexpr char kOutputPlaceSuffix[] = ".output-place";

/// Hands on until nobody can write to `from` any more, or nobody reads `to`. Call in a process of
/// its own, which has one thread and blocks signals. Never throws.
void forward_output(const ForwarderDescriptors& descriptors, std::uint64_t kept_bytes);

}  // namespace gprofml::profile
