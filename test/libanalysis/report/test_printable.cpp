#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "libanalysis/report/printable.hpp"

namespace gprofml::analysis {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST_CASE("plain text and valid UTF-8 pass unchanged") {
  CHECK(printable("aten::mm") == "aten::mm");
  CHECK(printable("größe 模型 😀") == "größe 模型 😀");
}

TEST_CASE("escape sequences of a trace never reach the terminal") {
  CHECK(printable("\x1b[31mred") == "?[31mred");
  CHECK(printable("a\x7f") == "a?");
  CHECK(printable("\xC2\x9B"
                  "31m") == "?31m");  // U+009B, an escape on its own
  CHECK(printable("two\nlines\tand\r") == "two lines and ");
  CHECK(printable(std::string_view("nul\0!", 5)) == "nul?!");
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  CHECK(printable("\xFF") == kReplacement);
  CHECK(printable("a\x80z") == "a" + kReplacement + "z");
  CHECK(printable("\xC0\xAF") == kReplacement + kReplacement);                     // overlong '/'
  CHECK(printable("\xED\xA0\x80") == kReplacement + kReplacement + kReplacement);  // surrogate
  CHECK(printable("\xF4\x90\x80\x80").size() == 4 * kReplacement.size());          // above U+10FFFF
  CHECK(printable("\xE2\x82") == kReplacement + kReplacement);                     // cut short
}

TEST_CASE("printable is idempotent on random bytes") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string bytes(random() % 40, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string once = printable(bytes);
    CHECK(printable(once) == once);
  }
}

TEST_CASE("width and padding count code points") {
  CHECK(display_width("größe") == 5);
  CHECK(pad_right("ö", 3) == "ö  ");
  CHECK(pad_left("ö", 3) == "  ö");
  CHECK(pad_left("long", 2) == "long");
}

TEST_CASE("shortening keeps both ends and whole code points") {
  CHECK(shorten_middle("short", 8) == "short");
  CHECK(shorten_middle("abcdefghijklmnop", 9) == "abc...nop");
  CHECK(shorten_middle("abcdefghijklmnop", 10) == "abcd...nop");
  CHECK(shorten_middle("ääääääääääääää", 9) == "äää...äää");
  CHECK(shorten_path("model/layer/attention/aten::mm", 20) == "mode...tion/aten::mm");
}

TEST_CASE("kernel names lose what says nothing") {
  const std::vector<std::string> names = {
      "void at::native::vectorized_elementwise_kernel<4, float>(int, float)",
      "at::native::(anonymous namespace)::softmax<float>(float*)",
      "rms_norm",
      "(x)",
      "",
  };
  CHECK(short_kernel_names(names, 60) ==
        std::vector<std::string>{"vectorized_elementwise_kernel<4, float>", "softmax<float>",
                                 "rms_norm", "(x)", ""});
}

TEST_CASE("kernels that differ in the middle still look different") {
  const std::string head = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize";
  const std::string tail = "_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas";
  const std::vector<std::string> names = {head + "128x128x64" + tail, head + "64x128x64" + tail,
                                          head + "64x256x64" + tail, head + "128x128x64" + tail};
  const std::vector<std::string> shortened = short_kernel_names(names, 38);
  CHECK(shortened[0] == shortened[3]);
  CHECK(std::set<std::string>(shortened.begin(), shortened.end()).size() == 3);
  for (const std::string& name : shortened) CHECK(display_width(name) <= 38);
  CHECK(shortened[0].find("128x128x64") != std::string::npos);
  CHECK(shortened[2].find("64x256x64") != std::string::npos);
}

TEST_CASE("short names never pass their width, whatever the bytes") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> names(1 + random() % 6);
    for (std::string& name : names) {
      name = "head_of_the_kernel_name_";
      for (auto i = random() % 80; i > 0; --i) name += "ab\xC3\xA4\xFF("[random() % 6];
      name += "_tail_of_the_kernel_name";
    }
    for (const std::string& name : short_kernel_names(names, 28)) {
      REQUIRE(display_width(name) <= 28);
      REQUIRE(printable(name) == name);
    }
  }
}

}  // namespace
}  // namespace gprofml::analysis
