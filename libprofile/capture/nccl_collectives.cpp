#include "libprofile/capture/nccl_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libprofile/capture/innermost.hpp"

namespace gprofml::profile {
namespace {

// As NCCL 2.28 (CUDA 13.0) spells them.
constexpr std::string_view kDomain = "NCCL";
constexpr std::string_view kCommunicatorKey = "NCCL communicator ID";
constexpr std::string_view kBytesKey = "Message size [bytes]";
constexpr std::string_view kRanksKey = "No. of ranks";
constexpr std::string_view kGroupStart = "ncclGroupStart";
constexpr std::string_view kGroupEnd = "ncclGroupEnd";

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Said {
  std::optional<std::uint64_t> communicator;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> ranks;
};

struct Call {
  RowIndex range = kNoRow;
  RowIndex launcher =
      kNoRow;  ///< the range in which its kernels are launched: itself or a group's end
  StringId communicator = 0;
  std::int64_t bytes = 0;
  std::int64_t group_size = kUnknown;
};

/// Kernels of one place in the program that run one after the other: the node of a graph, or a
/// single launch.
struct Site {
  StringId name = 0;
  std::vector<RowIndex> kernels;
};

bool is_nccl_kernel(std::string_view name) {
  return name.substr(0, 13) == "ncclDevKernel" || name.substr(0, 10) == "ncclKernel";
}

class Collectives {
 public:
  explicit Collectives(Trace& trace) : trace_(trace) {}

  void add() {
    if (trace_.range_payloads.size() == 0) return;
    domain_ = trace_.intern(kDomain);
    find_calls();
    if (calls_.empty()) return;
    find_groups();
    find_sites();
    find_captured();
    for (const Call& call : calls_) add(call);
  }

 private:
  bool is_nccl(RowIndex range) const {
    return trace_.ranges.domain[range] == domain_ &&
           trace_.ranges.kind[range] == RangeKind::push_pop;
  }

  std::map<RowIndex, Said> read_payloads() const {
    std::map<RowIndex, Said> said;
    const RangePayloadColumns& payloads = trace_.range_payloads;
    for (std::size_t at = 0; at < payloads.size(); ++at) {
      const RowIndex range = payloads.range[at];
      if (!is_nccl(range)) continue;
      const std::string_view key = trace_.text(payloads.key[at]);
      const std::string_view value = trace_.text(payloads.value[at]);
      if (key == kCommunicatorKey) said[range].communicator = number_in<std::uint64_t>(value);
      if (key == kBytesKey) said[range].bytes = number_in<std::int64_t>(value);
      if (key == kRanksKey) said[range].ranks = number_in<std::int64_t>(value);
    }
    return said;
  }

  void find_calls() {
    const std::map<RowIndex, Said> said = read_payloads();
    std::map<std::uint64_t, std::int64_t> ranks;  // by communicator: what its creation said
    for (const auto& [range, what] : said) {
      if (what.communicator && what.ranks) ranks[*what.communicator] = *what.ranks;
    }
    for (const auto& [range, what] : said) {
      if (!what.communicator || !what.bytes) continue;
      const auto size = ranks.find(*what.communicator);
      calls_.push_back({range, range, trace_.intern(fmt::format("0x{:x}", *what.communicator)),
                        *what.bytes, size == ranks.end() ? kUnknown : size->second});
    }
  }

  /// Calls inside a group are launched by the end of the outermost one.
  void find_groups() {
    const RangeColumns& ranges = trace_.ranges;
    std::map<RowIndex, std::vector<RowIndex>> by_thread;
    for (RowIndex range = 0; range < ranges.size(); ++range) {
      if (is_nccl(range)) by_thread[ranges.thread[range]].push_back(range);
    }
    std::map<RowIndex, Call*> call_of;
    for (Call& call : calls_) call_of[call.range] = &call;
    for (auto& [thread, rows] : by_thread) {
      // In the order of their ends, which is the order in which rows were added: on a simulated
      // clock several may have one time.
      int depth = 0;
      std::vector<Call*> waiting;
      for (const RowIndex row : rows) {
        const std::string_view name = trace_.text(ranges.name[row]);
        if (name == kGroupStart) ++depth;
        const auto call = call_of.find(row);
        if (depth > 0 && call != call_of.end()) waiting.push_back(call->second);
        if (name != kGroupEnd || depth == 0 || --depth > 0) continue;
        for (Call* member : waiting) member->launcher = row;
        waiting.clear();
      }
    }
  }

