// Declares the machine that runs a kernel: decoded instructions (steps), warps and blocks.
//
// A register of a warp is an array of 32 lanes of 2, 4 or 8 bytes; a predicate is a word with one bit per lane. A step
// runs for a group of lanes at once, the lanes that are at the same step. The group that is deepest in calls runs
// first; among groups of equal depth, the group that is earliest in the text runs first, so that lanes that diverged
// meet again where their paths join.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_cpu/executor/executor.h"
#include "cuda_cpu/ptx/forms.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu {

using Mask = std::uint32_t;  // a bit for each lane of a warp
constexpr unsigned kLanes = 32;
constexpr Mask kAllLanes = ~Mask{0};
constexpr unsigned kNamedBarriers = 16;
// The barrier of barrier.cluster: waits for all threads of the block, which is the only block of its cluster.
constexpr unsigned kClusterBarrier = 16;
constexpr unsigned kBarriers = kNamedBarriers + 1;

/// The place of a register: an offset in the frame or, with kConstant, in the kernel's constants.
using Location = std::uint32_t;
constexpr Location kConstant = Location{1} << 31;
constexpr Location kNowhere = ~Location{0};

enum class Rounding : std::uint8_t { nearest, zero, down, up };

enum class StepKind : std::uint8_t { plain, branch, call, ret, exit, barrier, collective };

/// The perf span of an instruction, see RunOptions::instruction_spans.
enum class SpanKind : std::uint8_t { none, ldg, stg, lds, sts, bra, call, ret, exit, barrier_sync, memory_fence };

class BlockChecker;
class GlobalRaces;
class LoopSpans;
class LoopTable;
class Warp;
struct Block;
struct Places;
struct FormTraits;
struct Step;

/// Runs a step for at least one lane. Returns false after a fault.
using Handler = bool (*)(Warp&, Step const&, Mask);

/// The addresses of a loaded module.
struct Addresses {
  static constexpr std::size_t kCodeBytes = 16;  // for each function: programs use the lowest bits of such addresses

  std::vector<std::uintptr_t> variables;  // addresses of global and constant variables; zero for other variables
  std::uintptr_t code = 0;                // the address of the first function; kernels cannot access memory there

  std::uintptr_t of_function(std::size_t index) const noexcept { return code + index * kCodeBytes; }
};

/// Copies a parameter or result of a call from one frame of local memory to another.
struct Copy {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t bytes = 0;
};
struct CallInfo {
  std::vector<Copy> arguments;
  std::vector<Copy> results;
  bool by_address = false;                              // calls the address in the first source
  std::map<std::uint64_t, std::uint32_t> targets = {};  // maps the address of each possible callee to its first step
};

/// The types of matrix elements.
enum class Element : std::uint8_t { none, b1, s4, u4, s8, u8, s32, e4m3, e5m2, f16, bf16, tf32, f32, f64 };

/// The shape of D = A * B + C, where A has m rows and k columns, B has n columns.
struct MatrixShape {
  std::uint8_t m = 0;
  std::uint8_t n = 0;
  std::uint8_t k = 0;      // counts words of 32 for single-bit elements
  bool by_column = false;  // order of the elements in memory
  Element a = Element::none;
  Element b = Element::none;
  Element c = Element::none;
  Element d = Element::none;
};

struct ManyOperands;

