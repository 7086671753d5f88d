#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/machine/warp_loop.h"

namespace cuda_cpu {
namespace {

std::uint64_t key_of(Warp const& warp, std::uint32_t depth, std::uint32_t at) {
  return std::uint64_t{warp.block.launch.kernel->depth - depth} << 32 | at;
}

}  // namespace

Warp::Warp(Block& owner, unsigned number, Mask lanes) : block(owner), index(number), threads(lanes), alive(lanes) {
  auto const& kernel = *block.launch.kernel;
  reach(kernel.function->recursive ? 0 : kernel.depth);
  constants = const_cast<std::byte*>(kernel.constants.data());
  begin();
}

void Warp::begin() {
  auto const& kernel = *block.launch.kernel;
  alloca_end.fill(kernel.local_frame_bytes * (block.launch.depth + 1));
  key.fill(key_of(*this, 0, 0));
}

namespace {

// In pieces: memset() clears more than 2 KiB by an instruction that starts slowly.
void clear(std::vector<std::byte>& memory) {
  constexpr std::size_t kPiece = 1024;
  for (std::size_t at = 0; at < memory.size(); at += kPiece)
    std::memset(memory.data() + at, 0, std::min(kPiece, memory.size() - at));
}

}  // namespace

void Warp::restart() {
  clear(registers.front());
  alive = threads;
  at_barrier = in_collective = ran = 0;
  waiting.fill(0);
  stamp.fill(0);
  steps = instructions = 0;
  begin();
}

// Adds at least as many frames as there are already, so that their number doubles. Existing frames do not move.
void Warp::reach(std::uint32_t to) {
  if (to < frames.size()) return;
  std::size_t const bytes = block.launch.kernel->frame_bytes;
  std::size_t const count = std::max(frames.size(), to + 1 - frames.size());
  // The memory is zero-initialized, so that a kernel that reads registers before it writes them behaves the same each
  // time.
  auto& memory = registers.emplace_back(bytes * count + 64);
  auto* const begin = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
  for (std::size_t i = 0; i < count; ++i) frames.push_back(begin + i * bytes);
  returns.resize(frames.size());
}

void select_frame(Warp& warp, std::uint32_t depth) noexcept {
  warp.depth = depth;
  warp.frame = warp.frames[depth];
}

Group pick_group(Warp& warp) {
  Group group;
  Mask const able = warp.alive & ~warp.at_barrier & ~warp.in_collective;
  if (able == 0) return group;
  if (able == kAllLanes) {
    std::uint64_t const same = warp.key[0];
    std::uint64_t differs = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) differs |= warp.key[lane] ^ same;
    if (differs == 0) {
      warp.stamp.fill(warp.steps);
      warp.ran = group.lanes = able;
      group.at = static_cast<std::uint32_t>(same);
      group.limit = ~std::uint32_t{0};
      select_frame(warp, warp.block.launch.kernel->depth - static_cast<std::uint32_t>(same >> 32));
      return group;
    }
  }
  std::uint64_t key = ~std::uint64_t{0};
  each_lane(warp.ran, [&](unsigned lane) { warp.stamp[lane] = warp.steps; });
  std::uint64_t oldest = warp.steps;
  unsigned waiter = 0;
  each_lane(able, [&](unsigned lane) {
    key = std::min(key, warp.key[lane]);
    if (warp.stamp[lane] < oldest) {
      oldest = warp.stamp[lane];
      waiter = lane;
    }
  });
  if (warp.steps - oldest >= kGroupTurn) key = warp.key[waiter];
  std::uint64_t limit = (key | 0xffffffff) + 1;  // beyond this depth
  each_lane(able, [&](unsigned lane) {
    if (warp.key[lane] == key) {
      group.lanes |= Mask{1} << lane;
    } else if (warp.key[lane] > key) {
      limit = std::min(limit, warp.key[lane]);
    }
  });
  warp.ran = group.lanes;
  group.at = static_cast<std::uint32_t>(key);
  group.limit = limit >> 32 == key >> 32 ? static_cast<std::uint32_t>(limit) : ~std::uint32_t{0};
  select_frame(warp, warp.block.launch.kernel->depth - static_cast<std::uint32_t>(key >> 32));
  return group;
}

