// Implements operations across the lanes of a warp: shuffles, votes, matches, reductions. A handler is called with all
// lanes of a member mask that have not exited.
#include <algorithm>

#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {
namespace {

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

// Called if the lanes `stale` read lane `source`, which does not take part in the shuffle. If the launch's
// stale_shuffle option makes this a fault, or checks.sync and the lane has exited, reports the fault and returns false.
bool allow_stale(Warp& warp, Step const& step, Mask lanes, Mask stale, unsigned source, bool is_idx) {
  auto const policy = warp.block.launch.options->stale_shuffle;
  Mask const bit = Mask{1} << source;
  U32 const members = members_of(warp, step)[std::countr_zero(lanes)];
  bool const has_exited = (members & warp.threads & bit) != 0;
  bool const is_checked = has_exited && warp.block.launch.options->checks.sync;
  bool const is_fault = policy == StaleShuffle::fault || (policy == StaleShuffle::fault_if_idx && is_idx) ||
                        (policy != StaleShuffle::zero && is_checked);
  if (!is_fault) return true;
  std::string const why = warp.thread(source) >= warp.block.threads
                              ? "which does not exist: the block has " + std::to_string(warp.block.threads) + " threads"
                          : (members & bit) == 0 ? "which is not in the member mask " + hexadecimal(members)
                                                 : "which has exited";
  return warp.block.fail(warp, step, stale & (~stale + 1), FaultKind::shuffle,
                         "a shuffle that reads lane " + std::to_string(source) + ", " + why);
}

// Returns the lane that `lane` reads in a shuffle, and sets `in_range`; returns `lane` itself if that is false.
template <Shuffle kMode>
[[gnu::always_inline]] inline U32 source_lane(U32 lane, U32 b, U32 c, bool& in_range) {
  U32 const distance = b & 31;
  U32 const clamp = c & 31;
  U32 const segment = c >> 8 & 31;
  U32 const last = (lane & segment) | (clamp & ~segment);
  U32 const first = lane & segment;
  U32 from = lane;
  switch (kMode) {
    case Shuffle::up:
      in_range = lane >= distance && lane - distance >= last;
      from = lane - distance;
      break;
    case Shuffle::down:
      from = lane + distance;
      in_range = from <= last;
      break;
    case Shuffle::bfly:
      from = lane ^ distance;
      in_range = from <= last;
      break;
    case Shuffle::idx:
      from = first | (distance & ~segment);
      in_range = from <= last;
      break;
  }
  return in_range ? from : lane;
}

template <Shuffle kMode>
bool shfl_lanes(Warp& warp, Step const& step, Mask lanes) {
  U32 const *const a = warp.at<U32>(step.source[0]), *const b = warp.at<U32>(step.source[1]),
                   *const c = warp.at<U32>(step.source[2]);
  U32 values[kLanes];
  std::copy_n(a, kLanes, values);  // a copy, since the destination may be the source
  U32 results[kLanes] = {};
  Mask in_range = 0;
  Mask stale = 0;  // lanes whose source lane is inactive
  unsigned stale_source = 0;
  each_lane(lanes, [&](unsigned lane) {
    bool inside = false;
    U32 const from = source_lane<kMode>(lane, b[lane], c[lane], inside);
    if ((lanes >> from & 1) == 0) [[unlikely]] {
      if (stale == 0) stale_source = from;
      stale |= Mask{1} << lane;
    } else {
      results[lane] = values[from];
    }
    in_range |= Mask{inside} << lane;
  });
  if (stale != 0 && !allow_stale(warp, step, lanes, stale, stale_source, kMode == Shuffle::idx)) return false;
  if (step.destination[0] != kNowhere) {
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned lane) { to[lane] = results[lane]; });
  }
  if (step.destination[1] != kNowhere) warp.set_predicate(step.destination[1], in_range, lanes);
  return true;
}

// A shuffle of all lanes, of which none is stale.
template <Shuffle kMode>
[[gnu::always_inline]] inline void shfl_all(Warp& warp, Step const& step) {
  U32 const *const b = warp.at<U32>(step.source[1]), *const c = warp.at<U32>(step.source[2]);
  U32 values[kLanes];
  std::copy_n(warp.at<U32>(step.source[0]), kLanes, values);
  U32 results[kLanes];
  std::uint8_t inside[kLanes];
  CUDA_CPU_EACH_LANE
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bool in_range = false;
    results[lane] = values[source_lane<kMode>(lane, b[lane], c[lane], in_range)];
    inside[lane] = static_cast<std::uint8_t>(in_range);
  }
  if (step.destination[1] != kNowhere) warp.set_predicate(step.destination[1], packed(inside), kAllLanes);
  if (step.destination[0] != kNowhere) std::copy_n(results, kLanes, warp.at<U32>(step.destination[0]));
}

template <Shuffle kMode>
bool shfl_basic(Warp& warp, Step const& step, Mask lanes) {
  if (lanes != kAllLanes) return shfl_lanes<kMode>(warp, step, lanes);
  shfl_all<kMode>(warp, step);
  return true;
}
template <Shuffle kMode>
CUDA_CPU_WIDE bool shfl_wide(Warp& warp, Step const& step, Mask lanes) {
  if (lanes != kAllLanes) return shfl_lanes<kMode>(warp, step, lanes);
  shfl_all<kMode>(warp, step);
  return true;
}
template <Shuffle kMode>
constexpr Versions<&shfl_basic<kMode>, &shfl_wide<kMode>> shfl{};

