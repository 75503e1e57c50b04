#include "libprofile/symbols/process_image.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "libprofile/symbols/elf_file.hpp"

namespace gprofml::profile {
namespace {

// Demangling a hostile name can cost far more memory than the name.
constexpr std::size_t kLongestMangled = 64 * 1024;
constexpr pid_t kThread = 1;  // any number: there is one thread, the one whose stack it is

/// "f(int) [clone .cold]" and "f(int) [clone .part.0]" are parts of f(int).
std::string without_clones(std::string name) {
  const std::size_t at = name.find(" [clone ");
  if (at != std::string::npos) name.erase(at);
  return name;
}

std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0 || std::strlen(name) > kLongestMangled) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? without_clones(text.get()) : name;
}

/// Debug information is looked for in the file itself and nowhere else: neither in other folders
/// nor, as libdwfl would by itself, on servers.
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
  return -1;
}

int no_elf_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

// DWARF's numbers of x86-64's registers, in the order of SavedStack::registers without rip.
constexpr int kDwarfRegisters[] = {7, 6, 3, 12, 13, 14, 15};

}  // namespace

struct ProcessImage::Detail {
  struct Walk {
    std::vector<std::uint64_t> addresses;
    bool begins_behind_call = false;  ///< the first frame's address is where a call returns to
    std::uint64_t pc = 0;
    SavedStack stopped;  ///< registers of a frame of code that is in no file
    bool is_in_no_file = false;
  };

  Detail(std::vector<MappedCode> mapped, std::shared_ptr<const PerfMap> names);
  ~Detail() {
    if (dwfl != nullptr) ::dwfl_end(dwfl);
  }
  Detail(const Detail&) = delete;
  Detail& operator=(const Detail&) = delete;

  void report_files();
  const MappedCode* mapped_at(std::uint64_t address) const;
  bool read(std::uint64_t address, std::uint64_t& value) const;
  bool step_out_of_trampoline();
  int take_frame(Dwfl_Frame* frame);

  std::vector<CodeName> find_names(std::uint64_t address) const;
  void add_inlined(Dwfl_Module* module, std::uint64_t address, const std::string& path,
                   std::vector<CodeName>& names) const;

  std::vector<MappedCode> code;  ///< by address
  std::shared_ptr<const PerfMap> perf_map;
  std::vector<std::string> changed;
  Dwfl_Callbacks callbacks{};
  Dwfl* dwfl = nullptr;
  bool can_unwind = false;
  std::unordered_map<std::uint64_t, std::vector<CodeName>> names;

  // Of the stack that is being unwound.
  const SavedStack* stack = nullptr;
  std::uint64_t registers[SavedStack::kRegisters] = {};
  Walk walk;
};

namespace dwfl_calls {

template <typename Image>
pid_t next_thread(Dwfl*, void* image, void** thread) {
  if (*thread != nullptr) return 0;
  *thread = image;
  return kThread;
}

template <typename Image>
bool get_thread(Dwfl*, pid_t, void* image, void** thread) {
  *thread = image;
  return true;
}

template <typename Image>
bool memory_read(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* image) {
  std::uint64_t value = 0;
  if (!static_cast<Image*>(image)->read(address, value)) return false;
  *result = value;
  return true;
}

template <typename Image>
bool set_registers(Dwfl_Thread* thread, void* image) {
  const std::uint64_t* registers = static_cast<Image*>(image)->registers;
  for (std::size_t i = 0; i < std::size(kDwarfRegisters); ++i) {
    const Dwarf_Word value = registers[i + 1];
    if (!::dwfl_thread_state_registers(thread, kDwarfRegisters[i], 1, &value)) return false;
  }
  ::dwfl_thread_state_register_pc(thread, registers[0]);
  return true;
}

template <typename Image>
int frame(Dwfl_Frame* frame, void* image) {
  return static_cast<Image*>(image)->take_frame(frame);
}

template <typename Image>
constexpr Dwfl_Thread_Callbacks kCallbacks = {
    next_thread<Image>,   get_thread<Image>, memory_read<Image>,
    set_registers<Image>, nullptr,           nullptr};

}  // namespace dwfl_calls

