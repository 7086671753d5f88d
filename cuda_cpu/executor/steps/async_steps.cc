// Implements cp.async and its relatives. A copy is made at once, so waiting is trivial. A kernel that forgets to wait
// gets the results that it would have after waiting.
#include <algorithm>
#include <cstring>

#include "cuda_cpu/executor/steps/mbarrier.h"

namespace cuda_cpu {
namespace {

bool done_at_once(Warp&, Step const&, Mask) { return true; }

template <class T>
void copy_piece(std::byte* to, std::byte const* from) {
  __atomic_store_n(reinterpret_cast<T*>(to), __atomic_load_n(reinterpret_cast<T const*>(from), __ATOMIC_RELAXED),
                   __ATOMIC_RELAXED);
}

// Copies between aligned places, by the largest atomic pieces.
void copy(std::byte* to, std::byte const* from, std::uint32_t bytes) {
  std::uint32_t at = 0;
  for (; bytes - at >= 8; at += 8) copy_piece<U64>(to + at, from + at);
  if (bytes - at >= 4) {
    copy_piece<U32>(to + at, from + at);
    at += 4;
  }
  for (; at < bytes; ++at) copy_piece<std::uint8_t>(to + at, from + at);
}

bool fail_size(Warp& warp, Step const& step, unsigned lane, std::uint32_t bytes, char const* expected) {
  return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::illegal_instruction,
                         "a copy of " + std::to_string(bytes) + " bytes; expected " + expected);
}

// Reads the first `bytes` of `size` from the source of a lane, in pieces of powers of two. Returns false after a fault.
bool read_source(Warp& warp, Step source, unsigned lane, std::uint32_t bytes, std::uint32_t size, std::byte* to) {
  if (address_of(warp, source, lane) % size != 0)
    return warp.block.quick<Space::global>(warp, source, lane, size) != nullptr;  // reports the misaligned address
  for (std::uint32_t at = 0; at < bytes;) {
    std::uint32_t const piece = std::bit_floor(bytes - at);
    std::byte const* const from = warp.block.quick<Space::global>(warp, source, lane, piece);
    if (from == nullptr) return false;
    copy(to + at, from, piece);
    source.bits += piece;
    at += piece;
  }
  return true;
}

// cp.async: copies 4, 8 or 16 bytes in each lane. Bytes beyond the size of the source are zero.
bool copy_to_shared(Warp& warp, Step const& step, Mask lanes) {
  std::uint32_t const size = step.count;
  auto const first = static_cast<unsigned>(std::countr_zero(lanes));
  bool const only_16 = step.choice != 0;
  if (size != 16 && (only_16 || (size != 4 && size != 8)))
    return fail_size(warp, step, first, size, only_16 ? "16" : "4, 8 or 16");
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    U32 const bytes = step.source_width[0] == sizeof(U32) ? warp.at<U32>(step.source[0])[lane] : size;
    if (bytes > size) return fail_size(warp, step, lane, bytes, "at most the size in shared memory");
    alignas(16) std::byte values[16] = {};
    if (!read_source(warp, step.many->addresses[0], lane, bytes, size, values)) return false;
    std::byte* const to = warp.block.quick<Space::shared>(warp, step, lane, size);
    if (to == nullptr) return false;
    std::memcpy(to, values, size);
  }
  return true;
}

bool arrive_after_copies(Warp& warp, Step const& step, Mask lanes) {
  // Without .noinc the arrival is additional to the arrivals that the phase expected, so the state does not change.
  bool const counts = step.choice != 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    bool const good = change_mbarrier(warp, step, static_cast<unsigned>(std::countr_zero(lanes)),
                                      [&](Mbarrier& barrier) -> char const* {
                                        char const* const why = counts ? count_arrivals(barrier, 1) : nullptr;
                                        if (why == nullptr) barrier.complete();
                                        return why;
                                      });
    if (!good) return false;
  }
  return true;
}

// Copies `bytes` by one instruction in bulk. Returns false after a fault.
bool copy_bulk(Warp& warp, Step const& step, unsigned lane, U32 bytes) {
  Step to = step, from = step.many->addresses[0];
  if (bytes % 16 != 0) return fail_size(warp, step, lane, bytes, "a multiple of 16");
  for (U32 at = 0; at < bytes; at += 16, to.bits += 16, from.bits += 16) {
    std::byte const* const source = from.space == Space::shared ? warp.block.quick<Space::shared>(warp, from, lane, 16)
                                                                : warp.block.quick<Space::global>(warp, from, lane, 16);
    if (source == nullptr) return false;
    std::byte* const place = to.space == Space::shared ? warp.block.quick<Space::shared>(warp, to, lane, 16)
                                                       : warp.block.quick<Space::global>(warp, to, lane, 16);
    if (place == nullptr) return false;
    copy(place, source, 16);
  }
  return true;
}

template <bool kCompletes>
bool bulk(Warp& warp, Step const& step, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    U32 const bytes = warp.at<U32>(step.source[0])[lane];
    if (!copy_bulk(warp, step, lane, bytes)) return false;
    if (!kCompletes) continue;
    bool const good = change_mbarrier(warp, step.many->addresses[1], lane, [&](Mbarrier& barrier) -> char const* {
      char const* const why = add_bytes(barrier, -std::int64_t{bytes});
      if (why == nullptr) barrier.complete();
      return why;
    });
    if (!good) return false;
  }
  return true;
}

// Makes a cache policy, a hint that nothing here reads.
bool make_policy(Warp& warp, Step const& step, Mask lanes) {
  each_lane(lanes, [&](unsigned i) { warp.at<U64>(step.destination[0])[i] = 0; });
  return true;
}

}  // namespace

Handler select_async(Form const& form, Step& step) {
  if (form.opcode() == "createpolicy") return make_policy;
  if (form.opcode() != "cp") return nullptr;
  if (form.has("commit_group") || form.has("wait_group") || form.has("wait_all")) return done_at_once;
  if (form.has("prefetch")) return done_at_once;
  step.writes = true;
  if (form.has("mbarrier")) {
    step.unchecked = true;
    step.choice = form.has("noinc") ? 1 : 0;
    return arrive_after_copies;
  }
  if (form.has("bulk")) return form.has("bulk_group") ? bulk<false> : bulk<true>;
  step.choice = form.has("cg") ? 1 : 0;
  return copy_to_shared;
}

}  // namespace cuda_cpu
