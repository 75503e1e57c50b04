// Another order of the events in a Kineto file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::synth {

/// The raw texts of the events of a Kineto file, without the blanks around them: the elements of
/// the top-level array, or of the array under the top-level key "traceEvents". Throws
/// std::invalid_argument when the file has neither or its brackets do not match.
std::vector<std::string_view> kineto_events(std::string_view json);

/// The same file with its events in an order drawn by the seed. The text of each event and all
/// that is around the array stay byte for byte, so numbers keep their digits. Throws like
/// kineto_events.
std::string shuffle_kineto_events(const std::string& json, std::uint64_t seed);

}  // namespace gprofml::synth
