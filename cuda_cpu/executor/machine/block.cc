// Runs the warps of a block in turns, releases its barriers, and checks the addresses that its threads access.
//
// The threads of a block appear to run at the same time: any of them may wait for the others, at a barrier, in a
// shuffle, or in a loop that reads memory until another thread has written it. Here one host thread runs all threads of
// a block, so it must be able to leave a thread that waits and go on with another. It does so warp by warp. run() goes
// round the warps. Each warp runs until its lanes wait or exit, or until its turn is over. The state of a warp is data
// (registers, and the next step of each lane), so a warp can stop between two steps by returning to run(). A block can
// stop, too: its worker gives the next block a turn and comes back later.
//
// Unless a thread has a fault, a round over the warps ends in one of four ways:
//
// - All threads have exited. The block is finished.
// - No warp ran an instruction. This is a deadlock: each living lane waits at a barrier or in a collective step, and
//   only another lane of the block could release it. The test is exact, needs no timer, and does not depend on the
//   speed of the machine. Threads that spin do run instructions, so a block that spins forever ends only by
//   RunOptions::timeout or RunOptions::stop.
// - A warp used up its turn, or polled memory kMaxPolls times. The turn of the block is over, because the warp may wait
//   for a block that has its turn after this one, or that has not begun yet.
// - Otherwise all warps ran until they wait, and the next round begins. In a loop with a barrier every round ends this
//   way, so kBlockTurn limits the number of rounds.
//
// Two rules keep the rest simple:
//
// - Only one host thread at a time runs a block. Its shared and local memory, its barriers and its warps need neither
//   locks nor atomics. Global memory does need atomics, because other workers run other blocks of the launch.
// - A barrier is released by the event that completes it: an arrival, or the exit of a thread. Each such event tests
//   the condition from the masks of waiting lanes. So waiting lanes cost nothing, and no release is missed.
//
// Most accesses to memory do not reach this file: quick() accepts an address in shared memory, or in the range of
// global memory that the step accessed last. For other addresses resolve() searches the allocations that existed when
// the launch began, without a lock, and then asks DeviceMemory for later allocations. If the launch is checked, ranges
// are not cached, so that the checker sees each access.
//
// Rejected: a host thread or a fiber for each GPU thread. A block would need up to 1024 stacks, and a switch at each
// barrier and shuffle. Most of all, each thread would dispatch its own steps, whereas here one step runs 32 lanes in a
// loop that the compiler vectorizes. Also rejected: splitting kernels at their barriers, as some compilers for CPUs do.
// It must know where the barriers are, but PTX may reach a barrier in divergent code or in a function that is called by
// its address.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "cuda_cpu/executor/check/checker.h"
#include "cuda_cpu/executor/machine/loop_spans.h"
#include "cuda_cpu/executor/machine/places.h"
#include "cuda_cpu/executor/machine/warp_loop.h"

namespace cuda_cpu {
namespace {

constexpr std::uint64_t kSharedAlignment = 128;

// A block with more local memory than this is not used again: new memory is zero without being touched.
constexpr std::size_t kMaxClearedBytes = std::size_t{64} << 10;

// The turn of the block is over after it has run each warp this many times, each time until the warp waits.
constexpr unsigned kBlockTurn = 64;

constexpr char const* kLocalMemory = "the local memory of a thread";
// A generic address that misses shared or local memory by at most this distance is reported as beyond that memory.
constexpr std::int64_t kNearBytes = 4096;

std::optional<std::int64_t> offset_near(std::uint64_t address, std::byte const* begin, std::uint64_t size) {
  auto const at = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(begin));
  bool const is_near = at >= -kNearBytes && at < static_cast<std::int64_t>(size) + kNearBytes;
  return size > 0 && is_near ? std::optional(at) : std::nullopt;
}

std::string with_comma(std::string text) { return text.empty() ? text : ", " + text; }

// An access of a lane. Each report_...() reports that it is wrong and returns null.
struct LaneAccess {
  // Returns the offset to report. A 32-bit address is sign-extended, so a negative index gives an offset below zero.
  std::int64_t offset() const {
    return address >> 32 == 0 ? static_cast<std::int32_t>(address) : static_cast<std::int64_t>(address);
  }
  std::byte* report(FaultKind kind, std::string_view what, std::string const& where = "") const {
    block.fail(warp, step, Mask{1} << lane, kind,
               std::string(what) + " of " + std::to_string(bytes) + " bytes at " + hexadecimal(address) + where,
               address);
    return nullptr;
  }
  std::byte* report_misaligned() const {
    bool const is_of_device =
        step.space != ptx::Space::shared && step.space != ptx::Space::local && block.find_range(address, bytes);
    return report(FaultKind::misaligned_address, "a misaligned access",
                  is_of_device ? ", " + block.launch.memory->describe(address, bytes) : "");
  }
  std::byte* report_beyond(FaultKind kind, std::int64_t at, std::string const& memory, std::uint64_t size) const {
    block.fail(warp, step, Mask{1} << lane, kind,
               "an access of " + std::to_string(bytes) + " bytes at byte " + std::to_string(at) + " of " + memory +
                   ", which has " + std::to_string(size) + " bytes",
               address);
    return nullptr;
  }
  std::byte* report_unallocated() const {
    Launch const& launch = block.launch;
    bool const is_generic = step.space == ptx::Space::generic;
    if (auto const at = offset_near(address, block.shared, launch.shared_bytes); is_generic && at)
      return report_beyond(FaultKind::illegal_address, *at, "shared memory", launch.shared_bytes);
    if (auto const at = offset_near(address, block.local_of(warp, lane), launch.local_bytes); is_generic && at)
      return report_beyond(FaultKind::illegal_address, *at, kLocalMemory, launch.local_bytes);
    return report(FaultKind::illegal_address, "an access", with_comma(launch.memory->describe(address, bytes)));
  }

