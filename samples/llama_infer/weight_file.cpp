#include "samples/llama_infer/weight_file.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace llama_infer {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

struct Header {
  char magic[8];
  std::int32_t version, layers, width, heads, vocabulary, reserved;
};
static_assert(sizeof(Header) == 32);

constexpr char kMagic[] = "LLAMAF32";
constexpr std::int32_t kVersion = 1;

Header header_of(const ModelShape& shape) {
  Header header{{}, kVersion, shape.layers, shape.width, shape.heads, kVocabulary, 0};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  return header;
}

void check(const Header& header, const std::string& path) {
  if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0) {
    throw FileError(path + ": not a weight file (it does not begin with LLAMAF32)");
  }
  if (header.version != kVersion || header.vocabulary != kVocabulary) {
    throw FileError(path + ": version " + std::to_string(header.version) + " with vocabulary " +
                    std::to_string(header.vocabulary) + "; only version 1 with vocabulary " +
                    std::to_string(kVocabulary) + " is known");
  }
}

}  // namespace

StoredModel read_weights(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw FileError(path + ": cannot be opened");
  const auto file_bytes = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  Header header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) {
    throw FileError(path + ": too short for a weight file's header");
  }
  check(header, path);
  const ModelShape shape{header.layers, header.width, header.heads};
  if (const std::string problem = problem_with(shape); !problem.empty()) {
    throw FileError(path + ": its header states an impossible model: " + problem);
  }
  const std::size_t size = WeightLayout(shape).size;
  const std::uint64_t expected_bytes = sizeof header + size * sizeof(float);
  if (file_bytes != expected_bytes) {
    throw FileError(path + ": " + std::to_string(file_bytes) + " bytes, but the model in its " +
                    "header takes " + std::to_string(expected_bytes));
  }
  StoredModel model{shape, std::vector<float>(size)};
  if (!file.read(reinterpret_cast<char*>(model.weights.data()),
                 static_cast<std::streamsize>(size * sizeof(float)))) {
    throw FileError(path + ": cannot be read to its end");
  }
  return model;
}

void write_weights(const std::string& path, const ModelShape& shape,
                   const std::vector<float>& weights) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const Header header = header_of(shape);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(reinterpret_cast<const char*>(weights.data()),
             static_cast<std::streamsize>(weights.size() * sizeof(float)));
  if (!file.flush()) throw FileError(path + ": cannot be written");
}

}  // namespace llama_infer
