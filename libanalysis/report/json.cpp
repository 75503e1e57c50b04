#include "libanalysis/report/json.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace gprofml::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json known(std::int64_t value) {
  return value == profile::kUnknown ? Json() : Json(value);
}

/// An array with one element `f(item)` an item; an empty one stays an array.
template <typename Items, typename Function>
Json array_of(const Items& items, Function f) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(f(item));
  return array;
}

Json nonzero_classes(const std::array<profile::Nanoseconds, kTimeClassCount>& by_class) {
  Json object = Json::object();
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i] != 0) object[std::string(name_of(static_cast<TimeClass>(i)))] = by_class[i];
  }
  return object;
}

Json run_json(const RunInfo& run) {
  return {{"source", run.source},
          {"command", run.command},
          {"simulated", run.simulated},
          {"start_ns", run.start_ns},
          {"end_ns", run.end_ns}};
}

Json window_json(const Window& window) {
  return {{"kind", name_of(window.kind)},
          {"from_ns", window.from_ns},
          {"to_ns", window.to_ns},
          {"recorded_windows", window.recorded_windows},
          {"left_out", array_of(window.left_out, [](const LeftOut& part) {
             return Json{{"what", part.what}, {"ns", part.duration_ns}};
           })}};
}

Json quality_json(const Quality& quality) {
  return {{"calls", quality.calls},
          {"submissions", quality.submissions},
          {"linked", quality.linked},
          {"unlinked", quality.unlinked},
          {"coverage", quality.coverage},
          {"no_timestamp", quality.no_timestamp},
          {"overruns", quality.overruns},
          {"dropped", quality.dropped},
          {"warnings", array_of(quality.warnings, [](const QualityWarning& warning) {
             return Json{
                 {"code", warning.code}, {"count", warning.count}, {"message", warning.message}};
           })}};
}

Json steps_json(const Steps& steps) {
  // Without steps there is no median: null, so that nobody takes 0 ns for a measured figure.
  const auto of_steps = [&steps](std::int64_t value) {
    return steps.count == 0 ? Json() : Json(value);
  };
  return {{"count", steps.count},
          {"kind", steps.kind},
          {"source", steps.source},
          {"confidence", steps.confidence},
          {"median_ns", of_steps(steps.median_ns)},
          {"p95_ns", of_steps(steps.p95_ns)},
          {"p99_ns", of_steps(steps.p99_ns)},
          {"launches", of_steps(steps.launches)},
          {"signature",
           {{"launches", of_steps(steps.signature.launches)},
            {"identical", steps.signature.identical},
            {"of", steps.signature.of}}},
          {"outliers", array_of(steps.outliers, [](const StepOutlier& outlier) {
             return Json{{"index", outlier.index},
                         {"duration_ns", outlier.duration_ns},
                         {"name", outlier.name}};
           })}};
}

Json device_json(const Report& report, const DeviceReport& device) {
  const DeviceTimeline& time = device.timeline;
  Json json = {{"id", known(device.id)},
               {"name", device.name},
               {"uuid", device.uuid},
               {"host", device.host},
               {"processes", array_of(device.processes, known)},
               {"lambda_ns", report.lambda_ns},
               {"Lambda_ns", report.Lambda_ns},
               {"kernels", time.kernels},
               {"copies", time.copies},
               {"fills", time.fills},
               {"kernel_ns", time.kernel_ns},
               {"copy_ns", time.copy_ns},
               {"fill_ns", time.fill_ns},
               {"busy_ns", time.busy_ns},
               {"busy_corrected_ns", time.busy_corrected_ns},
               {"kernel_union_ns", time.kernel_union_ns},
               {"memory_union_ns", time.memory_union_ns},
               {"communication_union_ns", time.communication_union_ns},
               {"communication_exposed_ns", time.communication_exposed_ns},
               {"copy_exposed_ns", time.copy_exposed_ns},
               {"span_ns", time.span_ns},
               {"idle_ns", time.idle_ns},
               {"idle", {{"by_cause", nonzero_classes(time.idle_by_cause)}}}};
  if (time.graph_launches > 0) {
    json["graph_launches"] = time.graph_launches;
    json["graph_ns"] = time.graph_ns;
  }
  return json;
}

/// Nearest nanosecond, halves up; null for a kernel that never ran.
Json mean_ns(const KernelStatistics& kernel) {
  if (kernel.count <= 0) return Json();
  const std::int64_t whole = kernel.total_ns / kernel.count;
  const std::int64_t rest = kernel.total_ns % kernel.count;
  return whole + (rest >= kernel.count - rest ? 1 : 0);
}

Json kernels_json(const Report& report) {
  Json array = Json::array();
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelStatistics& kernel = report.kernels[i];
    array.push_back({{"name", kernel.name},
                     {"device", known(report.kernel_device_ids.at(i))},
                     {"count", kernel.count},
                     {"total_ns", kernel.total_ns},
                     {"min_ns", kernel.min_ns},
                     {"max_ns", kernel.max_ns},
                     {"mean_ns", mean_ns(kernel)}});
  }
  return array;
}