  Block& block;
  Warp const& warp;
  Step const& step;
  unsigned const lane;
  std::uint64_t const address;
  std::uint32_t const bytes;
};

bool is_traced(RunOptions const& options) {
  return options.opcode_statistics || options.block_statistics || options.instruction_spans;
}

}  // namespace

Dimensions Block::index_of(std::uint64_t number) const noexcept {
  auto const& grid = launch.shape.grid;
  return {static_cast<std::uint32_t>(number % grid.x), static_cast<std::uint32_t>(number / grid.x % grid.y),
          static_cast<std::uint32_t>(number / grid.x / grid.y)};
}

Block::Block(Launch& owner, std::uint64_t number) : launch(owner), ranges(owner.kernel->ranges) {
  index = index_of(number);
  threads = static_cast<std::uint32_t>(launch.shape.block.count());
  running = threads;
  shared_storage = std::make_unique<std::byte[]>(launch.shared_bytes + kSharedAlignment);
  shared =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(shared_storage.get()) + kSharedAlignment - 1) /
                                   kSharedAlignment * kSharedAlignment);
  std::uint32_t const warp_count = (threads + kLanes - 1) / kLanes;
  // calloc() gives zeros, and the host makes most of the pages only when they are used: few threads reach the deepest
  // call.
  local.reset(static_cast<std::byte*>(std::calloc(std::size_t{warp_count} * kLanes * launch.local_bytes + 1, 1)));
  if (local == nullptr) throw std::bad_alloc();
  for (std::uint32_t i = 0; i < warp_count; ++i) {
    std::uint32_t const left = threads - i * kLanes;
    warps.push_back(std::make_unique<Warp>(*this, i, left >= kLanes ? kAllLanes : (Mask{1} << left) - 1));
  }
  if (is_traced(*launch.options))
    statistics = std::make_unique<std::vector<OpcodeStatistics>>(launch.kernel->forms.size());
  if (launch.loops != nullptr) loop_spans = std::make_unique<LoopSpans>(*this);
  if (launch.options->checks.any()) checker = std::make_unique<BlockChecker>(*this);
}

Block::~Block() = default;

// Memory that a kernel reads before it writes it is zero in each block, so that the kernel behaves the same each time.
bool Block::restart(std::uint64_t number) {
  std::size_t const local_bytes = std::size_t{launch.local_bytes} * warps.size() * kLanes;
  bool const is_plain = statistics == nullptr && loop_spans == nullptr && checker == nullptr;
  if (!is_plain || local_bytes > kMaxClearedBytes || launch.kernel->function->recursive) return false;
  index = index_of(number);
  running = threads;
  std::memset(shared, 0, launch.shared_bytes);
  std::memset(local.get(), 0, local_bytes);
  barriers = {};
  for (auto const& warp : warps) warp->restart();
  return true;
}

