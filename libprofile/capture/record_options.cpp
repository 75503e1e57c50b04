#include "libprofile/capture/record_options.hpp"

#include <fmt/format.h>

#include <sstream>

#include "libprofile/capture/merge.hpp"

namespace gprofml::profile {
namespace {

/// Bytes that mean something in the variable, or that a shell or a log would stumble over, as %XX.
std::string encoded(const std::string& value) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == ';' || c == '%' || c == '=') {
      text += fmt::format("%{:02X}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

class OptionsText {
 public:
  template <class Value>
  void add(const char* key, const Value& value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ";", key, value);
  }
  void add_unless_zero(const char* key, std::uint64_t value) {
    if (value != 0) add(key, value);
  }
  void add_flag(const char* key, bool value) {
    if (value) add(key, 1);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string options_text(const RecordOptions& options) {
  OptionsText text;
  if (options.level != spool::kDefaultLevel) text.add(spool::kLevelKey, options.level);
  if (options.groups) text.add(spool::kKindsKey, group_names(*options.groups));
  if (options.whole_graphs) text.add(spool::kGraphsKey, *options.whole_graphs ? "whole" : "nodes");
  text.add_flag(spool::kPythonKey, options.python);
  text.add_flag(spool::kRedactKey, options.redact);
  text.add_unless_zero(spool::kMostBytesKey, options.most_bytes);
  text.add_unless_zero(spool::kBudgetKey, options.budget_ppm);
  text.add_flag(spool::kPausedKey, options.paused);
  text.add_flag(spool::kProfilerApiKey, options.profiler_api);
  text.add_unless_zero(spool::kDelayKey, static_cast<std::uint64_t>(options.delay_ns));
  text.add_unless_zero(spool::kDurationKey, static_cast<std::uint64_t>(options.duration_ns));
  text.add_unless_zero(spool::kKeepLastKey, static_cast<std::uint64_t>(options.keep_last_ns));
  if (!options.range.empty()) text.add(spool::kRangeKey, encoded(options.range));
  if (options.range_index) text.add(spool::kRangeIndexKey, *options.range_index);
  if (options.steps) {
    text.add(spool::kStepsKey,
             fmt::format("{},{},{},{}", options.steps->wait, options.steps->warmup,
                         options.steps->active, options.steps->repeat));
    text.add(spool::kStepKey, encoded(options.steps->step));
  }
  return text.take();
}

std::uint32_t groups_of(const RecordOptions& options) {
  std::uint32_t groups = options.groups.value_or(spool::groups_of_level(options.level));
  if (options.whole_graphs) {
    groups = *options.whole_graphs ? groups & ~spool::kGraphNodes : groups | spool::kGraphNodes;
  }
  return groups;
}

std::string group_names(std::uint32_t groups) {
  std::string names;
  for (const spool::GroupName& group : spool::kGroupNames) {
    if ((groups & group.bit) == 0) continue;
    if (!names.empty()) names += ',';
    names += group.name;
  }
  return names;
}

std::uint32_t groups_named(const std::string& list) {
  std::uint32_t groups = 0;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    std::uint32_t bit = 0;
    for (const spool::GroupName& group : spool::kGroupNames) {
      if (word == group.name) bit = group.bit;
    }
    if (bit == 0) {
      throw CaptureError(fmt::format("--kinds: no kind \"{}\"; there are {}", word,
                                     group_names(~std::uint32_t{0})));
    }
    groups |= bit;
  }
  if (groups == 0) {
    throw CaptureError("--kinds: names nothing; there are " + group_names(~std::uint32_t{0}));
  }
  return groups;
}

}  // namespace gprofml::profile
