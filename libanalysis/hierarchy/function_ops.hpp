// Ops from function names: what a launch belongs to where no range is around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// A demangled function without parameters, template arguments, return type and anonymous
/// namespaces: "void a::(anonymous namespace)::f<int>(int)" is "a::f". Empty where nothing is left
/// that names anything (lambdas, operators).
std::string short_function_name(std::string_view function);

/// The op path that a call stack spells, outermost first; empty: it spells none. In this order:
/// - operators of PyTorch (at::_ops::mul_Tensor::call is aten::mul) and, in front of them, the
///   Python functions of the program;
/// - llama.cpp and ggml: llama_decode, then the ggml_cuda function of the node that is computed;
/// - else the functions of the program and of its own libraries, without those of the C and C++
///   libraries, of CUDA's libraries and of interpreters, and without `kernel` itself, which stands
///   in the program as a function too, the one that launches it.
std::vector<std::string> op_names(const profile::Trace& trace, profile::RowIndex innermost_frame,
                                  std::string_view kernel);

}  // namespace gprofml::analysis