struct Step {
  Handler handler = nullptr;
  StepKind kind = StepKind::plain;
  SpanKind span = SpanKind::none;
  Rounding rounding = Rounding::nearest;
  ptx::Space space = ptx::Space::generic;
  bool guard_negated = false;
  bool frame_relative = false;  // `bits` is an offset in the local memory frame of the call
  bool ftz = false;
  bool saturate = false;
  bool writes = false;                         // writes to memory
  bool unchecked = false;                      // not checked: its address is the address of an mbarrier
  bool waits = false;                          // a backward branch of a loop that waits for other threads
  std::uint8_t negated = 0;                    // a bit for each source
  std::uint8_t count = 0;                      // number of registers in a vector, or the count that follows an address
  std::uint8_t bytes = 0;                      // size of the value in memory
  std::uint8_t choice = 0;                     // meaning depends on the handler
  std::array<std::uint8_t, 4> width{};         // bytes of the destination registers
  std::array<std::uint8_t, 4> source_width{};  // bytes of the source registers
  Location guard = kNowhere;
  std::array<Location, 4> destination{kNowhere, kNowhere, kNowhere, kNowhere};
  std::array<Location, 4> source{kNowhere, kNowhere, kNowhere, kNowhere};
  Location base = kNowhere;  // register of an address, which is base + bits
  std::uint8_t base_width = 8;
  std::uint64_t bits = 0;
  std::uint32_t target = 0;
  std::uint32_t range = 0;       // index in Block::ranges
  std::int32_t line = 0;         // line of the PTX
  std::int32_t place = -1;       // index in ptx::Module::sources()
  std::uint32_t index = 0;       // index in DecodedKernel::steps
  std::uint32_t form_index = 0;  // index in DecodedKernel::forms
  CallInfo const* call = nullptr;
  ManyOperands const* many = nullptr;
  MatrixShape matrix;
};

/// From this bit on, Step::bits of a video instruction holds the ptx::Part of the destination, then of each source.
inline constexpr unsigned kPartShift = 8;

/// The operands of a step that do not fit into Step.
struct ManyOperands {
  std::vector<std::vector<Location>> registers;  // registers of each operand in braces
  std::vector<Step> addresses;                   // each step holds an address: the second, the third, ...
};

struct DecodedKernel {
  std::string name;
  ptx::Module const* module = nullptr;
  ptx::Function const* function = nullptr;
  std::vector<Step> steps;
  std::vector<std::unique_ptr<CallInfo>> calls;
  std::vector<std::unique_ptr<ManyOperands>> many;
  std::vector<ptx::Form const*> forms;
  std::vector<std::byte> constants;     // 32 lanes for each constant
  std::uint32_t frame_bytes = 0;        // registers of one call
  std::uint32_t local_frame_bytes = 0;  // local memory of one call
  std::uint32_t depth = 0;              // length of the deepest chain of calls, or its limit
  std::uint32_t ranges = 0;
  mutable std::atomic<bool> has_noted_race{false};  // RunOptions::note has had a race of this kernel
};

/// The reserved part of shared memory, as large as on devices; cooperative groups keep the barriers of tiles of several
/// warps there.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;

/// The state that all blocks of a run share.
struct Launch {
  DecodedKernel const* kernel = nullptr;
  LaunchShape shape;
  std::vector<std::byte> parameters;
  std::vector<std::uint32_t> threads;  // %tid.x of the threads of a block, padded to whole warps; then %tid.y and .z
  std::shared_ptr<MemorySnapshot const> snapshot;
  DeviceMemory* memory = nullptr;
  RunOptions const* options = nullptr;
  std::uint64_t id = 0;
  std::uint32_t shared_bytes = 0;  // size for each block, including the reserved part
  // Offset of the last kReservedSharedBytes if the kernel asks for them; otherwise equal to shared_bytes.
  std::uint32_t reserved_shared_at = 0;
  std::uint32_t quick_shared_bytes = 0;  // bytes that Block::quick() may access; zero if the launch is checked
  std::vector<FormTraits> traits;        // traits of the kernel's forms if the launch is checked
  std::unique_ptr<GlobalRaces> races;    // null if the launch is not checked for races
  std::uint32_t depth = 0;               // limit of nested calls
  std::uint32_t local_bytes = 0;         // size for each thread: frames for `depth` calls, then memory for alloca
  // The loops of the kernel if its instructions have spans; null if it has no loops.
  std::unique_ptr<LoopTable const> loops;
  std::atomic<bool> stopped{false};
  std::chrono::steady_clock::time_point begin;  // when its first block began
  std::atomic<bool> timed_out{false};           // a launch that timed out is also stopped

  Launch();
  ~Launch();