BlockState Block::run() {
  auto* const run_warp = statistics != nullptr ? run_traced : checker != nullptr ? run_checked : run_untraced;
  for (unsigned passes = 1;; ++passes) {
    bool yielded = passes == kBlockTurn;  // needed in a loop over a barrier, in which no warp ever uses up its turn
    bool moved = false;
    for (auto const& warp : warps) {
      if (warp->alive == 0) continue;
      if (launch.stopped.load(std::memory_order_relaxed)) return BlockState::finished;
      std::uint64_t const before = warp->instructions;
      WarpState const state = run_warp(*warp);
      if (state == WarpState::failed) return BlockState::finished;
      yielded = yielded || state == WarpState::yielded;
      moved = moved || warp->instructions != before;
    }
    if (running == 0) return BlockState::finished;
    if (!moved) {
      report_deadlock();
      return BlockState::finished;
    }
    if (yielded) return BlockState::yielded;
  }
}

// Reports the first warp that waits. If some of its lanes wait in a collective step, names these lanes: the lanes that
// they wait for are at a barrier and never arrive.
void Block::report_deadlock() {
  for (auto const& warp : warps) {
    Mask const waits = warp->alive & (warp->in_collective != 0 ? warp->in_collective : warp->at_barrier);
    if (waits == 0) continue;
    auto const first = static_cast<unsigned>(std::countr_zero(waits));
    Mask same = 0;
    each_lane(waits, [&](unsigned lane) { same |= Mask{warp->key[lane] == warp->key[first]} << lane; });
    Step const& step = launch.kernel->steps[static_cast<std::uint32_t>(warp->key[first])];
    fail(*warp, step, same, FaultKind::barrier, "a deadlock (" + places_of(*this).text + ")");
    return;
  }
}

bool Block::barrier_complete(unsigned id) {
  Barrier const& barrier = barriers[id];
  std::uint32_t arrived = barrier.arrived;
  bool has_arrivals = arrived != 0;
  for (auto const& warp : warps) {
    Mask const waits = warp->waiting[id];
    has_arrivals = has_arrivals || waits != 0;
    if (barrier.expected == 0) {
      // Threads that have exited count as arrived.
      if (waits != warp->alive) return false;
    } else {
      arrived += waits == 0 ? 0 : waits == warp->alive ? kLanes : static_cast<std::uint32_t>(std::popcount(waits));
    }
  }
  return has_arrivals && (barrier.expected == 0 || arrived >= barrier.expected);
}

void Block::release_barrier(unsigned id) {
  if (checker != nullptr) checker->release(id);
  Barrier& barrier = barriers[id];
  std::uint32_t waited = 0;
  for (auto const& warp : warps) waited += static_cast<std::uint32_t>(std::popcount(warp->waiting[id]));
  for (auto const& warp : warps) {
    Mask const lanes = std::exchange(warp->waiting[id], 0);
    if (lanes == 0) continue;
    warp->at_barrier &= ~lanes;
    Step const& step = launch.kernel->steps[warp->waiting_at[id]];
    finish_reduction(*warp, step, lanes, barrier.reduced, waited);
    each_lane(lanes, [&](unsigned lane) { ++warp->key[lane]; });
  }
  barrier = {};
}

// Writes the result of bar.red: the number of threads whose predicate was true, or whether all or any were.
void Block::finish_reduction(Warp& warp, Step const& step, Mask lanes, std::uint32_t reduced, std::uint32_t waited) {
  auto const kind = static_cast<BarrierKind>(step.choice);
  if (kind == BarrierKind::sync || kind == BarrierKind::arrive || step.destination[0] == kNowhere) return;
  // Select the frame of the lanes that waited.
  auto const first = static_cast<unsigned>(std::countr_zero(lanes));
  select_frame(warp, launch.kernel->depth - static_cast<std::uint32_t>(warp.key[first] >> 32));
  if (kind == BarrierKind::popc) {
    auto* const to = warp.at<std::uint32_t>(step.destination[0]);
    each_lane(lanes, [&](unsigned lane) { to[lane] = reduced; });
  } else {
    bool const holds = kind == BarrierKind::all ? reduced == waited : reduced != 0;
    warp.set_predicate(step.destination[0], holds ? kAllLanes : 0, lanes);
  }
}

void Block::thread_exited() {
  for (unsigned id = 0; id < kBarriers; ++id)
    if (barriers[id].used && barrier_complete(id)) release_barrier(id);
}

