// The reader against files that are cut, flipped, reordered and invented.
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <catch2/catch.hpp>
#include <fstream>

#include "libprofile/spool/crc32c.hpp"
#include "libprofile/spool/reader.hpp"
#include "test/libprofile/spool/spool_writer.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

using profile::SpoolReader;

/// Three chunks of strings: "a", then "b" and "c", then one of 100 letters.
SpoolWriter three_chunks() {
  SpoolWriter writer;
  writer.string("a");
  writer.end_chunk();
  writer.string("b");
  writer.string("c");
  writer.end_chunk();
  writer.string(std::string(100, 'd'));
  writer.end_chunk();
  return writer;
}

struct Read {
  std::vector<std::string> texts;
  SpoolReader::End end;
  std::uint64_t position;
  std::uint64_t lost;
  std::string damage;
  std::size_t broken = 0;
};

class SpoolFile {
 public:
  explicit SpoolFile(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  Read read() const {
    SpoolReader reader(path);
    Read found{};
    while (reader.next_chunk()) {
      profile::RecordCursor records = reader.records();
      while (const auto view = records.next()) {
        const auto record = view->as<spool::String>();
        if (!record) continue;
        const auto text = view->text(sizeof(spool::String), record->text_bytes);
        if (text) found.texts.emplace_back(*text);
      }
      if (records.broken()) ++found.broken;
    }
    CHECK_FALSE(reader.next_chunk());
    found.end = reader.end();
    found.position = reader.position();
    found.lost = reader.lost_bytes();
    found.damage = reader.damage();
    return found;
  }
  std::string refusal() const {
    try {
      const SpoolReader reader(path);
    } catch (const profile::SpoolError& error) {
      const std::string message = error.what();
      REQUIRE(message.find('\n') == std::string::npos);
      REQUIRE(message.rfind(path + ": ", 0) == 0);
      return message.substr(path.size() + 2);
    }
    return "none";
  }

  TemporaryFolder folder;
  std::string path = folder / "x.spool";
};

const std::vector<std::string> kAll{"a", "b", "c", std::string(100, 'd')};

/// The texts of the first n chunks.
std::vector<std::string> texts_of(std::size_t chunks) {
  const std::size_t counts[]{0, 1, 3, 4};
  return {kAll.begin(), kAll.begin() + static_cast<std::ptrdiff_t>(counts[chunks])};
}

TEST_CASE("the checksum is CRC-32C") {
  CHECK(profile::crc32c("123456789", 9) == 0xe3069283U);
  CHECK(profile::crc32c("", 0) == 0);
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    CHECK(profile::crc32c(bytes.data(), bytes.size()) == checksum(bytes));
    bytes += static_cast<char>(i * 37);
  }
}

TEST_CASE("a whole file") {
  const std::string bytes = three_chunks().bytes();
  const Read read = SpoolFile(bytes).read();
  CHECK(read.texts == kAll);
  CHECK(read.end == SpoolReader::End::whole);
  CHECK(read.position == bytes.size());
  CHECK(read.lost == 0);
}

TEST_CASE("a file cut at any byte reads up to its last whole chunk") {
  SpoolWriter writer = three_chunks();
  const std::string bytes = writer.bytes();
  const std::vector<std::size_t> ends = writer.chunk_ends();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut at " << size);
    const SpoolFile file(bytes.substr(0, size));
    if (size < sizeof(spool::FileHeader)) {
      CHECK(file.refusal() ==
            "ends before its header does: its process was stopped before it recorded anything");
      continue;
    }
    std::size_t whole = 0;
    while (whole < ends.size() && ends[whole] <= size) ++whole;
    const std::size_t last = whole == 0 ? sizeof(spool::FileHeader) : ends[whole - 1];
    const Read read = file.read();
    CHECK(read.texts == texts_of(whole));
    CHECK(read.position == last);
    CHECK(read.lost == size - last);
    CHECK(read.end == (size == last ? SpoolReader::End::whole : SpoolReader::End::cut));
  }
}

TEST_CASE("every flipped bit is noticed, and what stands before it is read") {
  SpoolWriter writer = three_chunks();
  const std::string bytes = writer.bytes();
  const std::vector<std::size_t> ends = writer.chunk_ends();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      INFO("bit " << bit << " of byte " << at);
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const SpoolFile file(flipped);
      if (at < sizeof(spool::FileHeader)) {
        CHECK(file.refusal() != "none");
        continue;
      }
      std::size_t before = 0;
      while (ends[before] <= at) ++before;
      const Read read = file.read();
      CHECK(read.texts == texts_of(before));
      CHECK(read.end == SpoolReader::End::damaged);
      CHECK(read.position == (before == 0 ? sizeof(spool::FileHeader) : ends[before - 1]));
      CHECK_FALSE(read.damage.empty());
    }
  }
}

