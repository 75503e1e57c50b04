#include "samples/llama_infer/options.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace llama_infer {
namespace {

constexpr int kMostPositions = 4096;
constexpr int kMostSequences = 256;

template <typename Number>
Number number(const std::string& option, const std::string& text, Number least, Number most) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < least || value > most) {
    throw UsageError(option + ": '" + text + "' is no whole number from " + std::to_string(least) +
                     " to " + std::to_string(most));
  }
  return value;
}

/// The options as they were given, one after the other.
class Reader {
 public:
  Reader(int count, const char* const* arguments) : arguments_(arguments + 1, arguments + count) {}

  /// False at the end.
  bool next() {
    if (place_ == arguments_.size()) return false;
    name_ = arguments_[place_++];
    const std::size_t equals = name_.find('=');
    has_own_value_ = name_.starts_with("--") && equals != std::string::npos;
    if (has_own_value_) {
      value_ = name_.substr(equals + 1);
      name_.resize(equals);
    }
    return true;
  }

  const std::string& name() const { return name_; }

  std::string value() {
    if (!has_own_value_ && place_ == arguments_.size()) throw UsageError(name_ + ": needs a value");
    std::string text = has_own_value_ ? value_ : arguments_[place_++];
    if (text.empty()) throw UsageError(name_ + ": needs a value");
    return text;
  }

  bool flag() const {
    if (has_own_value_) throw UsageError(name_ + ": takes no value");
    return true;
  }

 private:
  std::vector<std::string> arguments_;
  std::size_t place_ = 0;
  std::string name_, value_;
  bool has_own_value_ = false;
};

/// What each option does with its value.
std::map<std::string, std::function<void()>> actions_on(Options& options, Reader& reader) {
  const auto set_number = [&reader](auto& target, auto least, auto most) {
    return [&reader, &target, least, most] {
      target = number(reader.name(), reader.value(), least, most);
    };
  };
  const auto set_text = [&reader](std::string& target) {
    return [&reader, &target] { target = reader.value(); };
  };
  const auto set_flag = [&reader](bool& target) {
    return [&reader, &target] { target = reader.flag(); };
  };
  return {
      {"--layers", set_number(options.shape.layers, 1, kMostLayers)},
      {"--width", set_number(options.shape.width, kWidthStep, kMostWidth)},
      {"--heads", set_number(options.shape.heads, 1, kMostWidth / 2)},
      {"--prompt-length", set_number(options.prompt_length, 1, kMostPositions - 1)},
      {"--output-length", set_number(options.output_length, 1, kMostPositions - 1)},
      {"--batch", set_number(options.batch, 1, kMostSequences)},
      {"--seed", set_number(options.seed, std::uint64_t{0}, UINT64_MAX)},
      {"--weights", set_text(options.weights)},
      {"--write-weights", set_text(options.write_weights)},
      {"--graph", set_flag(options.graph)},
      {"--cpu", set_flag(options.cpu)},
      {"--verify", set_flag(options.verify)},
      {"--no-ranges", [&options, &reader] { options.ranges = !reader.flag(); }},
      {"--help", set_flag(options.help)},
  };
}

void check_together(const Options& options, const std::set<std::string>& given) {
  if (options.cpu && options.graph) throw UsageError("--graph: needs a GPU, --cpu uses none");
  if (options.cpu && options.verify) {
    throw UsageError("--verify: compares GPU and CPU, --cpu leaves out the GPU");
  }
  if (options.positions() > kMostPositions) {
    throw UsageError("--prompt-length, --output-length: together at most " +
                     std::to_string(kMostPositions));
  }
  if (options.weights.empty()) {
    const std::string problem = problem_with(options.shape);
    if (!problem.empty()) throw UsageError("--layers, --width, --heads: " + problem);
    return;
  }
  for (const char* shape_option : {"--layers", "--width", "--heads"}) {
    if (given.count(shape_option) != 0) {
      throw UsageError(std::string(shape_option) + ": the file of --weights states the model");
    }
  }
}

}  // namespace

Options parse_options(int argument_count, const char* const* arguments) {
  Options options;
  Reader reader(argument_count, arguments);
  const auto actions = actions_on(options, reader);
  std::set<std::string> given;
  while (reader.next()) {
    const auto action = actions.find(reader.name());
    if (action == actions.end()) {
      throw UsageError(reader.name() + ": unknown option, --help lists them");
    }
    if (!given.insert(reader.name()).second) throw UsageError(reader.name() + ": given twice");
    action->second();
  }
  if (!options.help) check_together(options, given);
  return options;
}

const char* const kHelp =
    "llama_infer: a small Llama-like decoder. It takes in a random prompt and continues it.\n"
    "\n"
    "  --layers N          layers of the model (6)\n"
    "  --width N           elements of a token's state, a multiple of 32 (256)\n"
    "  --heads N           attention heads (8)\n"
    "  --prompt-length N   tokens of each prompt (16)\n"
    "  --output-length N   tokens to generate for each prompt (64)\n"
    "  --batch N           prompts that are continued side by side (1)\n"
    "  --seed N            decides weights and prompts (1)\n"
    "  --weights FILE      read the model from FILE\n"
    "  --write-weights FILE  write the model to FILE, then go on\n"
    "  --graph             capture the decode step in a CUDA graph and replay it\n"
    "  --cpu               compute on the host, without any GPU\n"
    "  --verify            compute on both and compare the tokens\n"
    "  --no-ranges         make no NVTX ranges, as most programs\n"
    "  --help              this text\n"
    "\n"
    "Exit code 0: done; 1: no GPU, a CUDA error or different tokens; 2: bad command line or "
    "file.\n";

}  // namespace llama_infer