  /// Keeps the first fault and stops the other blocks.
  void fail(Fault fault);
  std::optional<Fault> take_fault();
  void print(std::string_view text);
  void note(std::string_view text);
  /// Stops a launch that has run for too long.
  void time_out();
  /// Stores the places of a block's threads at the time-out.
  void add_places(Dimensions const& block, Places places);
  /// Adds the places of all blocks to the fault. `begun`: the number of blocks that had begun. The fault itself gets
  /// the place of the first of these blocks.
  void explain_timeout(Fault& fault, std::uint64_t begun) const;

 private:
  mutable tracing::support::Mutex mutex_;
  std::optional<Fault> fault_ TRACING_GUARDED_BY(mutex_);
  std::vector<std::pair<Dimensions, Places>> places_ TRACING_GUARDED_BY(mutex_);  // for each block
  tracing::support::Mutex printing_;  // held while options->print or note runs, which may call fail()
};

/// The steps to which the lanes of a warp return from calls at one depth.
struct Returns {
  std::array<std::uint32_t, kLanes> step{};
  std::array<std::uint32_t, kLanes> alloca_end{};  // alloca_end of the caller
};

class Warp {
 public:
  Warp(Block& block, unsigned index, Mask lanes);

  template <class T>
  T* at(Location location) noexcept {
    std::byte* const place = (location & kConstant) != 0 ? constants + (location & ~kConstant) : frame + location;
    return reinterpret_cast<T*>(place);
  }
  Mask& predicate(Location location) noexcept { return *at<Mask>(location); }
  Mask predicate_source(Step const& step, unsigned i) noexcept {
    return predicate(step.source[i]) ^ ((step.negated >> i & 1) != 0 ? kAllLanes : 0);
  }
  void set_predicate(Location location, Mask value, Mask lanes) noexcept {
    Mask& word = predicate(location);
    word = (word & ~lanes) | (value & lanes);
  }
  unsigned thread(unsigned lane) const noexcept { return index * kLanes + lane; }
  /// Begins again, with registers that are zero. REQUIRES: the kernel is not recursive.
  void restart();
  /// Makes frames for calls up to `depth`.
  void reach(std::uint32_t depth);
  void begin();

  Block& block;
  unsigned const index;
  std::byte* frame = nullptr;      // registers of the running group
  std::byte* constants = nullptr;  // shared, never written
  std::uint32_t depth = 0;         // depth of the running group in calls

  Mask const threads;                                 // lanes that are threads of the block
  Mask alive;                                         // lanes that have not exited
  Mask at_barrier = 0;                                // lanes that wait at a barrier of the block
  Mask in_collective = 0;                             // lanes that wait for other lanes of this warp
  std::array<Mask, kBarriers> waiting{};              // lanes that wait at each barrier
  std::array<std::uint32_t, kBarriers> waiting_at{};  // the step at which they wait
  std::array<std::uint64_t, kLanes> key{};            // (kernel depth - depth) << 32 | next step
  std::array<std::uint64_t, kLanes> stamp{};          // the value of `steps` when the lane ran last
  std::vector<Returns> returns;                       // indexed by the depth of the caller
  std::vector<std::byte*> frames;                     // registers, indexed by depth
  std::vector<std::vector<std::byte>> registers;      // the memory of `frames`
  std::array<std::uint32_t, kLanes> alloca_end{};     // end of the memory that alloca gave, an address in local memory
  Mask ran = 0;                                       // the lanes of the last group
  std::uint64_t steps = 0;                            // number of steps run by all groups
  std::uint64_t instructions = 0;                     // number of steps, counted once for each lane
};

/// Step::choice of a barrier.
enum class BarrierKind : std::uint8_t { sync, arrive, popc, all, any };

struct Barrier {
  bool used = false;           // a thread has arrived
  BarrierKind kind{};          // kind of the first arrival
  std::uint32_t expected = 0;  // number of threads; zero: all of the block
  std::uint32_t arrived = 0;   // number of threads that arrived by bar.arrive
  std::uint32_t reduced = 0;   // number of threads whose predicate was true
};

