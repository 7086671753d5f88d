// Implements mbarrier: barriers in shared memory. A block runs on one host thread at a time, so they need no atomics.
#include "cuda_cpu/executor/steps/mbarrier.h"

namespace cuda_cpu {
namespace {

bool initialize(Warp& warp, Step const& step, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto* const place = warp.block.resolve_shared(warp, step, lane, sizeof(U64));
    if (place == nullptr) return false;
    U32 const count = warp.at<U32>(step.source[0])[lane];
    if (count == 0 || count > Mbarrier::kMaxCount) {
      return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::barrier,
                             "an mbarrier of " + std::to_string(count) + " arrivals; expected 1 to 1048575");
    }
    *reinterpret_cast<U64*>(place) = Mbarrier{count, count, 0, 0}.bits();
  }
  return true;
}

bool invalidate(Warp& warp, Step const& step, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto const invalid = [](Mbarrier& barrier) -> char const* {
      barrier = {};
      return nullptr;
    };
    if (!change_mbarrier(warp, step, lane, invalid)) return false;
  }
  return true;
}

enum class Arrive : std::uint8_t { plain, no_complete, expect_tx };

// Arrives, and gives the state before the arrival.
template <Arrive kHow, bool kDrop>
bool arrive(Warp& warp, Step const& step, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    U32 const operand = step.source[0] == kNowhere ? 1 : warp.at<U32>(step.source[0])[lane];
    U64 state = 0;
    bool const good = change_mbarrier(warp, step, lane, [&](Mbarrier& barrier) -> char const* {
      state = barrier.bits();
      if constexpr (kHow == Arrive::expect_tx)
        if (char const* const why = add_bytes(barrier, operand)) return why;
      U32 const count = kHow == Arrive::expect_tx ? 1 : operand;
      if (char const* const why = count_arrivals(barrier, count)) return why;
      if constexpr (kDrop) barrier.expected -= count;
      if (kHow == Arrive::no_complete && barrier.pending == 0) return "an arrival with .noComplete completes the phase";
      barrier.complete();
      return nullptr;
    });
    if (!good) return false;
    if (step.destination[0] != kNowhere) warp.at<U64>(step.destination[0])[lane] = state;
  }
  return true;
}

template <bool kComplete>
bool change_bytes(Warp& warp, Step const& step, Mask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::int64_t const bytes = warp.at<U32>(step.source[0])[lane];
    bool const good = change_mbarrier(warp, step, lane, [&](Mbarrier& barrier) -> char const* {
      char const* const why = add_bytes(barrier, kComplete ? -bytes : bytes);
      if (kComplete && why == nullptr) barrier.complete();
      return why;
    });
    if (!good) return false;
  }
  return true;
}

// Tests if the phase of a state, or of a parity, is complete.
template <bool kParity>
bool test_wait(Warp& warp, Step const& step, Mask lanes) {
  Mask done = 0;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(left));
    bool const good = change_mbarrier(warp, step, lane, [&](Mbarrier& barrier) -> char const* {
      bool const current = kParity ? (barrier.phase & 1) == (warp.at<U32>(step.source[0])[lane] & 1)
                                   : barrier.phase == Mbarrier::of(warp.at<U64>(step.source[0])[lane]).phase;
      done |= Mask{!current} << lane;
      return nullptr;
    });
    if (!good) return false;
  }
  warp.set_predicate(step.destination[0], done, lanes);
  return true;
}

U32 pending_count(U64 state) { return Mbarrier::of(state).pending; }

template <bool kDrop>
Handler select_arrive(Form const& form) {
  if (form.has("noComplete")) return arrive<Arrive::no_complete, kDrop>;
  return form.has("expect_tx") ? arrive<Arrive::expect_tx, kDrop> : arrive<Arrive::plain, kDrop>;
}

}  // namespace

Handler select_mbarrier(Form const& form, Step& step) {
  if (form.opcode() != "mbarrier") return nullptr;
  step.writes = step.unchecked = true;
  std::string_view const operation = form.words[1];
  if (operation == "init") return initialize;
  if (operation == "inval") return invalidate;
  if (operation == "arrive") return select_arrive<false>(form);
  if (operation == "arrive_drop") return select_arrive<true>(form);
  if (operation == "expect_tx") return change_bytes<false>;
  if (operation == "complete_tx") return change_bytes<true>;
  if (operation == "pending_count") return map<&pending_count>;
  return form.has("parity") ? test_wait<true> : test_wait<false>;
}

}  // namespace cuda_cpu
