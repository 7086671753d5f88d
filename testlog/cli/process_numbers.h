// ProcessNumbers: tells the processes of a trace apart.
#pragma once

#include <cstdint>
#include <set>

namespace testlog::cli {

/// Numbers processes. In containers or on several machines, several processes may have one number; then a later process
/// gets the next free number.
class ProcessNumbers {
 public:
  std::uint64_t add(std::uint64_t pid) {
    while (!taken_.insert(pid).second) ++pid;
    return pid;
  }

 private:
  std::set<std::uint64_t> taken_;
};

}  // namespace testlog::cli