/// The global memory that an instruction accessed last.
struct CachedRange {
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;
};

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};

enum class BlockState : std::uint8_t { finished, yielded };

struct Block {
  Block(Launch& launch, std::uint64_t number);
  ~Block();

  /// Makes a finished block the block of another number. Returns false if that would not be faster than a new block.
  bool restart(std::uint64_t number);
  /// Runs until the block is finished, has a fault, or its turn is over.
  BlockState run();

  /// Returns the host address of `bytes` at `address` in the step's space, for a lane. Returns null, after reporting
  /// the fault, if the access is invalid.
  std::byte* resolve(Warp const& warp, Step const& step, unsigned lane, std::uint64_t address, std::uint32_t bytes);
  /// As resolve(), for the address of the step. The common valid cases are inlined.
  template <ptx::Space kSpace>
  std::byte* quick(Warp& warp, Step const& step, unsigned lane, std::uint32_t bytes);
  /// As quick(), for another address.
  template <ptx::Space kSpace>
  std::byte* quick_at(Warp& warp, Step const& step, unsigned lane, std::uint64_t address, std::uint32_t bytes);
  /// As resolve(), for the step's address, which must be in shared memory: an address of that space or a generic
  /// address.
  std::byte* resolve_shared(Warp& warp, Step const& step, unsigned lane, std::uint32_t bytes);
  /// Returns the host address of memory to read at a generic address, such as a string; null, without a report, if it
  /// is invalid.
  std::byte const* find(std::uint64_t address, std::uint64_t bytes);
  bool fail(Warp const& warp, Step const& step, Mask lanes, FaultKind kind, std::string what,
            std::uintptr_t address = 0);

  Dimensions index_of(std::uint64_t number) const noexcept;
  std::byte* local_of(Warp const& warp, unsigned lane) noexcept {
    return local.get() + std::size_t{warp.thread(lane)} * launch.local_bytes;
  }
  bool barrier_complete(unsigned id);
  void release_barrier(unsigned id);
  void thread_exited();
  /// Returns the range that holds the bytes, or null if they are not allocated.
  MemoryRange const* find_range(std::uint64_t address, std::uint64_t bytes);
  /// Called after an allocation of the heap was freed.
  void forget_range(std::uint64_t address);
  void report_deadlock();
  void finish_reduction(Warp& warp, Step const& step, Mask lanes, std::uint32_t reduced, std::uint32_t waited);

  Launch& launch;
  Dimensions index;
  std::uint32_t threads;
  std::uint32_t running;  // number of threads that have not exited
  std::unique_ptr<std::byte[]> shared_storage;
  std::byte* shared;
  std::unique_ptr<std::byte[], FreeMemory> local;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, kBarriers> barriers{};
  std::vector<CachedRange> ranges;
  std::map<std::uint64_t, std::shared_ptr<Image const>> images;  // by handle; null: the handle is unknown
  std::map<std::uintptr_t, MemoryRange> late;                 // memory allocated while the kernel ran, by its address
  std::unique_ptr<BlockChecker> checker;                      // null if the launch is not checked
  std::unique_ptr<LoopSpans> loop_spans;                      // null without Launch::loops
  std::unique_ptr<std::vector<OpcodeStatistics>> statistics;  // indexed as DecodedKernel::forms; null if not requested
};

/// Returns the address of a step in its space: a register plus an offset, or only an offset.
inline std::uint64_t address_of(Warp& warp, Step const& step, unsigned lane) noexcept {
  if (step.base == kNowhere) {
    return step.bits +
           (step.frame_relative ? std::uint64_t{warp.depth} * warp.block.launch.kernel->local_frame_bytes : 0);
  }
  if (step.base_width == 8) return step.bits + warp.at<std::uint64_t>(step.base)[lane];
  return static_cast<std::uint32_t>(step.bits + warp.at<std::uint32_t>(step.base)[lane]);
}

