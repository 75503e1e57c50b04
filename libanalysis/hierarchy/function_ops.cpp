#include "libanalysis/hierarchy/function_ops.hpp"

#include <algorithm>
#include <cctype>

#include "libanalysis/hierarchy/range_tree.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::RowIndex;

namespace {

bool begins_with(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string without_anonymous_namespaces(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string out(function);
  for (std::size_t at = out.find(kAnonymous); at != std::string::npos; at = out.find(kAnonymous)) {
    out.erase(at, kAnonymous.size());
  }
  return out;
}

/// Libraries whose functions say nothing of what the program does.
bool is_foreign_library(std::string_view module) {
  const std::string_view name = module.substr(module.rfind('/') + 1);
  constexpr std::string_view kForeign[] = {
      "ld-linux",    "libc.so",     "libc-",     "libm.so",      "libpthread", "libdl.so",
      "libstdc++",   "libgcc_s",    "libc++",    "libgomp",      "libtbb",     "libcuda",
      "libcudart",   "libcublas",   "libcudnn",  "libcufft",     "libcurand",  "libcusparse",
      "libcusolver", "libnccl",     "libnvrtc",  "libnvJitLink", "libnvidia",  "libcupti",
      "libgprofml",  "libsimgpu",   "libpython", "libtorch",     "libc10",     "libtsan",
      "libasan",     "libclang_rt", "python",    "libnvToolsExt"};
  return std::any_of(std::begin(kForeign), std::end(kForeign),
                     [&](std::string_view head) { return begins_with(name, head); });
}

bool is_scaffolding(std::string_view name) {
  constexpr std::string_view kScaffolding[] = {
      "main", "_start", "cudaLaunchKernel", "__cudaLaunchKernel", "start_thread", "clone3"};
  return std::find(std::begin(kScaffolding), std::end(kScaffolding), name) !=
             std::end(kScaffolding) ||
         begins_with(name, "std::") || begins_with(name, "__gnu_cxx::") ||
         begins_with(name, "__device_stub__") || begins_with(name, "__libc_") ||
         begins_with(name, "nvtx3::") || begins_with(name, "nvtx");
}

struct Frame {
  std::string_view function;
  std::string_view module;
};

/// Outermost first.
std::vector<Frame> frames_down_to(const profile::Trace& trace, RowIndex innermost) {
  std::vector<Frame> frames;
  for (RowIndex row = innermost; row != kNoRow; row = trace.stack_frames[row].parent) {
    const profile::StackFrame& frame = trace.stack_frames[row];
    frames.push_back({trace.text(frame.function), trace.text(frame.module)});
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

void add(std::vector<std::string>& names, std::string name) {
  if (name.empty() || (!names.empty() && names.back() == name)) return;
  names.push_back(std::move(name));
}

// --- PyTorch ---------------------------------------------------------------------------------

/// "at::_ops::mul__Tensor::call(…)": the operator's name and overload are joined by '_', and
/// overloads that are words of types begin with a capital. Kineto's name for it is aten::mul_.
std::string aten_op(std::string_view function) {
  constexpr std::string_view kOps = "at::_ops::";
  const std::size_t at = function.find(kOps);
  if (at == std::string_view::npos) return {};
  std::string_view name = function.substr(at + kOps.size());
  const std::size_t end = name.find("::");
  if (end == std::string_view::npos || end == 0) return {};
  name = name.substr(0, end);
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && std::isupper(static_cast<unsigned char>(name[i + 1])) != 0) {
      name = name.substr(0, i);
      break;
    }
  }
  return "aten::" + std::string(name);
}

bool is_python(const Frame& frame) {
  return ends_with(frame.module, ".py");
}

/// A Python function of the program's own, not of the interpreter's libraries.
bool is_own_python(const Frame& frame) {
  return is_python(frame) && !contains(frame.module, "/site-packages/") &&
         !contains(frame.module, "/dist-packages/") && !contains(frame.module, "/lib/python") &&
         frame.function != "<module>" && !frame.function.empty();
}

std::vector<std::string> torch_names(const std::vector<Frame>& frames) {
  std::vector<std::string> names;
  for (const Frame& frame : frames) {
    if (is_own_python(frame)) add(names, std::string(frame.function));
    add(names, aten_op(frame.function));
  }
  return names;
}

// --- llama.cpp, ggml -------------------------------------------------------------------------

/// What computes a graph of ggml as a whole, not one of its nodes.
bool is_ggml_machinery(std::string_view name) {
  return begins_with(name, "ggml_cuda_compute_forward") || begins_with(name, "ggml_cuda_graph_") ||
         begins_with(name, "ggml_cuda_set_device") || begins_with(name, "ggml_cuda_pool");
}

std::vector<std::string> ggml_names(const std::vector<Frame>& frames) {
  std::vector<std::string> names;
  bool has_node = false;
  for (const Frame& frame : frames) {
    const std::string name = short_function_name(frame.function);
    if (name == "llama_decode" || name == "llama_encode") add(names, name);
    // The first of them is the node's own: ggml_cuda_mul_mat calls ggml_cuda_op_mul_mat.
    if (!has_node && begins_with(name, "ggml_cuda_") && !is_ggml_machinery(name)) {
      add(names, name);
      has_node = true;
    }
  }
  return names;
}

// --- any program -----------------------------------------------------------------------------

std::vector<std::string> own_names(const std::vector<Frame>& frames, std::string_view kernel) {
  const bool in_python = std::any_of(frames.begin(), frames.end(), is_python);
  std::vector<std::string> names;
  for (const Frame& frame : frames) {
    if (in_python) {
      if (is_own_python(frame)) add(names, std::string(frame.function));
      continue;
    }
    if (frame.module.empty() || is_foreign_library(frame.module)) continue;
    std::string name = short_function_name(frame.function);
    if (!is_scaffolding(name)) add(names, std::move(name));
  }
  if (!names.empty() && names.back() == short_function_name(kernel)) names.pop_back();
  return names;
}

}  // namespace

std::string short_function_name(std::string_view function) {
  const std::string whole = without_anonymous_namespaces(function);
  if (contains(whole, "{lambda") || contains(whole, "operator") || contains(whole, "'lambda"))
    return {};
  std::string name;
  int depth = 0;  // of template arguments
  for (const char c : whole) {
    if (c == '<' && !name.empty()) {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      if (c == '(') break;
      name += c;
    }
  }
  // A template's instance has its return type in front.
  const std::size_t blank = name.rfind(' ');
  return blank == std::string::npos ? name : name.substr(blank + 1);
}

std::vector<std::string> op_names(const profile::Trace& trace, RowIndex innermost_frame,
                                  std::string_view kernel) {
  const std::vector<Frame> frames = frames_down_to(trace, innermost_frame);
  const auto has_op = [](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return begins_with(name, "aten::"); });
  };
  std::vector<std::string> names = torch_names(frames);
  if (!has_op(names)) names = ggml_names(frames);
  if (names.empty()) names = own_names(frames, kernel);
  if (names.size() > RangeTree::kDeepest) names.resize(RangeTree::kDeepest);
  return names;
}

}  // namespace gprofml::analysis