Json op_json(const OpStatistics& op) {
  return {{"path", op.path},
          {"count", op.count},
          {"source", name_of(op.source)},
          {"host_ns", known(op.host_ns)},
          {"device_ns", op.device_ns},
          {"kernels", op.kernels}};
}

Json segment_json(const SegmentReport& segment) {
  return {{"class", name_of(segment.time_class)},
          {"name", segment.name},
          {"start_ns", segment.start_ns},
          {"duration_ns", segment.duration_ns},
          {"inferred", segment.inferred}};
}

Json critical_path_json(const Report& report, bool with_segments) {
  const CriticalPath& path = report.critical_path;
  if (!path.exists) return Json();
  Json object = {{"window_ns", path.window_ns},
                 {"segments_total_ns", path.segments_total_ns},
                 {"gpu_ns", path.gpu_ns},
                 {"inferred_ns", path.inferred_ns},
                 {"unknown_ns", path.unknown_ns},
                 {"partial", path.partial},
                 {"partial_because", path.partial_because},
                 {"by_class", nonzero_classes(path.by_class)},
                 {"calls", array_of(report.path_calls, [](const CallOnPath& call) {
                    return Json{{"name", call.name}, {"ns", call.path_ns}};
                  })}};
  if (with_segments) object["segments"] = array_of(report.segments, segment_json);
  return object;
}

Json ranking_json(const Ranking& ranking) {
  return {{"iterations", ranking.iterations},
          {"residual", ranking.residual},
          {"nodes", array_of(ranking.nodes, [](const RankedNode& node) {
             return Json{{"kind", name_of(node.kind)},
                         {"name", node.name},
                         {"score", node.score},
                         {"path_share", node.path_share}};
           })}};
}

Json quantiles_json(const std::optional<DurationQuantiles>& quantiles) {
  if (!quantiles) return Json();
  return {{"count", quantiles->count},
          {"median_ns", quantiles->median_ns},
          {"p95_ns", quantiles->p95_ns},
          {"p99_ns", quantiles->p99_ns}};
}

Json serving_json(const Serving& serving) {
  if (serving.requests == 0) return Json();
  const auto left_out = [](const RequestsLeftOut& part) {
    return Json{{"why", part.why}, {"count", part.count}};
  };
  const bool has_rate = serving.tokens > 0 && serving.span_ns > 0;
  return {{"request_range", serving.names.request},
          {"prefill_range", serving.names.prefill},
          {"token_range", serving.names.token},
          {"requests", serving.requests},
          {"judged", serving.judged},
          {"left_out", array_of(serving.left_out, left_out)},
          {"tokens", serving.tokens},
          {"span_ns", serving.span_ns},
          {"tokens_per_s", has_rate ? Json(1e9 * static_cast<double>(serving.tokens) /
                                           static_cast<double>(serving.span_ns))
                                    : Json()},
          {"latency", quantiles_json(serving.latency)},
          {"ttft", quantiles_json(serving.ttft)},
          {"tpot", quantiles_json(serving.tpot)},
          {"ttft_by_prefill", serving.ttft_by_prefill},
          {"ended_before_gpu", serving.ended_before_gpu},
          {"ambiguous", serving.ambiguous}};
}

Json metric_json(const ProgramMetric& metric) {
  const auto of_matches = [&metric](double value) {
    return metric.value ? Json(value) : Json();
  };
  return {{"name", metric.name},       {"pattern", metric.pattern},
          {"count", metric.count},     {"value", of_matches(metric.value.value_or(0))},
          {"min", of_matches(metric.min)}, {"max", of_matches(metric.max)}};
}

Json abstention_json(const Abstention& abstention) {
  return {{"rule", abstention.rule},
          {"missing", abstention.missing},
          {"switch", abstention.switch_to_record}};
}

}  // namespace

std::string render_json(const Report& report, const JsonOptions& options) {
  const auto device = [&report](const DeviceReport& d) { return device_json(report, d); };
  const Json document = {
      {"schema_version", kReportSchemaVersion},
      {"tool_version", options.tool_version},
      {"run", run_json(report.run)},
      {"window", window_json(report.window)},
      {"quality", quality_json(report.quality)},
      {"clock", {{"bound_ns", known(report.clock_bound_ns)}}},
      {"steps", steps_json(report.steps)},
      {"verdict",
       {{"bound", name_of(report.verdict.bound)}, {"sentence", report.verdict.sentence}}},
      {"devices", array_of(report.devices, device)},
      {"kernels", kernels_json(report)},
      {"ops", array_of(report.ops, op_json)},
      {"critical_path", critical_path_json(report, options.path)},
      {"ranking", ranking_json(report.ranking)},
      {"serving", serving_json(report.serving)},
      {"metrics", array_of(report.metrics, metric_json)},
      {"replay", nullptr},
      {"findings", Json::array()},
      {"abstained", array_of(report.abstained, abstention_json)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gprofml::analysis