void park(Warp& warp, Mask lanes, std::uint32_t at) {
  fill_lanes(warp.key.data(), key_of(warp, warp.depth, at), lanes);
}

void exit_lanes(Warp& warp, Mask lanes) {
  warp.alive &= ~lanes;
  warp.block.running -= static_cast<std::uint32_t>(std::popcount(lanes));
  warp.block.thread_exited();
}

namespace {

// Finds the callees of a call by address, since each lane may call a different function.
bool find_targets(Warp& warp, Step const& step, Mask lanes, std::array<std::uint32_t, kLanes>& targets) {
  auto const* const addresses = warp.at<std::uint64_t>(step.source[0]);
  for (; lanes != 0; lanes &= lanes - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(lanes));
    auto const found = step.call->targets.find(addresses[lane]);
    if (found == step.call->targets.end()) {
      return warp.block.fail(
          warp, step, Mask{1} << lane, FaultKind::illegal_instruction,
          "a call of " + hexadecimal(addresses[lane]) + ", which is no function of this module with such parameters",
          addresses[lane]);
    }
    targets[lane] = found->second;
  }
  return true;
}

}  // namespace

bool enter_call(Warp& warp, Step const& step, Mask lanes, std::uint32_t at) {
  auto const& kernel = *warp.block.launch.kernel;
  if (warp.depth == warp.block.launch.depth) {
    return warp.block.fail(warp, step, lanes, FaultKind::stack_overflow,
                           "more than " + std::to_string(warp.block.launch.depth) + " nested calls");
  }
  warp.reach(warp.depth + 1);
  std::array<std::uint32_t, kLanes> targets;
  targets.fill(step.target);
  if (step.call->by_address && !find_targets(warp, step, lanes, targets)) return false;
  each_lane(lanes, [&](unsigned lane) {
    std::byte* const frame = warp.block.local_of(warp, lane) + std::size_t{warp.depth} * kernel.local_frame_bytes;
    for (auto const& copy : step.call->arguments)
      std::memcpy(frame + kernel.local_frame_bytes + copy.to, frame + copy.from, copy.bytes);
    warp.returns[warp.depth].step[lane] = at + 1;
    warp.returns[warp.depth].alloca_end[lane] = warp.alloca_end[lane];
    warp.key[lane] = key_of(warp, warp.depth + 1, targets[lane]);
  });
  return true;
}

void leave_call(Warp& warp, Mask lanes) {
  auto const& kernel = *warp.block.launch.kernel;
  std::uint32_t const caller = warp.depth - 1;
  each_lane(lanes, [&](unsigned lane) {
    std::uint32_t const back = warp.returns[caller].step[lane];
    warp.alloca_end[lane] = warp.returns[caller].alloca_end[lane];
    std::byte* const frame = warp.block.local_of(warp, lane) + std::size_t{caller} * kernel.local_frame_bytes;
    for (auto const& copy : kernel.steps[back - 1].call->results)
      std::memcpy(frame + copy.to, frame + kernel.local_frame_bytes + copy.from, copy.bytes);
    warp.key[lane] = key_of(warp, caller, back);
  });
}

std::uint32_t const* members_of(Warp& warp, Step const& step) {
  unsigned last = 3;
  while (step.source[last] == kNowhere) --last;
  return warp.at<std::uint32_t>(step.source[last]);
}

