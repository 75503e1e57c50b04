#include "libprofile/import/copy_name.hpp"

#include <string>
#include <utility>

namespace gprofml::profile {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

CopyKind kind_in(const std::string& text) {
  static constexpr std::pair<std::string_view, CopyKind> kWords[] = {
      {"htod", CopyKind::host_to_device},   {"hosttodevice", CopyKind::host_to_device},
      {"dtoh", CopyKind::device_to_host},   {"devicetohost", CopyKind::device_to_host},
      {"dtod", CopyKind::device_to_device}, {"devicetodevice", CopyKind::device_to_device},
      {"htoh", CopyKind::host_to_host},     {"hosttohost", CopyKind::host_to_host},
      {"ptop", CopyKind::peer_to_peer},     {"peer", CopyKind::peer_to_peer},
      {"htoa", CopyKind::host_to_array},    {"atoh", CopyKind::array_to_host},
      {"atoa", CopyKind::array_to_array},   {"atod", CopyKind::array_to_device},
      {"dtoa", CopyKind::device_to_array},
  };
  for (const auto& [word, kind] : kWords)
    if (text.find(word) != std::string::npos) return kind;
  return CopyKind::unknown;
}

MemoryKind memory_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  static constexpr std::pair<std::string_view, MemoryKind> kWords[] = {
      {"pageable", MemoryKind::pageable}, {"pinned", MemoryKind::pinned},
      {"device", MemoryKind::device},     {"array", MemoryKind::array},
      {"managed", MemoryKind::managed},   {"device static", MemoryKind::device_static},
  };
  for (const auto& [word, kind] : kWords)
    if (text == word) return kind;
  return MemoryKind::unknown;
}

/// The last pair of parentheses: what stands in them, empty when there is none.
std::string_view parenthesised(std::string_view text) {
  const std::size_t open = text.rfind('(');
  const std::size_t close = text.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

CopyTraits copy_traits(std::string_view name, std::string_view kind) {
  const std::string text = lower(name);
  CopyTraits traits;
  traits.kind = kind_in(text.substr(0, text.rfind('(')));
  if (traits.kind == CopyKind::unknown) traits.kind = kind_in(lower(kind));
  const std::string_view memory = parenthesised(text);
  const std::size_t arrow = memory.find("->");
  if (arrow == std::string_view::npos) return traits;
  traits.source = memory_in(memory.substr(0, arrow));
  traits.target = memory_in(memory.substr(arrow + 2));
  return traits;
}

MemoryKind fill_memory(std::string_view name) {
  const std::string text = lower(name);
  return memory_in(parenthesised(text));
}

}  // namespace gprofml::profile