  /// NCCL's kernels, by the range in which they were launched or captured, and by graph.
  void find_sites() {
    const KernelColumns& kernels = trace_.kernels;
    std::vector<RowIndex> rows;
    std::vector<ThreadMoment> moments;
    for (RowIndex kernel = 0; kernel < kernels.size(); ++kernel) {
      if (!is_nccl_kernel(trace_.text(kernels.name[kernel]))) continue;
      rows.push_back(kernel);
      moments.push_back(moment_of(kernel));
    }
    const std::vector<RowIndex> launchers = innermost_at(
        trace_.ranges, moments, false, [this](RowIndex range) { return is_nccl(range); });
    std::map<std::tuple<RowIndex, std::int64_t, RowIndex, RowIndex>, std::vector<RowIndex>> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowIndex node = kernels.graph_node[rows[i]];
      const RowIndex op = node == kNoRow ? kNoRow : trace_.graph_nodes[node].op;
      const RowIndex launcher = op != kNoRow && is_nccl(op) ? op : launchers[i];
      if (launcher == kNoRow) continue;
      const std::int64_t graph = node == kNoRow ? kUnknown : trace_.graph_nodes[node].graph_id;
      found[{launcher, graph, node, node == kNoRow ? rows[i] : kNoRow}].push_back(rows[i]);
    }
    for (auto& [place, of_site] : found) {
      const auto by_time = [&](RowIndex a, RowIndex b) {
        return std::tuple(kernels.start_ns[a], a) < std::tuple(kernels.start_ns[b], b);
      };
      std::sort(of_site.begin(), of_site.end(), by_time);
      sites_[std::get<0>(place)][std::get<1>(place)].push_back(
          {kernels.name[of_site.front()], std::move(of_site)});
    }
    for (auto& [launcher, by_graph] : sites_) {
      for (auto& [graph, sites] : by_graph) {
        std::stable_sort(sites.begin(), sites.end(), [&](const Site& a, const Site& b) {
          return kernels.start_ns[a.kernels.front()] < kernels.start_ns[b.kernels.front()];
        });
      }
    }
  }

  ThreadMoment moment_of(RowIndex kernel) const {
    const RowIndex node = trace_.kernels.graph_node[kernel];
    if (node != kNoRow) {
      const RowIndex op = trace_.graph_nodes[node].op;
      if (op == kNoRow) return {};
      return {trace_.ranges.thread[op], trace_.ranges.start_ns[op]};
    }
    const RowIndex launch = trace_.kernels.launch[kernel];
    if (launch == kNoRow) return {};
    return {trace_.api_calls.thread[launch], trace_.api_calls.start_ns[launch]};
  }

  /// Ranges in which nodes were captured: what they do is done when the graph is replayed.
  void find_captured() {
    for (const GraphNode& node : trace_.graph_nodes) {
      if (node.op != kNoRow && is_nccl(node.op)) captured_.insert(node.op);
    }
  }

  /// The kernels of a call among those launched together; nullptr: not to be told.
  const Site* site_of(const Call& call, const std::vector<Site>& sites) const {
    if (call.launcher == call.range || sites.size() == 1) return &sites.front();
    std::string_view operation = trace_.text(trace_.ranges.name[call.range]);
    if (operation.substr(0, 4) == "nccl") operation.remove_prefix(4);
    if (operation == "Send" || operation == "Recv") operation = "SendRecv";
    const Site* found = nullptr;
    for (const Site& site : sites) {
      if (trace_.text(site.name).find(operation) == std::string_view::npos) continue;
      if (found != nullptr) return nullptr;
      found = &site;
    }
    return found;
  }

  void add(const Call& call) {
    const auto launched = sites_.find(call.launcher);
    if (launched == sites_.end()) {
      if (captured_.count(call.launcher) == 0) add_row(call, kNoRow);
      return;
    }
    for (const auto& [graph, sites] : launched->second) {
      const Site* site = site_of(call, sites);
      if (site == nullptr) {
        add_row(call, kNoRow);
        continue;
      }
      for (const RowIndex kernel : site->kernels) add_row(call, kernel);
    }
  }

  void add_row(const Call& call, RowIndex kernel) {
    CollectiveColumns& collectives = trace_.collectives;
    collectives.kernel.push_back(kernel);
    collectives.range.push_back(call.range);
    collectives.communicator.push_back(call.communicator);
    collectives.operation.push_back(trace_.ranges.name[call.range]);
    collectives.dtype.push_back(0);
    collectives.elements_in.push_back(kUnknown);
    collectives.elements_out.push_back(kUnknown);
    collectives.bytes.push_back(call.bytes);
    collectives.group_size.push_back(call.group_size);
    collectives.ranks.push_back(0);
  }

  Trace& trace_;
  StringId domain_ = 0;
  std::vector<Call> calls_;
  std::map<RowIndex, std::map<std::int64_t, std::vector<Site>>> sites_;  // by launcher and graph
  std::set<RowIndex> captured_;
};

}  // namespace

void add_nccl_collectives(Trace& trace) {
  Collectives(trace).add();
}

}  // namespace gprofml::profile
