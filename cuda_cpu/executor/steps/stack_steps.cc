// Implements alloca, stacksave and stackrestore. The memory is after the frames of a thread; a function gives it back
// when it returns.
#include <algorithm>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

constexpr std::uint64_t kLeastAlignment = 8;

std::uint64_t begin_of(Block const& block) {
  return std::uint64_t{block.launch.kernel->local_frame_bytes} * (block.launch.depth + 1);
}

template <class T>
bool allocate(Warp& warp, Step const& step, Mask lanes) {
  T const* const sizes = warp.at<T>(step.source[0]);
  T* const to = warp.at<T>(step.destination[0]);
  std::uint64_t const alignment = std::max(step.bits, kLeastAlignment);
  std::uint64_t const limit = warp.block.launch.local_bytes;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::uint64_t const size = sizes[lane];
    std::uint64_t const begin = (warp.alloca_end[lane] + alignment - 1) / alignment * alignment;
    if (begin > limit || size > limit - begin) {
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::stack_overflow,
                             "alloca of " + std::to_string(size) + " bytes, where a thread has " +
                                 std::to_string(limit - begin_of(warp.block)) + " in all");
    }
    to[lane] = static_cast<T>(begin);
    warp.alloca_end[lane] = static_cast<std::uint32_t>(begin + size);
  }
  return true;
}

template <class T>
bool save(Warp& warp, Step const& step, Mask lanes) {
  T* const to = warp.at<T>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) { to[lane] = warp.alloca_end[lane]; });
  return true;
}

template <class T>
bool restore(Warp& warp, Step const& step, Mask lanes) {
  T const* const from = warp.at<T>(step.source[0]);
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (from[lane] < begin_of(warp.block) || from[lane] > warp.alloca_end[lane]) {
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_instruction,
                             "stackrestore of a value that stacksave did not give");
    }
    warp.alloca_end[lane] = static_cast<std::uint32_t>(from[lane]);
  }
  return true;
}

}  // namespace

Handler select_stack(Form const& form, Step&) {
  bool const wide = form.type == Type::u64;
  if (form.opcode() == "alloca") return wide ? allocate<U64> : allocate<U32>;
  if (form.opcode() == "stacksave") return wide ? save<U64> : save<U32>;
  if (form.opcode() == "stackrestore") return wide ? restore<U64> : restore<U32>;
  return nullptr;
}

}  // namespace cuda_cpu