TEST_CASE("chunks that are missing, repeated or out of order end the reading") {
  SpoolWriter writer = three_chunks();
  const std::string bytes = writer.bytes();
  const std::vector<std::size_t> ends = writer.chunk_ends();
  const std::string header = bytes.substr(0, sizeof(spool::FileHeader));
  const std::string first = bytes.substr(header.size(), ends[0] - header.size());
  const std::string second = bytes.substr(ends[0], ends[1] - ends[0]);
  const std::string third = bytes.substr(ends[1]);
  const Read missing = SpoolFile(header + first + third).read();
  CHECK(missing.texts == texts_of(1));
  CHECK(missing.damage == "the chunk is not the next one in sequence");
  CHECK(SpoolFile(header + first + first + second).read().texts == texts_of(1));
  CHECK(SpoolFile(header + second + third).read().texts.empty());
  CHECK(SpoolFile(header + first + std::string(64, '\0')).read().damage == "no chunk begins there");
}

TEST_CASE("a length beyond the file or beyond any chunk takes no memory") {
  SpoolWriter writer;
  spool::ChunkHeader header{};
  header.magic = spool::kChunkMagic;
  header.payload_bytes = spool::kLargestChunkBytes;
  writer.add_chunk(header, "short");
  CHECK(SpoolFile(writer.bytes()).read().end == SpoolReader::End::cut);
  SpoolWriter larger;
  header.payload_bytes = spool::kLargestChunkBytes + 8;
  larger.add_chunk(header, "short");
  CHECK(SpoolFile(larger.bytes()).read().damage == "the chunk is longer than any may be");
}

TEST_CASE(
    "records of unknown kinds are passed over, longer ones read, lengths without sense end a "
    "chunk") {
  SpoolWriter writer;
  writer.string("a");
  writer.add(spool::RangePop{}, static_cast<spool::RecordKind>(9999), "something new");
  writer.string("b");
  writer.end_chunk();
  for (const std::uint32_t length : {0U, 4U, 7U, 12U, 4096U, 0xfffffff8U}) {
    spool::RecordHeader header{spool::RecordKind::string, 0, length};
    writer.raw(bytes_of(header));
    writer.string("not reached " + std::to_string(length));
    writer.end_chunk();
  }
  writer.raw("1234");  // less than a header
  writer.end_chunk();
  writer.string("c");
  const Read read = SpoolFile(writer.bytes()).read();
  CHECK(read.texts == std::vector<std::string>{"a", "", "b", "c"});
  CHECK(read.broken == 7);
}

TEST_CASE("texts do not reach behind their record") {
  SpoolWriter writer;
  spool::String record{};
  record.id = 1;
  for (const std::uint32_t length : {9U, 0x7fffffffU, 0xffffffffU}) {
    record.text_bytes = length;
    writer.add(record, spool::RecordKind::string, "12345678");
  }
  record.text_bytes = 8;
  writer.add(record, spool::RecordKind::string, "12345678");
  CHECK(SpoolFile(writer.bytes()).read().texts == std::vector<std::string>{"12345678"});
}

TEST_CASE("files that are no spool say what they are") {
  CHECK(SpoolFile("").refusal().find("ends before its header") == 0);
  CHECK(SpoolFile(std::string(100, 'x')).refusal() == "not a spool file of gprof-ml");
  spool::FileHeader header{};
  std::memcpy(header.magic, spool::kMagic, sizeof header.magic);
  header.byte_order = spool::kByteOrder;
  header.version = 2;
  SpoolWriter newer;
  newer.set_header(header);
  CHECK(SpoolFile(newer.bytes()).refusal() ==
        "its format is version 2, this gprof-ml reads 1; update gprof-ml");
  header.version = 1;
  header.byte_order = 0x04030201;
  SpoolWriter other_machine;
  other_machine.set_header(header);
  CHECK(SpoolFile(other_machine.bytes()).refusal() ==
        "written on a machine with another byte order; read it there");
  const TemporaryFolder folder;
  CHECK_THROWS_AS(SpoolReader(folder / "missing.spool"), profile::SpoolError);
  CHECK_THROWS_AS(SpoolReader(folder / "."), profile::SpoolError);
  const std::string pipe = folder / "pipe.spool";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(SpoolReader(pipe), profile::SpoolError);
}

TEST_CASE("a file that its writer holds is told apart from one that nobody writes") {
  const SpoolFile file(three_chunks().bytes());
  CHECK_FALSE(SpoolReader(file.path).in_use());
  const int writer = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(::flock(writer, LOCK_EX | LOCK_NB) == 0);
  CHECK(SpoolReader(file.path).in_use());
  ::close(writer);
  const SpoolReader reader(file.path);
  CHECK_FALSE(reader.in_use());
  const int next = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  CHECK(::flock(next, LOCK_EX | LOCK_NB) == 0);  // reading leaves no lock behind
  ::close(next);
}

}  // namespace
}  // namespace gprofml::test