std::byte* Block::resolve(Warp const& warp, Step const& step, unsigned lane, std::uint64_t address,
                          std::uint32_t bytes) {
  LaneAccess const access{*this, warp, step, lane, address, bytes};
  if ((address & (bytes - 1)) != 0) return access.report_misaligned();
  auto const inside = [&](std::uint64_t at, std::uint64_t size) { return at < size && bytes <= size - at; };
  std::uint64_t const local_bytes = launch.local_bytes;
  auto const checked = [&](std::byte* place, WrittenBytes* written) {
    return checker == nullptr || step.unchecked || checker->access(warp, step, lane, place, bytes, written) ? place
                                                                                                            : nullptr;
  };
  if (step.space == ptx::Space::shared) {
    return inside(address, launch.shared_bytes)
               ? checked(shared + address, nullptr)
               : access.report_beyond(FaultKind::out_of_range, access.offset(), "shared memory", launch.shared_bytes);
  }
  if (step.space == ptx::Space::local) {
    return inside(address, local_bytes)
               ? local_of(warp, lane) + address
               : access.report_beyond(FaultKind::out_of_range, access.offset(), kLocalMemory, local_bytes);
  }
  auto* const place = reinterpret_cast<std::byte*>(address);
  if (step.space == ptx::Space::generic) {
    if (inside(address - reinterpret_cast<std::uintptr_t>(shared), launch.shared_bytes)) return checked(place, nullptr);
    if (inside(address - reinterpret_cast<std::uintptr_t>(local_of(warp, lane)), local_bytes)) return place;
  }
  MemoryRange const* const range = find_range(address, bytes);
  if (range == nullptr) return access.report_unallocated();
  // As on a device, constant memory can be read at generic addresses, but not at global addresses.
  bool const fits = step.space == ptx::Space::constant
                        ? range->constant
                        : !range->constant || (step.space == ptx::Space::generic && !step.writes);
  if (!fits)
    return access.report(FaultKind::illegal_address, range->constant ? "an access to constant memory as global memory"
                                                                     : "an access to global memory as constant memory");
  if (checker == nullptr) ranges[step.range] = {range->begin, range->end - range->begin};
  return checked(place, range->written.get());
}

std::byte* Block::resolve_shared(Warp& warp, Step const& step, unsigned lane, std::uint32_t bytes) {
  if (step.space == ptx::Space::shared) return quick<ptx::Space::shared>(warp, step, lane, bytes);
  std::uint64_t const address = address_of(warp, step, lane);
  std::byte* const place = resolve(warp, step, lane, address, bytes);
  if (place == nullptr || static_cast<std::uint64_t>(place - shared) < launch.shared_bytes) return place;
  fail(warp, step, Mask{1} << lane, FaultKind::illegal_address,
       "an address outside of shared memory, " + hexadecimal(address), address);
  return nullptr;
}

MemoryRange const* Block::find_range(std::uint64_t address, std::uint64_t bytes) {
  auto const& all = *launch.snapshot;
  auto const next = std::ranges::upper_bound(all, address, {}, &MemoryRange::begin);
  if (next != all.begin() && std::prev(next)->holds(address, bytes)) return &*std::prev(next);
  // The memory may have been allocated since the kernel began.
  auto const after = late.upper_bound(address);
  if (after != late.begin() && std::prev(after)->second.holds(address, bytes)) return &std::prev(after)->second;
  auto found = launch.memory->find(address, bytes);
  return found ? &late.insert_or_assign(found->begin, *std::move(found)).first->second : nullptr;
}

void Block::forget_range(std::uint64_t address) {
  late.erase(address);
  for (auto& range : ranges)
    if (range.begin == address) range = {};
}

std::byte const* Block::find(std::uint64_t address, std::uint64_t bytes) {
  auto const* const place = reinterpret_cast<std::byte const*>(address);
  auto const inside = [&](std::byte const* begin, std::uint64_t size) {
    std::uint64_t const at = address - reinterpret_cast<std::uintptr_t>(begin);
    return at < size && bytes <= size - at;
  };
  if (inside(shared, launch.shared_bytes) ||
      inside(local.get(), warps.size() * kLanes * std::uint64_t{launch.local_bytes}))
    return place;
  return find_range(address, bytes) != nullptr ? place : nullptr;
}

bool Block::fail(Warp const& warp, Step const& step, Mask lanes, FaultKind kind, std::string what,
                 std::uintptr_t address) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.kernel->name;
  fault.line = step.line;
  fault.source = launch.kernel->module->sources().lines_of(step.place);
  fault.block = index;
  fault.first_thread = warp.index * kLanes;
  fault.lanes = lanes;
  fault.address = address;
  fault.message = what + ": kernel " + name_in_message(fault.kernel) + ", " + place_of(*launch.kernel, step) + " (" +
                  launch.kernel->forms[step.form_index]->name + "), block " + dimensions_text(index) + ", warp " +
                  std::to_string(warp.index) + ", " + lanes_text(lanes);
  launch.fail(std::move(fault));
  return false;
}

}  // namespace cuda_cpu