template <ptx::Space kSpace>
[[gnu::always_inline]] inline std::byte* Block::quick(Warp& warp, Step const& step, unsigned lane,
                                                      std::uint32_t bytes) {
  return quick_at<kSpace>(warp, step, lane, address_of(warp, step, lane), bytes);
}

template <ptx::Space kSpace>
[[gnu::always_inline]] inline std::byte* Block::quick_at(Warp& warp, Step const& step, unsigned lane,
                                                         std::uint64_t address, std::uint32_t bytes) {
  if constexpr (kSpace == ptx::Space::shared) {
    if (address < launch.quick_shared_bytes && bytes <= launch.quick_shared_bytes - address &&
        (address & (bytes - 1)) == 0)
      return shared + address;
  } else if constexpr (kSpace == ptx::Space::global) {
    CachedRange const& range = ranges[step.range];
    std::uint64_t const offset = address - range.begin;
    if (offset < range.bytes && bytes <= range.bytes - offset && (address & (bytes - 1)) == 0)
      return reinterpret_cast<std::byte*>(address);
  } else if constexpr (kSpace == ptx::Space::local) {
    if (address < launch.local_bytes && bytes <= launch.local_bytes - address && (address & (bytes - 1)) == 0)
      return local_of(warp, lane) + address;
  }
  return resolve(warp, step, lane, address, bytes);
}

enum class WarpState : std::uint8_t { finished, waiting, yielded, failed };

// The loops that run a warp: without instrumentation; with checks; and with counts, times and perf spans, where checks
// may be on, too.
WarpState run_untraced(Warp& warp);
WarpState run_checked(Warp& warp);
WarpState run_traced(Warp& warp);

/// Step::choice of a mov until its handler is selected.
enum class MoveKind : std::uint8_t { plain, pack, unpack, special, address };

/// Step::choice of bar.warp.sync, whose lanes may arrive at different steps.
constexpr std::uint8_t kMeetsAnywhere = 1;

/// Each returns the handler of a form of its family, or null for a form of another family. The modifiers of `step` are
/// already set.
Handler select_carry(ptx::Form const& form, Step& step);
Handler select_integer(ptx::Form const& form, Step& step);
Handler select_bits(ptx::Form const& form, Step& step);
Handler select_float(ptx::Form const& form, Step& step);
Handler select_half(ptx::Form const& form, Step& step);
Handler select_approximation(ptx::Form const& form, Step& step);
Handler select_comparison(ptx::Form const& form, Step& step);
Handler select_conversion(ptx::Form const& form, Step& step);
Handler select_move(ptx::Form const& form, Step& step);
Handler select_memory(ptx::Form const& form, Step& step);
Handler select_atomic(ptx::Form const& form, Step& step);
Handler select_collective(ptx::Form const& form, Step& step);
Handler select_matrix(ptx::Form const& form, Step& step);
Handler select_matrix_memory(ptx::Form const& form, Step& step);
Handler select_async(ptx::Form const& form, Step& step);
Handler select_mbarrier(ptx::Form const& form, Step& step);
Handler select_stack(ptx::Form const& form, Step& step);
Handler select_image(ptx::Form const& form, Step& step);
Handler select_video(ptx::Form const& form, Step& step);
/// Returns true if handlers may use AVX2 and FMA. Handlers are chosen when a kernel is decoded.
bool has_wide_vectors() noexcept;
/// For tests: lets kernels that are decoded from now on run as on a processor without AVX2.
void forgo_wide_vectors() noexcept;

/// Returns the handler of a call of vprintf, __assertfail, malloc or free.
Handler select_provided(std::string_view name);

/// Returns true if all lanes of a warp must arrive at a barrier at the same step: `bar.sync`, `barrier.sync.aligned`.
bool is_aligned(DecodedKernel const& kernel, Step const& step);

/// Returns the member masks of a collective step, one for each lane. They are its last source.
std::uint32_t const* members_of(Warp& warp, Step const& step);

/// Makes the frame at `depth` the current frame.
void select_frame(Warp& warp, std::uint32_t depth) noexcept;

}  // namespace cuda_cpu