ProcessImage::Detail::Detail(std::vector<MappedCode> mapped, std::shared_ptr<const PerfMap> map)
    : code(std::move(mapped)), perf_map(std::move(map)) {
  std::sort(code.begin(), code.end(),
            [](const MappedCode& a, const MappedCode& b) { return a.start < b.start; });
  callbacks.find_elf = no_elf_file;
  callbacks.find_debuginfo = no_debug_file;
  dwfl = ::dwfl_begin(&callbacks);
  if (dwfl == nullptr) return;
  report_files();
  can_unwind = ::dwfl_attach_state(dwfl, nullptr, kThread, &dwfl_calls::kCallbacks<Detail>, this);
}

void ProcessImage::Detail::report_files() {
  std::set<std::pair<std::string, std::uint64_t>> reported;
  std::map<std::string, bool> same;
  ::dwfl_report_begin(dwfl);
  for (const MappedCode& part : code) {
    if (part.path.empty() || part.path[0] != '/') continue;
    const auto [known, is_new] = same.try_emplace(part.path, false);
    if (is_new) {
      known->second = is_same_file(part);
      if (!known->second) changed.push_back(part.path);
    }
    if (!known->second) continue;
    const auto bias = load_bias(part);
    if (!bias || !reported.emplace(part.path, *bias).second) continue;
    ::dwfl_report_elf(dwfl, part.path.c_str(), part.path.c_str(), -1, *bias, true);
  }
  ::dwfl_report_end(dwfl, nullptr, nullptr);
}

const MappedCode* ProcessImage::Detail::mapped_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(code.begin(), code.end(), address,
                       [](std::uint64_t a, const MappedCode& part) { return a < part.start; });
  if (after == code.begin()) return nullptr;
  const MappedCode& part = *std::prev(after);
  return address - part.start < part.bytes ? &part : nullptr;
}

bool ProcessImage::Detail::read(std::uint64_t address, std::uint64_t& value) const {
  const auto& words = stack->words;
  const auto at = std::lower_bound(
      words.begin(), words.end(), address,
      [](const SavedStack::Word& word, std::uint64_t a) { return word.address < a; });
  if (at != words.end() && at->address == address) {
    value = at->value;
    return true;
  }
  value = 0;
  return address >= SavedStack::kBase && address - SavedStack::kBase < stack->copied_bytes;
}

// A frame, innermost first. Beyond code that is in no file, or in one that is another now, libdwfl
// would go on by the frame pointer, which only code compiled for that keeps: frames would be left
// out without a sign of it.
int ProcessImage::Detail::take_frame(Dwfl_Frame* frame) {
  Dwarf_Addr pc = 0;
  bool is_activation = false;
  if (!::dwfl_frame_pc(frame, &pc, &is_activation) || pc == 0) return DWARF_CB_ABORT;
  const std::uint64_t address = is_activation && !walk.begins_behind_call ? pc : pc - 1;
  walk.begins_behind_call = false;
  walk.addresses.push_back(address);
  if (walk.addresses.size() >= kMostFrames) return DWARF_CB_ABORT;
  if (::dwfl_addrmodule(dwfl, address) != nullptr) return DWARF_CB_OK;
  walk.is_in_no_file = true;
  walk.pc = pc;
  for (std::size_t i = 0; i < std::size(kDwarfRegisters); ++i) {
    Dwarf_Word value = 0;
    if (::dwfl_frame_reg(frame, static_cast<unsigned>(kDwarfRegisters[i]), &value) != 0) value = 0;
    walk.stopped.registers[i + 1] = value;
  }
  return DWARF_CB_ABORT;
}

