// Runs the parts of the analysis that a test asks about and names their results.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "libanalysis/analyze.hpp"

namespace gprofml::test {

inline constexpr std::int64_t us = 1000;

using ByClass = std::map<std::string_view, std::int64_t>;

/// The non-zero classes of a sum by class, in microseconds.
template <class Values>
ByClass in_us(const Values& by_class) {
  ByClass named;
  for (int c = 0; c < analysis::kTimeClassCount; ++c) {
    const std::int64_t ns = by_class[static_cast<std::size_t>(c)];
    if (ns != 0) named[analysis::name_of(static_cast<analysis::TimeClass>(c))] = ns / us;
  }
  return named;
}

inline analysis::Report analyze_window(const profile::Trace& trace,
                                       analysis::WindowRequest::Kind kind,
                                       const std::string& range = {}) {
  analysis::AnalyzeOptions options;
  options.window.kind = kind;
  options.window.range = range;
  return analysis::analyze(trace, options);
}

inline analysis::Report analyze_all(const profile::Trace& trace) {
  return analyze_window(trace, analysis::WindowRequest::Kind::all);
}

}  // namespace gprofml::test