namespace {

// Releases the lanes at bar.warp.sync instructions, which may differ, if all members of their mask have arrived.
bool meet(Warp& warp) {
  auto const& kernel = *warp.block.launch.kernel;
  std::array<Mask, kLanes> members{};
  Mask all = 0;
  each_lane(warp.in_collective, [&](unsigned lane) {
    Step const& step = kernel.steps[static_cast<std::uint32_t>(warp.key[lane])];
    if (step.choice != kMeetsAnywhere) return;
    select_frame(warp, kernel.depth - static_cast<std::uint32_t>(warp.key[lane] >> 32));
    members[lane] = members_of(warp, step)[lane];
    all |= Mask{1} << lane;
  });
  while (all != 0) {
    auto const first = static_cast<unsigned>(std::countr_zero(all));
    Mask same = 0;
    each_lane(all, [&](unsigned lane) { same |= Mask{members[lane] == members[first]} << lane; });
    all &= ~same;
    if ((members[first] & same) != same) {
      return warp.block.fail(warp, kernel.steps[static_cast<std::uint32_t>(warp.key[first])], same & ~members[first],
                             FaultKind::barrier, "a lane that is missing in its own member mask");
    }
    if ((members[first] & warp.alive & ~same) != 0) continue;
    Mask const exited = members[first] & warp.threads & ~same;
    if (exited != 0 && warp.block.launch.options->checks.sync) {
      return warp.block.fail(warp, kernel.steps[static_cast<std::uint32_t>(warp.key[first])], same, FaultKind::barrier,
                             "a __syncwarp() for " + lanes_text(exited) + ", which did not arrive and " +
                                 (std::has_single_bit(exited) ? "has exited" : "have exited"));
    }
    each_lane(same, [&](unsigned lane) { ++warp.key[lane]; });
    warp.in_collective &= ~same;
  }
  return true;
}

}  // namespace

bool collect(Warp& warp, Step const& step, Mask lanes, std::uint32_t at) {
  if (step.choice == kMeetsAnywhere) {
    park(warp, lanes, at);
    warp.in_collective |= lanes;
    return meet(warp);
  }
  std::uint32_t const* const members = members_of(warp, step);
  std::uint64_t const here = key_of(warp, warp.depth, at);
  each_lane(warp.in_collective, [&](unsigned lane) {
    if (warp.key[lane] == here) lanes |= Mask{1} << lane;
  });
  Mask waits = 0;
  for (Mask left = lanes; left != 0;) {
    auto const first = static_cast<unsigned>(std::countr_zero(left));
    std::uint32_t const mask = members[first];
    Mask same = 0;
    each_lane(left, [&](unsigned lane) { same |= Mask{members[lane] == mask} << lane; });
    left &= ~same;
    if ((mask & same) != same) {
      return warp.block.fail(warp, step, same & ~mask, FaultKind::barrier,
                             "a lane that is missing in its own member mask");
    }
    if ((mask & warp.alive & ~same) != 0) {
      waits |= same;
      continue;
    }
    if (!step.handler(warp, step, same)) return false;
    park(warp, same, at + 1);
    warp.in_collective &= ~same;
  }
  park(warp, waits, at);
  warp.in_collective |= waits;
  return true;
}

bool retry_collectives(Warp& warp) {
  for (Mask left = warp.in_collective; left != 0; left &= warp.in_collective) {
    auto const first = static_cast<unsigned>(std::countr_zero(left));
    std::uint64_t const key = warp.key[first];
    Mask lanes = 0;
    each_lane(left, [&](unsigned lane) { lanes |= Mask{warp.key[lane] == key} << lane; });
    left &= ~lanes;
    auto const at = static_cast<std::uint32_t>(key);
    select_frame(warp, warp.block.launch.kernel->depth - static_cast<std::uint32_t>(key >> 32));
    if (!collect(warp, warp.block.launch.kernel->steps[at], lanes, at)) return false;
  }
  return true;
}

bool is_aligned(DecodedKernel const& kernel, Step const& step) {
  auto const& form = *kernel.forms[step.form_index];
  return static_cast<BarrierKind>(step.choice) != BarrierKind::sync || form.opcode() != "barrier" ||
         form.has("aligned");
}

