// Declares SourceTable: the source lines that instructions were compiled from, if the compiler was called with
// -lineinfo.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace cuda_cpu::ptx {

struct SourceLine {
  std::string file;  // as the PTX names it: nvcc writes the absolute path
  int line = 0;
  std::string function;  // the inlined function, demangled; empty if nothing was inlined or its name is unknown
};

/// Instructions refer to places by their index; -1 is an unknown place.
class SourceTable {
 public:
  /// Returns the line of a place, then the line at which it was inlined, and so on outwards. Empty for -1.
  std::vector<SourceLine> lines_of(std::int32_t place) const;

 private:
  friend class SourceReader;
  struct Place {
    std::uint64_t file = 0;  // a key in files_
    std::int32_t line = 0;
    std::int32_t function = -1;    // an index in functions_
    std::int32_t inlined_at = -1;  // an earlier place

    auto operator<=>(Place const&) const = default;
  };

  std::vector<Place> places_;
  std::map<std::uint64_t, std::string> files_;
  std::vector<std::string> functions_;
};

/// Returns "row_max<true>(float const*, int)" for "_Z7row_maxILb1EEvPKfi"; returns other names unchanged.
std::string demangled(std::string const& name);

/// Returns "softmax.cu:42, inlined at softmax.cu:71", with file names without their folders. Lines in headers of the
/// CUDA Toolkit follow the line of the program into which they were inlined: "warp.cu:7 (in sm_30_intrinsics.hpp:440)".
/// Empty without lines.
std::string to_string(std::span<SourceLine const> lines);

}  // namespace cuda_cpu::ptx
