#include "cuda_cpu/executor/executor.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <new>
#include <sstream>
#include <thread>
#include <tuple>

#include "cuda_cpu/executor/check/checker.h"
#include "cuda_cpu/executor/machine/loop_spans.h"
#include "cuda_cpu/executor/machine/machine.h"
#include "cuda_cpu/executor/machine/places.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu {
namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

// The limit on local memory of a block. A thread may have 512 KiB, but not all 1024 threads of a block.
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{256} << 20;

using Clock = std::chrono::steady_clock;

// A call of Executor::run().
struct Job {
  Launch launch;
  std::uint64_t blocks = 0;
  std::uint64_t begun = 0;     // number of blocks; guarded by the pool's mutex
  std::uint64_t finished = 0;  // number of blocks; guarded by the pool's mutex
  std::thread::id worker{};    // runs all blocks if the launch is checked for races; guarded by the pool's mutex
  RunStatistics* statistics = nullptr;
  bool by_block = false;
  tracing::Span span;  // the parent of the spans of instructions; empty if these are off

  bool is_cooperative() const { return launch.options->grid_workspace != 0; }
  bool done() const { return finished == begun && (begun == blocks || launch.stopped.load(std::memory_order_relaxed)); }
};

struct Resident {
  std::shared_ptr<Job> job;
  std::unique_ptr<Block> block;
};

// The blocks of a worker.
struct Residents {
  std::deque<Resident> running;
  Resident finished;  // its memory is for the next block of its run
};

// Returns a fault of the kernel as a whole, not of a thread.
Fault kernel_fault(Launch const& launch, FaultKind kind, std::string_view how) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.kernel->name;
  fault.message = "kernel " + name_in_message(fault.kernel) + std::string(how);
  return fault;
}

std::string_view name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::none: break;
    case SpanKind::ldg: return "cpu_ldg";
    case SpanKind::stg: return "cpu_stg";
    case SpanKind::lds: return "cpu_lds";
    case SpanKind::sts: return "cpu_sts";
    case SpanKind::bra: return "cpu_bra";
    case SpanKind::call: return "cpu_call";
    case SpanKind::ret: return "cpu_ret";
    case SpanKind::exit: return "cpu_exit";
    case SpanKind::barrier_sync: return "cpu_barrier_sync";
    case SpanKind::memory_fence: return "cpu_memory_fence";
  }
  return {};
}

// Names the spans of the forms. All steps of a form have the same kind of span.
void name_spans(RunStatistics& statistics, DecodedKernel const& kernel) {
  if (statistics.opcodes.empty()) return;
  for (Step const& step : kernel.steps) {
    if (step.span == SpanKind::none) continue;
    auto const found = statistics.opcodes.find(kernel.forms[step.form_index]->name);
    if (found != statistics.opcodes.end()) found->second.span = name_of(step.span);
  }
}

// Adds the statistics of a finished block to the statistics of its run.
void add_statistics(Job& job, Block const& block) {
  if (job.statistics == nullptr) return;
  auto& sum = *job.statistics;
  for (auto const& warp : block.warps) sum.thread_instructions += warp->instructions;
  if (block.statistics == nullptr) return;
  BlockStatistics own{block.index, {}};
  for (std::size_t i = 0; i < block.statistics->size(); ++i) {
    auto const& one = (*block.statistics)[i];
    if (one.count == 0) continue;
    std::string_view const name = job.launch.kernel->forms[i]->name;
    sum.opcodes[name] += one;
    if (job.by_block) own.opcodes[name] += one;
  }
  if (job.by_block) sum.blocks.push_back(std::move(own));
}

// Returns Launch::threads.
std::vector<std::uint32_t> positions_in(Dimensions const& block) {
  auto const count = static_cast<std::uint32_t>((block.count() + kLanes - 1) / kLanes * kLanes);
  std::vector<std::uint32_t> positions(3 * std::size_t{count});
  for (std::uint32_t i = 0; i < count; ++i) {
    positions[i] = i % block.x;
    positions[count + i] = i / block.x % block.y;
    positions[2 * std::size_t{count} + i] = i / block.x / block.y;
  }
  return positions;
}

