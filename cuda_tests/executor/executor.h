// Declares Executor, which runs kernels of PTX on the threads of the host.
#pragma once

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

#include "cuda_tests/executor/device_memory.h"
#include "cuda_tests/executor/program.h"

namespace cuda_tests {

struct Dimensions {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

enum class FaultKind : std::uint8_t {
  illegal_address,      // memory that is nobody's
  out_of_range,         // an address of shared or local memory beyond what the block or the thread has
  misaligned_address,   // an address that is no multiple of what is read or written there
  illegal_instruction,  // trap
  assertion,            // assert()
  barrier,              // threads that wait for others that never come, or that came elsewhere
  stack_overflow,       // calls deeper than a thread's frames, or local memory that the host does not have
  stopped,              // by RunOptions::stop
};

/// What ended a kernel before its time: the first such thing of any of its threads.
struct Fault {
  FaultKind kind = FaultKind::illegal_address;
  std::string message;  // one line: kernel, PTX line, block, lanes and address
  std::string kernel;
  int line = 0;  // of the PTX text
  Dimensions block{0, 0, 0};
  std::uint32_t first_thread = 0;  // of the warp, as counted in its block
  std::uint32_t lanes = 0;         // a bit for each thread of the warp that took part
  std::uintptr_t address = 0;      // of memory faults
};

/// What instructions of one opcode took. Times are there where the run was traced.
struct OpcodeStatistics {
  std::uint64_t count = 0;    // of instructions, counted once for the threads of a warp that make it together
  std::uint64_t threads = 0;  // the same, counted for each thread
  std::uint64_t nanoseconds = 0;
  std::string_view span;      // the perf span that one of them is, a literal: "cpu_ldg"; null where it is none

  void operator+=(OpcodeStatistics const& other) noexcept;
};

struct BlockStatistics {
  Dimensions block{0, 0, 0};
  std::map<std::string_view, OpcodeStatistics> opcodes;  // by the form's whole name: "fma.rn.f32"
};

struct RunStatistics {
  std::uint64_t thread_instructions = 0;
  std::map<std::string_view, OpcodeStatistics> opcodes;  // names live as long as the process
  std::vector<BlockStatistics> blocks;                   // in no order
};

struct RunOptions {
  /// What printf() of a kernel makes, a call of it at a time; by any thread, one at a time for each run.
  std::function<void(std::string_view)> print;
  /// Counts and times by opcode, which costs about as much as the instructions themselves.
  bool opcode_statistics = false;
  /// Keeps those of each block, too.
  bool block_statistics = false;
  /// A perf span for each memory access, branch, call, return, exit, barrier and fence of a warp.
  bool instruction_spans = false;
  /// Ends the run with FaultKind::stopped soon after a stop is asked for.
  std::stop_token stop;
};

struct LaunchShape {
  Dimensions grid;
  Dimensions block;  // at most 1024 threads
  std::uint32_t dynamic_shared_bytes = 0;
};

/// Thread-safe: runs of several threads share the workers, and blocks that wait for each other make progress, also those of
/// different runs.
class Executor {
 public:
  struct Options {
    /// Threads that run blocks; zero: as many as the machine has cores.
    unsigned workers = 0;
    /// Blocks that a worker has under way at a time where those that it has wait or spin.
    unsigned resident_blocks = 16;
  };

  Executor() : Executor(Options{}) {}
  explicit Executor(Options options);
  ~Executor();
  Executor(Executor const&) = delete;
  Executor& operator=(Executor const&) = delete;

  /// Runs the whole grid and returns then: nothing, or what ended it. `parameters` is the entry's parameter buffer
  /// (Function::parameter_bytes); what lacks is zero. `memory` is that of the program. Does not check the shape against what
  /// the entry allows.
  std::optional<Fault> run(DecodedKernel const& kernel, LaunchShape const& shape, std::span<std::byte const> parameters,
                           DeviceMemory const& memory, RunOptions const& options = {}, RunStatistics* statistics = nullptr);

  unsigned workers() const noexcept;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace cuda_tests
