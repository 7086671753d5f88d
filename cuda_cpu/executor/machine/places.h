// Declares places_of(), which says where the threads of a block are, for faults of kernels that do not end.
#pragma once

#include <string>

#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

/// Returns "softmax.cu:42, inlined at softmax.cu:71, PTX line 130".
std::string place_of(DecodedKernel const& kernel, Step const& step);

/// Returns the name of a kernel as in its source, cut in the middle if it is longer than 120 bytes.
std::string name_in_message(std::string const& symbol);

/// Returns "(0,0,0)".
std::string dimensions_text(Dimensions const& at);
/// Returns "lanes 0 to 3, 7".
std::string lanes_text(Mask lanes);
std::string hexadecimal(std::uintptr_t value);

struct Places {
  std::string text;
  // A step of the first warp that loops, or of the first warp if no warp loops; null without threads.
  Step const* step = nullptr;
};

/// Returns "warps 0-3 wait at barrier 0 (128 of 160 threads), softmax.cu:40, PTX line 61; warp 4 loops at
/// softmax.cu:42, PTX line 70". Changes the selected frames of the warps. REQUIRES: no other thread runs the block.
Places places_of(Block& block);

}  // namespace cuda_cpu