// Sets the limit on the depth of calls. Recursion gets all the memory that is left. Returns false if the threads of a
// block need too much local memory.
bool place_frames(Launch& launch) {
  auto const& function = *launch.kernel->function;
  std::uint64_t const bytes = kMaxLocalBytes / launch.shape.block.count();  // limit for a thread
  launch.depth = launch.kernel->depth;
  if (function.recursive && function.local_bytes > bytes && function.local_frame_bytes + function.alloca_bytes <= bytes)
    launch.depth = static_cast<std::uint32_t>((bytes - function.alloca_bytes) / function.local_frame_bytes) - 1;
  launch.local_bytes = function.local_frame_bytes * (launch.depth + 1) + function.alloca_bytes;
  return launch.local_bytes <= bytes;
}

}  // namespace

void OpcodeStatistics::operator+=(OpcodeStatistics const& other) noexcept {
  count += other.count;
  threads += other.threads;
  nanoseconds += other.nanoseconds;
}

Launch::Launch() = default;
Launch::~Launch() = default;

void Launch::fail(Fault fault) {
  MutexLock const lock(mutex_);
  if (!fault_) fault_ = std::move(fault);
  stopped.store(true, std::memory_order_relaxed);
}

std::optional<Fault> Launch::take_fault() {
  MutexLock const lock(mutex_);
  return std::exchange(fault_, std::nullopt);
}

void Launch::time_out() {
  timed_out.store(true, std::memory_order_relaxed);
  fail(kernel_fault(*this, FaultKind::timeout, ""));  // the message follows when all blocks have said where they are
}

void Launch::add_places(Dimensions const& block, Places places) {
  MutexLock const lock(mutex_);
  places_.emplace_back(block, std::move(places));
}

void Launch::explain_timeout(Fault& fault, std::uint64_t begun) const {
  constexpr std::size_t kMaxGroups = 4, kMaxBlocks = 4;  // limits on what the message names
  MutexLock const lock(mutex_);
  auto all = places_;
  std::ranges::sort(all, {}, [](auto const& one) { return std::tuple(one.first.z, one.first.y, one.first.x); });
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // blocks whose places are equal
  for (auto const& [block, places] : all) {
    auto const known = std::ranges::find(groups, places.text, [](auto const& group) { return group.first; });
    auto& group = known != groups.end() ? *known : groups.emplace_back(places.text, std::vector<std::string>());
    group.second.push_back(dimensions_text(block));
  }
  std::ostringstream text;
  text << "kernel " << name_in_message(kernel->name) << " ran longer than "
       << std::chrono::duration<double>(options->timeout).count() << " s";
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxGroups); ++i) {
    auto const& [places, blocks] = groups[i];
    text << (blocks.size() == 1 ? ". Block" : ". Blocks");
    for (std::size_t j = 0; j < std::min(blocks.size(), kMaxBlocks); ++j) text << (j == 0 ? " " : ", ") << blocks[j];
    if (blocks.size() > kMaxBlocks) text << " and " << blocks.size() - kMaxBlocks << " others";
    text << ": " << places;
  }
  if (groups.size() > kMaxGroups) text << ". Others are elsewhere";
  std::uint64_t const blocks = shape.grid.count();
  if (blocks > 1) {
    text << ". Of " << blocks << " blocks " << begun - all.size() << " have finished and " << blocks - begun
         << " have not begun";
  }
  fault.message = std::move(text).str();
  if (all.empty() || all.front().second.step == nullptr) return;
  fault.block = all.front().first;
  fault.line = all.front().second.step->line;
  fault.source = kernel->module->sources().lines_of(all.front().second.step->place);
}

void Launch::print(std::string_view text) {
  MutexLock const lock(printing_);
  if (options->print) options->print(text);
}

void Launch::note(std::string_view text) {
  MutexLock const lock(printing_);
  if (options->note) options->note(text);
}

