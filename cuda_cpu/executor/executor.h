// Executor runs PTX kernels on host threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/executor/device_memory.h"
#include "cuda_cpu/executor/program.h"
#include "tracing_core/emit/span.h"

namespace cuda_cpu {

struct Image;

struct Dimensions {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

enum class FaultKind : std::uint8_t {
  illegal_address,      // memory that is not allocated, or constant memory accessed as global memory
  out_of_range,         // an address beyond the shared memory of the block or the local memory of the thread
  misaligned_address,   // an address that is not a multiple of the size of the access
  illegal_instruction,  // a bad operand, such as the address of a call that is not a function
  trap,                 // the instruction `trap`
  assertion,            // assert()
  barrier,              // threads that disagree about a barrier, or wait for threads that never arrive
  shuffle,              // a shuffle that reads an inactive lane
  stack_overflow,       // calls that are too deep, or too much local memory
  race,                 // accesses that nothing orders
  uninitialized,        // a read of memory that was never written
  stopped,              // ended by RunOptions::stop
  timeout,              // ended by RunOptions::timeout
};

/// Says why a kernel ended early: the first fault of any of its threads.
struct Fault {
  FaultKind kind = FaultKind::illegal_address;
  std::string message;  // one line: kernel, source and PTX line, block, lanes and address
  std::string kernel;
  int line = 0;                         // line of the PTX text
  std::vector<ptx::SourceLine> source;  // innermost first; empty if the PTX was compiled without -lineinfo
  Dimensions block{0, 0, 0};
  std::uint32_t first_thread = 0;  // index of the warp's first thread in the block
  std::uint32_t lanes = 0;         // a bit for each faulting thread of the warp
  std::uintptr_t address = 0;      // address of a memory fault
};

/// Counts how often the instructions of one form ran, and for how long.
struct OpcodeStatistics {
  std::uint64_t count = 0;    // counted once for the threads of a warp that run it together
  std::uint64_t threads = 0;  // counted once per thread
  std::uint64_t nanoseconds = 0;
  std::string_view span;  // the name of its perf span, a literal: "cpu_ldg"; its data() is null if it has no span

  void operator+=(OpcodeStatistics const& other) noexcept;
};

struct BlockStatistics {
  Dimensions block{0, 0, 0};
  std::map<std::string_view, OpcodeStatistics> opcodes;  // by form: "fma.rn.f32"
};

struct RunStatistics {
  std::uint64_t thread_instructions = 0;
  std::map<std::string_view, OpcodeStatistics> opcodes;  // by form; the names live as long as the process
  std::vector<BlockStatistics> blocks;                   // unordered
};

/// Result of a shuffle for a lane whose source lane has exited or is not in the member mask. PTX leaves it undefined.
enum class StaleShuffle : std::uint8_t {
  zero,  // the value is zero
  // Fault for `shfl.idx`, which chose the lane; zero for other shuffles: lanes at the end of a reduction often read a
  // value that they do not use.
  fault_if_idx,
  fault,  // a fault
};

/// The checks of a launch, which make it take several times as long. Each finding is a fault.
struct Checks {
  /// Two threads access the same byte of shared or global memory. One of them writes to it and changes it, and one
  /// access is neither atomic nor volatile. Nothing between them may have ordered them: no barrier of their block, and
  /// no fence or atomic access of both threads or blocks. The blocks of the launch then run on one worker. Accesses of
  /// different launches are not compared. If a write that changes nothing stands in the place of the write of a race,
  /// RunOptions::note says so, once for each kernel.
  bool race = false;
  /// A read of global memory with DeviceMemory::track_writes(), if none of its bytes was ever written.
  bool init = false;
  /// A read of shared memory, if none of its bytes was ever written. Correct kernels may read such values without using
  /// them, as the merge sort of CUB does.
  bool init_shared = false;
  /// Threads of a block reach __syncthreads() at different places, or a lane exits without the __syncwarp() whose mask
  /// names it, or a lane shuffles from a lane that has exited (unless RunOptions::stale_shuffle is zero).
  bool sync = false;

  bool any() const noexcept { return race || init || init_shared || sync; }
};

/// Bytes [begin, end) of global memory that a run accessed.
struct AccessedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool wrote = false;
  bool is_strong = false;  // by atomic or volatile accesses alone
};

/// The size of the memory at RunOptions::grid_workspace.
inline constexpr std::size_t kGridWorkspaceBytes = 8;

struct RunOptions {
  /// Receives the output of each printf() call of the kernel. May be called on any thread, but on one at a time.
  std::function<void(std::string_view)> print;
  /// Collects RunStatistics::opcodes, which takes about as long as the instructions themselves.
  bool opcode_statistics = false;
  /// Also collects RunStatistics::blocks.
  bool block_statistics = false;
  /// Emits a perf span for each memory access, branch, call, return, exit, barrier, fence and loop of a warp.
  bool instruction_spans = false;
  /// The parent of the run's perf span; by default the current span.
  tracing::Span parent{};
  Checks checks{};
  /// Receives findings of the checks that do not end the run, as a sentence. May be called on any thread.
  std::function<void(std::string_view)> note = {};
  /// Receives the memory that the run accessed, by address, if it is checked for races.
  std::vector<AccessedRange>* accessed = nullptr;
  StaleShuffle stale_shuffle = StaleShuffle::fault_if_idx;
  /// Ends the run with FaultKind::timeout soon after this time has passed since its first block began; zero: never.
  std::chrono::nanoseconds timeout{0};

  /// If not zero, the launch is cooperative, so all of its blocks run at the same time and may wait for each other. It
  /// is the address of kGridWorkspaceBytes of zeros in device memory, aligned to 8, which grid.sync() of cooperative
  /// groups uses.
  std::uint64_t grid_workspace = 0;
  /// Returns the texture or surface of a handle, or null for an unknown handle. Several threads may call it at once.
  std::function<std::shared_ptr<Image const>(std::uint64_t handle)> find_image;
  /// Ends the run with FaultKind::stopped soon after a stop is requested.
  std::stop_token stop;
};

struct LaunchShape {
  Dimensions grid;
  Dimensions block;  // at most 1024 threads
  std::uint32_t dynamic_shared_bytes = 0;
};

/// Runs kernels. Thread-safe: concurrent runs share the workers. Blocks that wait for each other make progress, even
/// blocks of different runs.
class Executor {
 public:
  struct Options {
    /// The number of threads that run blocks; zero: one per core.
    unsigned workers = 0;
    /// The maximum number of blocks that a worker has started and not finished. It starts another when all of these
    /// wait or spin.
    unsigned resident_blocks = 16;
  };

  Executor() : Executor(Options{}) {}
  explicit Executor(Options options);
  ~Executor();
  Executor(Executor const&) = delete;
  Executor& operator=(Executor const&) = delete;

  /// Runs the entire grid; returns the fault that ended it, if any. `parameters` is the entry's parameter buffer, of
  /// Function::parameter_bytes; missing bytes are zero. `memory` is the memory into which the program was loaded. Does
  /// not check the shape against the limits of the entry.
  std::optional<Fault> run(DecodedKernel const& kernel, LaunchShape const& shape, std::span<std::byte const> parameters,
                           DeviceMemory& memory, RunOptions const& options = {}, RunStatistics* statistics = nullptr);

  unsigned workers() const noexcept;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace cuda_cpu