namespace {

// Returns an operand of a barrier, its number or its count, or nothing if it differs between the lanes.
std::optional<std::uint32_t> same_for_all(Warp& warp, Location location, Mask lanes) {
  std::uint32_t const* const values = warp.at<std::uint32_t>(location);
  std::uint32_t const value = values[std::countr_zero(lanes)];
  bool same = true;
  if ((location & kConstant) == 0) each_lane(lanes, [&](unsigned lane) { same = same && values[lane] == value; });
  return same ? std::optional(value) : std::nullopt;
}

// Says why lanes must not arrive at a barrier; empty if they may.
std::string why_not(Warp& warp, Step const& step, std::uint32_t id, std::uint32_t expected, std::uint32_t at) {
  Block const& block = warp.block;
  Barrier const& barrier = block.barriers[id];
  if (expected % kLanes != 0) return "a barrier of " + std::to_string(expected) + " threads";
  auto const all = (block.threads + kLanes - 1) / kLanes * kLanes;
  if (barrier.used && (barrier.expected == 0 ? all : barrier.expected) != (expected == 0 ? all : expected)) {
    return "a barrier of " + std::to_string(expected == 0 ? all : expected) +
           " threads, where other threads arrived at one of " +
           std::to_string(barrier.expected == 0 ? all : barrier.expected);
  }
  auto const kind = static_cast<BarrierKind>(step.choice);
  auto const reduction = [](BarrierKind of) { return of == BarrierKind::arrive ? BarrierKind::sync : of; };
  if (barrier.used && reduction(kind) != reduction(barrier.kind))
    return "a barrier with another reduction than that of other threads";
  if (kind == BarrierKind::arrive || warp.waiting[id] == 0) return "";
  if (warp.key[static_cast<unsigned>(std::countr_zero(warp.waiting[id]))] == key_of(warp, warp.depth, at)) return "";
  auto const& kernel = *block.launch.kernel;
  Step const& other = kernel.steps[warp.waiting_at[id]];
  if (!is_aligned(kernel, step) && !is_aligned(kernel, other)) return "";
  return "a divergent barrier: other lanes of the warp wait at line " + std::to_string(other.line);
}

}  // namespace

Arrival arrive(Warp& warp, Step const& step, Mask lanes, std::uint32_t at) {
  Block& block = warp.block;
  auto const kind = static_cast<BarrierKind>(step.choice);
  auto const fail = [&](std::string why) {
    block.fail(warp, step, lanes, FaultKind::barrier, std::move(why));
    return Arrival::failed;
  };
  auto const number = step.bits == kClusterBarrier ? kClusterBarrier : same_for_all(warp, step.source[0], lanes);
  if (!number) return fail("a barrier whose number differs between lanes");
  std::uint32_t const id = *number;
  if (id >= kNamedBarriers && step.bits != kClusterBarrier)
    return fail("a barrier with the number " + std::to_string(id) + "; expected 0 to 15");
  bool const counted = (kind == BarrierKind::sync || kind == BarrierKind::arrive) && step.count > 1;
  auto const count = counted ? same_for_all(warp, step.source[1], lanes) : 0;
  if (!count) return fail("a barrier whose number of threads differs between lanes");
  if (counted && *count == 0) return fail("a barrier of 0 threads");
  if (auto why = why_not(warp, step, id, *count, at); !why.empty()) return fail(std::move(why));
  Barrier& barrier = block.barriers[id];
  if (!barrier.used) {
    barrier.used = true;
    barrier.expected = *count;
    barrier.kind = kind;
  }
  if (kind == BarrierKind::arrive) {
    barrier.arrived += lanes == warp.alive ? kLanes : static_cast<std::uint32_t>(std::popcount(lanes));
  } else {
    if (kind != BarrierKind::sync)
      barrier.reduced += static_cast<std::uint32_t>(std::popcount(warp.predicate_source(step, 1) & lanes));
    warp.waiting[id] |= lanes;
    warp.waiting_at[id] = at;
    warp.at_barrier |= lanes;
    park(warp, lanes, at);
  }
  std::uint32_t const depth = warp.depth;
  if (block.barrier_complete(id)) block.release_barrier(id);
  select_frame(warp, depth);  // release_barrier() may have selected another frame
  return kind == BarrierKind::arrive ? Arrival::passed : Arrival::waits;
}

}  // namespace cuda_cpu