// The workers and the runs that have blocks to begin.
//
// Blocks begin in the order of their numbers. A worker runs its block until its turn is over, and only then begins
// another one. So the blocks that a block may wait for are running or finished. The blocks of a cooperative launch
// begin even if the worker is full, so that two such launches never wait for each other's blocks to end. All blocks of
// a launch that is checked for races run on one worker, which begins as many of them as all workers together would.
class Executor::Pool {
 public:
  explicit Pool(Options options)
      : resident_blocks_(std::max(1u, options.resident_blocks)),
        count_(options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency())) {
    for (unsigned i = 0; i < count_; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      MutexLock const lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void run(std::shared_ptr<Job> const& job) {
    // A run that waits for other runs has no block yet that could notice a stop.
    std::stop_callback const on_stop(job->launch.options->stop, [&] {
      {
        MutexLock const lock(mutex_);
        if (!job->done()) stop(job->launch);
      }
      done_.notify_all();
    });
    MutexLock const lock(mutex_);
    job->launch.id = ++runs_;
    waiting_.push_back(job);
    bool const is_large = capacity(*job) > resident_blocks_;
    if (is_large) large_.fetch_add(1, std::memory_order_relaxed);
    changed_.notify_all();
    while (!job->done()) done_.wait(mutex_);
    if (is_large) large_.fetch_sub(1, std::memory_order_relaxed);
    std::erase(waiting_, job);
  }
  unsigned workers() const noexcept { return count_; }

 private:
  // Returns the limit on resident blocks: a worker that has fewer of them may begin another block of this run.
  std::size_t capacity(Job const& job) const noexcept {
    if (job.is_cooperative()) return std::numeric_limits<std::size_t>::max();
    return job.launch.races == nullptr ? resident_blocks_ : resident_blocks_ * count_;
  }

  // Returns the run of the next block to begin on this worker, which has `residents` blocks, and sets `number` to the
  // number of that block. Runs take turns. Returns null if this worker cannot begin a block now.
  std::shared_ptr<Job> next_job(std::uint64_t& number, std::size_t residents) TRACING_REQUIRES(mutex_) {
    for (std::size_t tries = waiting_.size(); tries > 0; --tries) {
      auto job = std::move(waiting_.front());
      waiting_.pop_front();
      if (job->begun == job->blocks || job->launch.stopped.load(std::memory_order_relaxed)) continue;
      bool const is_of_another = job->worker != std::thread::id() && job->worker != std::this_thread::get_id();
      if (is_of_another || residents >= capacity(*job)) {
        waiting_.push_back(std::move(job));
        continue;
      }
      if (job->launch.races != nullptr) job->worker = std::this_thread::get_id();
      number = job->begun++;
      if (number == 0) job->launch.begin = Clock::now();
      if (job->begun < job->blocks) waiting_.push_back(job);
      return job;
    }
    return nullptr;
  }

  void work() {
    Residents residents;
    for (;;) {
      // Begin another block after each resident block had a turn.
      bool const is_full = residents.running.size() >= resident_blocks_;
      if ((!is_full || large_.load(std::memory_order_relaxed) != 0) && !begin_block(residents)) return;
      turn(residents);
    }
  }

  // Begins a block if this worker may begin one; an idle worker waits until it may. Returns false when the pool
  // ends.
  bool begin_block(Residents& residents) {
    std::uint64_t number = 0;
    std::shared_ptr<Job> job;
    {
      MutexLock const lock(mutex_);
      job = next_job(number, residents.running.size());
      while (job == nullptr && residents.running.empty()) {
        if (ends_) return false;
        residents.finished = {};
        changed_.wait(mutex_);
        job = next_job(number, residents.running.size());
      }
    }
    if (job == nullptr) return true;
    std::unique_ptr<Block> block;
    if (residents.finished.job == job) block = std::move(residents.finished.block);
    residents.finished = {};
    try {
      if (block == nullptr || !block->restart(number)) block = std::make_unique<Block>(job->launch, number);
    } catch (std::bad_alloc const&) {
      job->launch.fail(kernel_fault(job->launch, FaultKind::stack_overflow, ": the host has no memory for a block"));
    }
    // Without a block turn() finishes the resident at once, for its run has been stopped.
    residents.running.push_back({std::move(job), std::move(block)});
    return true;
  }

  // Gives each resident block a turn.
  void turn(Residents& all) {
    auto& residents = all.running;
    bool finished = false;
    for (std::size_t i = residents.size(); i > 0; --i) {
      Resident resident = std::move(residents.front());
      residents.pop_front();
      Launch& launch = resident.job->launch;
      if (launch.options->stop.stop_requested()) stop(launch);
      auto const timeout = launch.options->timeout;
      if (timeout.count() != 0 && Clock::now() - launch.begin > timeout && !launch.timed_out) launch.time_out();
      bool const stopped = launch.stopped.load(std::memory_order_relaxed);
      auto const run = [&] { return resident.block->run(); };
      if (!stopped && resident.job->span.in_scope(run) == BlockState::yielded)
        residents.push_back(std::move(resident));
      else
        finished = finish(std::move(resident), all.finished) || finished;
    }
    if (!finished && residents.size() >= resident_blocks_) std::this_thread::yield();
  }

  static void stop(Launch& launch) { launch.fail(kernel_fault(launch, FaultKind::stopped, " was stopped")); }

  bool finish(Resident resident, Resident& kept) {
    bool done = false;
    Launch& launch = resident.job->launch;
    if (launch.timed_out.load(std::memory_order_relaxed) && resident.block != nullptr && resident.block->running != 0)
      launch.add_places(resident.block->index, places_of(*resident.block));
    if (resident.block != nullptr) resident.block->loop_spans.reset();  // without the lock, since it calls layers
    {
      MutexLock const lock(mutex_);
      if (resident.block != nullptr) add_statistics(*resident.job, *resident.block);
      auto& block = resident.block;
      bool const is_followed = resident.job->begun < resident.job->blocks && !launch.stopped;
      if (is_followed && block != nullptr && block->statistics == nullptr && kept.block == nullptr) {
        block->late.clear();
        block->images.clear();
        kept = {resident.job, std::move(block)};
      }
      block.reset();  // before the run ends and its caller frees memory
      ++resident.job->finished;
      done = resident.job->done();
    }
    if (done) done_.notify_all();
    return true;
  }

  std::size_t const resident_blocks_;
  unsigned const count_;            // number of workers
  std::atomic<unsigned> large_{0};  // number of runs that let a worker exceed resident_blocks_
  Mutex mutex_;
  tracing::support::CondVar changed_;                                    // signals a change of waiting_ or ends_
  tracing::support::CondVar done_;                                       // signals that a run may have ended
  std::deque<std::shared_ptr<Job>> waiting_ TRACING_GUARDED_BY(mutex_);  // runs with blocks to begin
  std::uint64_t runs_ TRACING_GUARDED_BY(mutex_) = 0;
  bool ends_ TRACING_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

Executor::Executor(Options options) : pool_(std::make_unique<Pool>(options)) {}
Executor::~Executor() = default;
unsigned Executor::workers() const noexcept { return pool_->workers(); }

std::optional<Fault> Executor::run(DecodedKernel const& kernel, LaunchShape const& shape,
                                   std::span<std::byte const> parameters, DeviceMemory& memory,
                                   RunOptions const& options, RunStatistics* statistics) {
  std::uint64_t const blocks = shape.grid.count();
  if (blocks == 0 || shape.block.count() == 0) return std::nullopt;
  std::uint64_t const instructions = kernel.function->instructions.size();
  tracing::Span const parent = options.parent.or_current();
  TRACE_PERF("cpu_execute_program", instructions, tracing::kv("grid_size", blocks),
             tracing::kv("block_size", shape.block.count()), tracing::parent(parent));
  auto const job = std::make_shared<Job>();
  job->blocks = blocks;
  job->statistics = statistics;
  job->by_block = options.block_statistics;
  Launch& launch = job->launch;
  launch.kernel = &kernel;
  if (options.instruction_spans) {
    job->span = tracing::Span::current().is_none() ? parent : tracing::Span::current();
    auto loops = std::make_unique<LoopTable>(kernel);
    if (!loops->empty()) launch.loops = std::move(loops);
  }
  launch.shape = shape;
  launch.parameters.assign(parameters.begin(), parameters.end());
  launch.parameters.resize(std::max<std::size_t>(parameters.size(), kernel.function->parameter_bytes));
  launch.threads = positions_in(shape.block);
  launch.snapshot = memory.snapshot();
  launch.memory = &memory;
  launch.options = &options;
  launch.shared_bytes = kernel.function->static_shared_bytes + shape.dynamic_shared_bytes;
  if (kernel.function->uses_reserved_shared) launch.shared_bytes = (launch.shared_bytes + 15) / 16 * 16;
  launch.reserved_shared_at = launch.shared_bytes;
  if (kernel.function->uses_reserved_shared) launch.shared_bytes += kReservedSharedBytes;
  launch.quick_shared_bytes = options.checks.any() ? 0 : launch.shared_bytes;
  if (options.checks.any())
    for (auto const* const form : kernel.forms) launch.traits.push_back(FormTraits::of(*form));
  if (options.checks.race) launch.races = std::make_unique<GlobalRaces>();
  if (!place_frames(launch)) {
    return kernel_fault(launch, FaultKind::stack_overflow,
                        ": the threads of a block need more than 256 MiB of local memory");
  }
  pool_->run(job);
  if (options.accessed != nullptr && launch.races != nullptr) *options.accessed = launch.races->accessed();
  launch.snapshot.reset();  // a worker may keep a block of the job, and must not keep its memory
  if (statistics != nullptr) name_spans(*statistics, kernel);
  auto fault = launch.take_fault();
  if (fault && fault->kind == FaultKind::timeout) launch.explain_timeout(*fault, job->begun);
  return fault;
}

}  // namespace cuda_cpu
