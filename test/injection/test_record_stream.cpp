// What lasts and what does not, in two files, and the ranges that are open at a switch.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "injection/open_ranges.hpp"
#include "injection/record_stream.hpp"
#include "libprofile/spool/reader.hpp"
#include "test/temporary_folder.hpp"

using namespace gprofml;
using injection::OpenRanges;
using injection::RecordStream;
using injection::SpoolFile;
using spool::RecordKind;

namespace {

using Kinds = std::vector<RecordKind>;

Kinds kinds_in(const std::string& path) {
  Kinds kinds;
  profile::SpoolReader reader(path);
  while (reader.next_chunk()) {
    auto records = reader.records();
    while (const auto record = records.next()) kinds.push_back(record->kind());
    CHECK_FALSE(records.broken());
  }
  CHECK(reader.end() == profile::SpoolReader::End::whole);
  return kinds;
}

struct Split {
  Split() {
    REQUIRE(main->create(folder.path().c_str(), "host", 1));
    REQUIRE(first->create_segment(*main, 0));
    REQUIRE(stream.start(*main));
    open->start();
    REQUIRE(stream.split(*first, *open));
  }

  std::string path(const std::string& ending) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename().string();
      const bool ends = name.size() > ending.size() &&
                        name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
      if (ends) return entry.path().string();
    }
    return "no file *" + ending;
  }

  void push(std::uint32_t tid, const char* name) {
    spool::RangePush record{};
    record.tid = tid;
    record.name = stream.string(name);
    open->open(stream.add(RecordKind::range_push, record), tid, 0, 0);
  }
  void pop(std::uint32_t tid) {
    spool::RangePop record{};
    record.tid = tid;
    open->close(stream, stream.add(RecordKind::range_pop, record), tid, 0, 0);
  }

  test::TemporaryFolder folder;
  std::unique_ptr<SpoolFile> main = std::make_unique<SpoolFile>();
  std::unique_ptr<SpoolFile> first = std::make_unique<SpoolFile>();
  std::unique_ptr<OpenRanges> open = std::make_unique<OpenRanges>();
  RecordStream stream;
};

}  // namespace

TEST_CASE("a split stream: what lasts in the spool, what happened in the segment") {
  Split s;
  s.stream.begin<spool::ShortKernel>(RecordKind::short_kernel);
  s.stream.string("a name");
  s.stream.place({});
  s.stream.add(RecordKind::api_call, spool::ApiCall{});
  s.stream.add(RecordKind::graph_node, spool::GraphNode{});
  s.stream.add(RecordKind::status, spool::Status{});
  s.stream.add(RecordKind::call_stack, spool::CallStack{});
  s.stream.add_lasting(RecordKind::call_stack, spool::CallStack{});
  s.stream.add(RecordKind::end, spool::End{});
  REQUIRE(s.stream.flush());
  CHECK(kinds_in(s.path(".spool")) == Kinds{RecordKind::string, RecordKind::place,
                                            RecordKind::graph_node, RecordKind::call_stack,
                                            RecordKind::end});
  CHECK(kinds_in(s.path(".00000000.segment")) == Kinds{RecordKind::short_kernel,
                                                       RecordKind::api_call, RecordKind::status,
                                                       RecordKind::call_stack});
}

TEST_CASE("a full chunk of events brings what they need to the disk first") {
  Split s;
  s.stream.string("needed");
  const std::size_t before = s.first->bytes();
  while (s.first->bytes() == before) s.stream.add(RecordKind::api_call, spool::ApiCall{});
  CHECK(kinds_in(s.path(".spool")) == Kinds{RecordKind::string});
}

TEST_CASE("only open ranges are written again, outer ones first, with their payloads") {
  Split s;
  s.push(1, "outer");
  s.push(2, "other thread");
  s.push(1, "over");
  s.pop(1);
  s.push(1, "inner");
  spool::Payload payload{};
  payload.tid = 1;
  s.open->payload(s.stream.add(RecordKind::payload, payload), 1, 0, 0);
  spool::RangeStart start{};
  start.id = 77;
  s.open->open(s.stream.add(RecordKind::range_start, start), 3, 0, 77);
  CHECK(s.open->count() == 4);
  REQUIRE(s.stream.flush());
  SpoolFile next;
  REQUIRE(next.create_segment(*s.main, 1));
  s.stream.go_on_in(next);
  s.open->write_again(s.stream);
  REQUIRE(s.stream.flush());
  CHECK(kinds_in(s.path(".00000001.segment")) ==
        Kinds{RecordKind::range_push, RecordKind::range_push, RecordKind::range_push,
              RecordKind::payload, RecordKind::range_start});
  s.first->remove();
  CHECK(s.path(".00000000.segment") == "no file *.00000000.segment");
  CHECK(s.first->bytes() == 0);
}

TEST_CASE("ranges around a capture last, whole, once they have ended") {
  Split s;
  s.push(1, "around");
  s.push(2, "elsewhere");
  s.open->captured(1);
  s.push(1, "later");
  s.pop(1);
  s.pop(2);
  s.pop(1);
  REQUIRE(s.stream.flush());
  CHECK(kinds_in(s.path(".spool")) == Kinds{RecordKind::string, RecordKind::string,
                                            RecordKind::string, RecordKind::range_push,
                                            RecordKind::range_pop});
  CHECK(s.open->count() == 0);
}

TEST_CASE("more open ranges than there is room for: pops still meet their pushes") {
  Split s;
  for (std::uint32_t i = 0; i < OpenRanges::kMost; ++i) s.push(1, "kept");
  for (int i = 0; i < 3; ++i) s.push(1, "too many");
  for (int i = 0; i < 3; ++i) s.pop(1);
  CHECK(s.open->count() == OpenRanges::kMost);
  s.pop(1);
  CHECK(s.open->count() == OpenRanges::kMost - 1);
  s.push(2, "room again");
  CHECK(s.open->count() == OpenRanges::kMost);
  s.pop(3);  // of a thread with nothing open
  CHECK(s.open->count() == OpenRanges::kMost);
}