enum class Vote : std::uint8_t { all, any, uni, ballot };

template <Vote kMode>
bool vote(Warp& warp, Step const& step, Mask lanes) {
  Mask const votes = warp.predicate_source(step, 0) & lanes;
  if constexpr (kMode == Vote::ballot) {
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned lane) { to[lane] = votes; });
  } else {
    bool const result = kMode == Vote::all   ? votes == lanes
                        : kMode == Vote::any ? votes != 0
                                             : votes == lanes || votes == 0;
    warp.set_predicate(step.destination[0], result ? kAllLanes : 0, lanes);
  }
  return true;
}

template <class T, bool kAll>
bool match(Warp& warp, Step const& step, Mask lanes) {
  T const* const a = warp.at<T>(step.source[0]);
  U32 results[kLanes] = {};
  Mask all = 0;
  each_lane(lanes, [&](unsigned lane) {
    Mask same = 0;
    each_lane(lanes, [&](unsigned other) { same |= Mask{a[other] == a[lane]} << other; });
    results[lane] = !kAll || same == lanes ? same : 0;
    if (same == lanes) all = lanes;
  });
  if (step.destination[0] != kNowhere) {
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned lane) { to[lane] = results[lane]; });
  }
  if (step.destination[1] != kNowhere) warp.set_predicate(step.destination[1], all, lanes);
  return true;
}

enum class Reduction : std::uint8_t { add, min, max, bit_and, bit_or, bit_xor };

template <Reduction kOperation, class T>
bool redux(Warp& warp, Step const& step, Mask lanes) {
  U32 const* const a = warp.at<U32>(step.source[0]);
  U32 result = a[std::countr_zero(lanes)];
  each_lane(lanes & (lanes - 1), [&](unsigned lane) {
    U32 const value = a[lane];
    switch (kOperation) {
      case Reduction::add: result += value; break;
      case Reduction::min: result = static_cast<T>(value) < static_cast<T>(result) ? value : result; break;
      case Reduction::max: result = static_cast<T>(value) > static_cast<T>(result) ? value : result; break;
      case Reduction::bit_and: result &= value; break;
      case Reduction::bit_or: result |= value; break;
      case Reduction::bit_xor: result ^= value; break;
    }
  });
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) { to[lane] = result; });
  return true;
}

template <class T>
Handler select_redux(Form const& form) {
  if (form.has("add")) return redux<Reduction::add, T>;
  if (form.has("min")) return redux<Reduction::min, T>;
  if (form.has("max")) return redux<Reduction::max, T>;
  if (form.has("and")) return redux<Reduction::bit_and, T>;
  return form.has("or") ? redux<Reduction::bit_or, T> : redux<Reduction::bit_xor, T>;
}

// Elects the first lane.
bool elect(Warp& warp, Step const& step, Mask lanes) {
  if (step.destination[0] != kNowhere) {
    U32* const to = warp.at<U32>(step.destination[0]);
    each_lane(lanes, [&](unsigned lane) { to[lane] = static_cast<U32>(std::countr_zero(lanes)); });
  }
  if (step.destination[1] != kNowhere) warp.set_predicate(step.destination[1], lanes & (~lanes + 1), lanes);
  return true;
}

bool warp_barrier(Warp&, Step const&, Mask) { return true; }

bool active_lanes(Warp& warp, Step const& step, Mask lanes) {
  U32* const to = warp.at<U32>(step.destination[0]);
  each_lane(lanes, [&](unsigned lane) { to[lane] = lanes; });
  return true;
}

}  // namespace

Handler select_collective(Form const& form, Step& step) {
  std::string_view const op = form.opcode();
  if (op == "activemask") return active_lanes;
  step.kind = StepKind::collective;
  if (op == "shfl" && form.has("up")) return shfl<Shuffle::up>;
  if (op == "shfl" && form.has("down")) return shfl<Shuffle::down>;
  if (op == "shfl") return form.has("bfly") ? Handler{shfl<Shuffle::bfly>} : shfl<Shuffle::idx>;
  if (op == "vote" && form.has("ballot")) return vote<Vote::ballot>;
  if (op == "vote" && form.has("all")) return vote<Vote::all>;
  if (op == "vote") return form.has("any") ? vote<Vote::any> : vote<Vote::uni>;
  if (op == "match" && form.type == Type::b32) return form.has("all") ? match<U32, true> : match<U32, false>;
  if (op == "match") return form.has("all") ? match<U64, true> : match<U64, false>;
  if (op == "elect") return elect;
  if (op == "redux") return form.type == Type::s32 ? select_redux<std::int32_t>(form) : select_redux<U32>(form);
  if (op == "bar" && form.has("warp")) {
    step.choice = kMeetsAnywhere;
    return warp_barrier;
  }
  step.kind = StepKind::plain;
  return nullptr;
}

}  // namespace cuda_cpu
