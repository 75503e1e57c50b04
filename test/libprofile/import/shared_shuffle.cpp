// Real traces with nanosecond times import to the same trace in whatever order their events stand.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "libprofile/import/byte_source.hpp"
#include "libprofile/import/import.hpp"
#include "libprofile/import/json_scanner.hpp"
#include "test/libprofile/trace/difference.hpp"

using namespace gprofml::profile;

namespace {

std::string content_of(const std::string& path) {
  ByteSource source(path);
  std::string text(std::size_t{64} << 20, '\0');
  text.resize(source.read(text.data(), text.size()));
  return text;
}

/// The file with its events in another order; what stands around them stays.
std::string shuffled(const std::string& text, std::mt19937& random) {
  const std::size_t key = text.find("\"traceEvents\"");
  const std::size_t begin = text.find('[', key) + 1;
  std::vector<std::string> events;
  JsonScanner scanner;
  std::size_t at = begin;
  do {
    const std::size_t size = scanner.next_boundary(std::string_view(text).substr(at));
    REQUIRE(size != JsonScanner::kNone);
    events.push_back(text.substr(at, size));
    at += size + 1;
  } while (text[at - 1] != ']');
  std::shuffle(events.begin(), events.end(), random);
  std::string out = text.substr(0, begin);
  for (const std::string& event : events) out += event + ",";
  out.back() = ']';
  return out + text.substr(at);
}

}  // namespace

TEST_CASE("shuffled real traces import to the same trace") {
  const std::string file = GENERATE(
      "hta/nccl_parser_config__nccl_data.json.gz", "hta/triton_example__triton_example.json.gz",
      "hta/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
      "tracelens/h100__gaunernst_bert-small-uncased__1016001.json.gz",
      "tracelens/h100__Falconsai_nsfw_image_detection__1016002.json.gz",
      "tracelens/mi300__gaunernst_bert-small-uncased__1016001.json.gz",
      "tracelens/inf__sglang_Qwen3-8B_decode.json.gz",
      "tracelens/inf__vllm_decode_full_graph_execution.json.gz", "tracelens/nv_moe_01.json.gz");
  INFO(file);
  const std::string path = std::string(GPROFML_SHARED_DIR) + "/traces/" + file;
  const std::string text = content_of(path);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("gprofml_shuffle_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  // The file's name is part of the trace.
  const std::filesystem::path copy = folder / std::filesystem::path(path).filename();
  std::mt19937 random(11);
  const Trace reference = import_file(path);
  REQUIRE(reference.kernels.size() > 0);
  for (int round = 0; round < 3; ++round) {
    std::ofstream(copy, std::ios::binary) << shuffled(text, random);
    const Trace other = import_file(copy.string());
    CHECK(gprofml::test::first_difference(reference, other, gprofml::test::Sequence::ignore) == "");
  }
  std::filesystem::remove_all(folder);
}
