// Names of code made at run time, as perf reads them: a file of lines "START SIZE NAME", numbers in
// hexadecimal. Python (3.12 and later, `-X perf`) writes one of its functions, V8 and the JVM can.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::profile {

class PerfMap {
 public:
  struct Function {
    std::string name;
    std::string file;  ///< of a Python function; else empty
  };

  /// A file that is absent or unreadable is an empty map; lines without sense are left out.
  static PerfMap read(const std::string& path);
  static PerfMap parse(const std::string& text);

  /// nullptr: no function there. Code may be made where other code was: the later line counts.
  const Function* find(std::uint64_t address) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    Function function;
  };

  void order();

  std::vector<Entry> entries_;  // by address, disjoint in what `find` needs
};

}  // namespace gprofml::profile
