#include "libanalysis/graph/call_traits.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace gprofml::analysis {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix &&
        is_upper(name[prefix.size()])) {
      return name.substr(prefix.size());
    }
  }
  return name;
}

// One suffix at a time: cuMemcpyHtoDAsync_v2_ptsz carries two.
std::string_view without_suffix(std::string_view name) {
  while (true) {
    const std::size_t at = name.rfind('_');
    if (at == std::string_view::npos) return name;
    const std::string_view suffix = name.substr(at + 1);
    const bool version = suffix.size() > 1 && suffix[0] == 'v' && all_digits(suffix.substr(1));
    if (!version && suffix != "ptsz" && suffix != "ptds") return name;
    name = name.substr(0, at);
  }
}

constexpr std::array<std::string_view, 6> kFrees{"Free",      "FreeHost", "HostFree",
                                                 "FreeArray", "MemFree",  "MemFreeHost"};

}  // namespace

std::string_view bare_call_name(std::string_view name) {
  return without_suffix(without_prefix(name));
}

CallTraits call_traits(std::string_view name) {
  const std::string_view bare = bare_call_name(name);
  CallTraits traits;
  traits.async = contains(bare, "Async");
  traits.copies = contains(bare, "Memcpy");
  traits.fills = contains(bare, "Memset");
  traits.submits = traits.copies || traits.fills || contains(bare, "Launch");
  // A host function waits its turn on a stream, but it is no work of a GPU.
  if (contains(bare, "LaunchHostFunc")) traits.submits = false;
  traits.graph_launch = contains(bare, "GraphLaunch");
  if (bare == "StreamSynchronize") traits.blocking = Blocking::stream;
  if (bare == "EventSynchronize") traits.blocking = Blocking::event;
  if (bare == "DeviceSynchronize" || bare == "CtxSynchronize" || bare == "ThreadSynchronize") {
    traits.blocking = Blocking::device;
  }
  if (std::find(kFrees.begin(), kFrees.end(), bare) != kFrees.end()) {
    traits.blocking = Blocking::free;
  }
  return traits;
}

CallTraitsTable::CallTraitsTable(const profile::Trace& trace) : names_(trace.api_calls.name) {
  by_name_.resize(trace.strings.size());
  std::vector<bool> done(trace.strings.size(), false);
  for (const profile::StringId name : names_) {
    if (done[name]) continue;
    done[name] = true;
    by_name_[name] = call_traits(trace.text(name));
  }
}

}  // namespace gprofml::analysis