/// Python's trampolines (3.12: sub $8, %rsp; call; 3.13: push %rbp; mov %rsp, %rbp; call) have no
/// call frame information, but their frames are known: the return address is the second word.
bool ProcessImage::Detail::step_out_of_trampoline() {
  if (!perf_map || perf_map->find(walk.pc - 1) == nullptr) return false;
  const std::uint64_t stack_pointer = walk.stopped.registers[1];
  const std::uint64_t frame_pointer = walk.stopped.registers[2];
  std::uint64_t caller = 0;
  if (!read(stack_pointer + 8, caller) || mapped_at(caller) == nullptr) return false;
  std::copy(std::begin(walk.stopped.registers), std::end(walk.stopped.registers), registers);
  if (frame_pointer == stack_pointer && !read(stack_pointer, registers[2])) return false;
  registers[0] = caller;
  registers[1] = stack_pointer + 16;
  walk.begins_behind_call = true;
  return true;
}

std::vector<CodeName> ProcessImage::Detail::find_names(std::uint64_t address) const {
  if (perf_map) {
    if (const PerfMap::Function* function = perf_map->find(address)) {
      return {{function->name, function->file, -1}};
    }
  }
  const MappedCode* part = mapped_at(address);
  if (part == nullptr) return {{}};
  const auto in_file = static_cast<std::int64_t>(address - part->start + part->file_offset);
  const CodeName place{{}, part->path, part->path.empty() ? -1 : in_file};
  Dwfl_Module* const module = dwfl == nullptr ? nullptr : ::dwfl_addrmodule(dwfl, address);
  if (module == nullptr) return {place};
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* const name =
      ::dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  // Without a size a symbol is but the nearest one in front.
  if (name == nullptr || symbol.st_size == 0 || offset >= symbol.st_size) return {place};
  std::vector<CodeName> names;
  add_inlined(module, address, part->path, names);
  names.push_back({demangled(name), part->path, -1});
  return names;
}

void ProcessImage::Detail::add_inlined(Dwfl_Module* module, std::uint64_t address,
                                       const std::string& path,
                                       std::vector<CodeName>& found) const {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = ::dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) return;
  Dwarf_Die* scopes = nullptr;
  const int count = ::dwarf_getscopes(unit, address - bias, &scopes);
  if (count <= 0) return;
  // From the innermost scope outwards as the code lies, not as it was written.
  Dwarf_Die* around = nullptr;
  const int nested = ::dwarf_getscopes_die(&scopes[0], &around);
  for (int i = 0; i < nested; ++i) {
    if (::dwarf_tag(&around[i]) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    const char* name = nullptr;
    if (::dwarf_attr_integrate(&around[i], DW_AT_linkage_name, &attribute) != nullptr) {
      name = ::dwarf_formstring(&attribute);
    }
    if (name == nullptr) name = ::dwarf_diename(&around[i]);
    if (name != nullptr) found.push_back({demangled(name), path, -1});
  }
  std::free(around);
  std::free(scopes);
}

ProcessImage::ProcessImage(std::vector<MappedCode> code, std::shared_ptr<const PerfMap> perf_map)
    : detail_(std::make_unique<Detail>(std::move(code), std::move(perf_map))) {}

ProcessImage::~ProcessImage() = default;

std::vector<std::uint64_t> ProcessImage::unwind(const SavedStack& stack) {
  Detail& detail = *detail_;
  detail.stack = &stack;
  detail.walk = {};
  std::copy(std::begin(stack.registers), std::end(stack.registers), detail.registers);
  if (!detail.can_unwind) return {stack.registers[0]};
  do {
    detail.walk.is_in_no_file = false;
    ::dwfl_getthread_frames(detail.dwfl, kThread, dwfl_calls::frame<Detail>, &detail);
  } while (detail.walk.is_in_no_file && detail.walk.addresses.size() < kMostFrames &&
           detail.step_out_of_trampoline());
  return std::move(detail.walk.addresses);
}

const std::vector<CodeName>& ProcessImage::names_at(std::uint64_t address) {
  const auto [known, is_new] = detail_->names.try_emplace(address);
  if (is_new) known->second = detail_->find_names(address);
  return known->second;
}

const std::vector<std::string>& ProcessImage::changed_files() const {
  return detail_->changed;
}

}  // namespace gprofml::profile
