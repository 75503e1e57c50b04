// Call stacks of one process: unwinds what the recorder saved and names it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libprofile/capture/graph_nodes.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/spool/reader.hpp"
#include "libprofile/symbols/process_image.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// The copy of /tmp/perf-PID.map that the launcher leaves beside the spools.
std::string perf_map_name(std::int64_t pid);

/// Takes the records of stacks in their order and fills Trace::stack_frames, call_stacks and
/// modules. Frames of CUDA, CUPTI and the recorder itself, which all stacks begin with, are left
/// out: the innermost frame is the function that called CUDA.
class CallStacks {
 public:
  explicit CallStacks(Trace& trace) : trace_(trace) {}

  /// Names for code made at run time; before the first record.
  void use_perf_map(const std::string& path);

  void take(const spool::Module& record, StringId path);
  /// False: the record makes no sense.
  bool take(const RecordView& view);
  void take(const spool::CallStack& record) { uses_.push_back(record); }

  /// Joins stacks with calls and graph nodes, which must have their final rows.
  void finish(const GraphNodes& nodes);

  /// What a reader should know, to be noted: code, count, detail.
  struct Note {
    std::string code;
    std::int64_t count;
    std::string detail;
  };
  std::vector<Note> notes() const;

 private:
  struct Saved {
    std::uint32_t id;
    SavedStack stack;
    std::uint32_t flags;
  };

  void name_saved();
  RowIndex innermost_frame(const std::vector<std::uint64_t>& addresses);
  RowIndex frame_row(RowIndex parent, const CodeName& name);
  void add_modules();

  Trace& trace_;
  std::vector<MappedCode> code_;  ///< as mapped when the stacks in `saved_` were taken
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::string, std::int64_t>>
      modules_;  ///< by path and base: build id and bytes
  std::shared_ptr<const PerfMap> perf_map_;
  std::unique_ptr<ProcessImage> image_;  ///< of `code_`; none: it has changed
  std::vector<Saved> saved_;             ///< not unwound yet
  std::unordered_map<std::uint32_t, RowIndex> frame_of_stack_;
  std::map<StackFrame, RowIndex> frames_;
  std::vector<spool::CallStack> uses_;
  std::map<std::string, bool> changed_files_;
  std::int64_t elsewhere_ = 0;
  std::int64_t without_frames_ = 0;
  std::int64_t unplaced_ = 0;
};

}  // namespace gprofml::profile
