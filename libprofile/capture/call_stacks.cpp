#include "libprofile/capture/call_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace gprofml::profile {
namespace {

// So many stacks are kept before they are unwound, at up to 10 KiB each.
constexpr std::size_t kMostSaved = 512;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool begins_with(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

/// Libraries below the program's call: the recorder, CUPTI, CUDA and what stands in for it.
bool is_below_the_call(std::string_view module) {
  const std::string_view name = file_name(module);
  for (const std::string_view head :
       {"libgprofml_injection", "libcupti.so", "libcuda.so", "libcudart.so", "libsimgpu"}) {
    if (begins_with(name, head)) return true;
  }
  return false;
}

/// CUDA's own entry points, where its runtime is part of the program.
bool is_cuda_call(std::string_view function) {
  while (!function.empty() && function.front() == '_') function.remove_prefix(1);
  const bool is_cuda =
      begins_with(function, "cuda") || (begins_with(function, "cu") && function.size() > 2 &&
                                        function[2] >= 'A' && function[2] <= 'Z');
  return is_cuda && function.find_first_of("(<: ") == std::string_view::npos;
}

}  // namespace

std::string perf_map_name(std::int64_t pid) {
  return fmt::format("perf-{}.map", pid);
}

void CallStacks::use_perf_map(const std::string& path) {
  PerfMap map = PerfMap::read(path);
  if (!map.empty()) perf_map_ = std::make_shared<const PerfMap>(std::move(map));
}

void CallStacks::take(const spool::Module& record, StringId path) {
  MappedCode code;
  code.path = trace_.text(path);
  code.build_id.assign(reinterpret_cast<const char*>(record.build_id),
                       std::min<std::size_t>(record.build_id_bytes, sizeof record.build_id));
  code.start = record.start;
  code.bytes = record.bytes;
  code.file_offset = record.file_offset;
  code.file_bytes = record.file_bytes;
  code.modified_ns = record.modified_ns;
  name_saved();  // with what was mapped when they were taken
  const auto overlaps = [&](const MappedCode& other) {
    return other.start < code.start + code.bytes && code.start < other.start + other.bytes;
  };
  code_.erase(std::remove_if(code_.begin(), code_.end(), overlaps), code_.end());
  image_.reset();
  if (!code.path.empty()) {
    auto& [build_id, bytes] = modules_[{code.path, code.start - code.file_offset}];
    for (const char byte : code.build_id) {
      if (build_id.size() < 2 * code.build_id.size()) {
        build_id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      }
    }
    bytes += static_cast<std::int64_t>(code.bytes);
  }
  code_.push_back(std::move(code));
}

bool CallStacks::take(const RecordView& view) {
  const auto record = view.as<spool::Stack>();
  if (!record) return false;
  const auto words =
      view.text(sizeof *record, std::size_t{record->words} * sizeof(spool::StackWord));
  if (!words) return false;
  Saved saved;
  saved.id = record->id;
  saved.flags = record->flags;
  saved.stack.copied_bytes = record->copied_bytes;
  std::copy(std::begin(record->registers), std::end(record->registers), saved.stack.registers);
  for (std::size_t at = 0; at < words->size(); at += sizeof(spool::StackWord)) {
    spool::StackWord word;
    std::memcpy(&word, words->data() + at, sizeof word);
    saved.stack.words.push_back({SavedStack::kBase + word.offset, word.value});
  }
  std::stable_sort(saved.stack.words.begin(), saved.stack.words.end(),
                   [](const auto& a, const auto& b) { return a.address < b.address; });
  saved_.push_back(std::move(saved));
  if (saved_.size() >= kMostSaved) name_saved();
  return true;
}

void CallStacks::name_saved() {
  if (saved_.empty()) return;
  if (!image_) {
    image_ = std::make_unique<ProcessImage>(code_, perf_map_);
    for (const std::string& path : image_->changed_files()) changed_files_[path] = true;
  }
  for (const Saved& saved : saved_) {
    const RowIndex frame = innermost_frame(image_->unwind(saved.stack));
    if ((saved.flags & spool::Stack::kElsewhere) != 0) ++elsewhere_;
    if (frame == kNoRow) ++without_frames_;
    frame_of_stack_[saved.id] = frame;
  }
  saved_.clear();
}

RowIndex CallStacks::innermost_frame(const std::vector<std::uint64_t>& addresses) {
  std::vector<const CodeName*> names;  // innermost first
  for (const std::uint64_t address : addresses) {
    for (const CodeName& name : image_->names_at(address)) names.push_back(&name);
  }
  std::size_t first = 0;
  while (first < names.size() && is_below_the_call(names[first]->module)) ++first;
  constexpr std::size_t kDeepestCall = 16;  // frames of a runtime that is part of the program
  for (std::size_t i = std::min(names.size(), first + kDeepestCall); i-- > first;) {
    if (is_cuda_call(names[i]->function)) {
      first = i + 1;
      break;
    }
  }
  RowIndex row = kNoRow;
  for (std::size_t i = names.size(); i-- > first;) row = frame_row(row, *names[i]);
  return row;
}

RowIndex CallStacks::frame_row(RowIndex parent, const CodeName& name) {
  StackFrame frame;
  frame.parent = parent;
  frame.function = trace_.intern(name.function);
  frame.module = trace_.intern(name.module);
  if (name.function.empty() && name.offset >= 0) frame.offset = name.offset;
  const auto [known, is_new] =
      frames_.try_emplace(frame, static_cast<RowIndex>(trace_.stack_frames.size()));
  if (is_new) trace_.stack_frames.push_back(frame);
  return known->second;
}

void CallStacks::add_modules() {
  ModuleColumns& modules = trace_.modules;
  for (const auto& [where, what] : modules_) {
    modules.process.push_back(0);
    modules.path.push_back(trace_.intern(where.first));
    modules.build_id.push_back(trace_.intern(what.first));
    modules.base.push_back(where.second);
    modules.bytes.push_back(what.second);
  }
}

void CallStacks::finish(const GraphNodes& nodes) {
  name_saved();
  image_.reset();
  add_modules();
  CallStackColumns& stacks = trace_.call_stacks;
  const auto add = [&](RowIndex call, RowIndex node, RowIndex frame) {
    stacks.call.push_back(call);
    stacks.graph_node.push_back(node);
    stacks.frame.push_back(frame);
  };
  // Of several calls with one id, the runtime's and the driver's in it, the outermost.
  const ApiCallColumns& calls = trace_.api_calls;
  std::unordered_map<std::int64_t, RowIndex> call_of;
  std::unordered_map<std::uint64_t, RowIndex> frame_of_node;
  if (!uses_.empty()) {
    for (RowIndex call = 0; call < calls.size(); ++call) {
      const auto [known, is_new] = call_of.try_emplace(calls.correlation[call], call);
      if (!is_new && calls.start_ns[call] < calls.start_ns[known->second]) known->second = call;
    }
  }
  for (const spool::CallStack& use : uses_) {
    const auto frame = frame_of_stack_.find(use.stack);
    if (frame == frame_of_stack_.end() || frame->second == kNoRow) continue;
    if (use.graph_node != 0) {
      frame_of_node.emplace(use.graph_node, frame->second);
      continue;
    }
    const auto call = call_of.find(use.correlation);
    if (call == call_of.end()) {
      ++unplaced_;
      continue;
    }
    add(call->second, kNoRow, frame->second);
  }
  if (frame_of_node.empty()) return;
  for (RowIndex row = 0; row < trace_.graph_nodes.size(); ++row) {
    const auto frame = frame_of_node.find(nodes.first_node_of(row));
    if (frame != frame_of_node.end()) add(kNoRow, row, frame->second);
  }
}

std::vector<CallStacks::Note> CallStacks::notes() const {
  std::vector<Note> notes;
  if (elsewhere_ > 0) {
    notes.push_back({"stacks_elsewhere", elsewhere_,
                     "different call stacks of coroutines and signal handlers: at most 4 KiB of "
                     "each, so outer frames may be missing"});
  }
  if (without_frames_ > 0) {
    notes.push_back({"stacks_without_frames", without_frames_,
                     "different call stacks that could not be followed to the program's code"});
  }
  if (unplaced_ > 0) {
    notes.push_back(
        {"stacks_without_call", unplaced_, "call stacks whose calls were not recorded"});
  }
  for (const auto& [path, changed] : changed_files_) {
    notes.push_back({"code_changed", 1,
                     fmt::format("{} is gone or is not what the program ran: its functions have no "
                                 "names, and call stacks end there",
                                 path)});
  }
  return notes;
}

}  // namespace gprofml::profile
