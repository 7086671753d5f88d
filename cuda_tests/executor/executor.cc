#include "cuda_tests/executor/executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <new>
#include <thread>

#include "cuda_tests/executor/machine.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {
namespace {

// What the threads of one block may have of local memory: 512 KiB each, but not all of them.
constexpr std::uint64_t kMostLocalBytes = std::uint64_t{256} << 20;

// A run: the blocks that are not begun, and what is left of those that are.
struct Job {
  Launch launch;
  std::uint64_t blocks = 0;
  std::uint64_t begun = 0;     // these are guarded by the pool's mutex
  std::uint64_t finished = 0;
  RunStatistics* statistics = nullptr;
  bool by_block = false;
  tracing::Span span;  // of the run, in which its blocks tell their spans; none where they tell none

  bool done() const { return finished == begun && (begun == blocks || launch.stopped.load(std::memory_order_relaxed)); }
};

struct Resident {
  std::shared_ptr<Job> job;
  std::unique_ptr<Block> block;
};

// Of a kernel as a whole, with no thread to name.
Fault whole_fault(Launch const& launch, FaultKind kind, std::string_view how) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.kernel->name;
  fault.message = "kernel " + fault.kernel + std::string(how);
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

// All steps of a form that stand in the PTX are the same kind of span.
void name_spans(RunStatistics& statistics, DecodedKernel const& kernel) {
  if (statistics.opcodes.empty()) return;
  for (Step const& step : kernel.steps) {
    if (step.span == SpanKind::none) continue;
    auto const found = statistics.opcodes.find(kernel.forms[step.form_index]->name);
    if (found != statistics.opcodes.end()) found->second.span = name_of(step.span);
  }
}

// Of a block that is finished into its run's.
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

}  // namespace

void OpcodeStatistics::operator+=(OpcodeStatistics const& other) noexcept {
  count += other.count;
  threads += other.threads;
  nanoseconds += other.nanoseconds;
}

void Launch::fail(Fault fault) {
  std::lock_guard const lock(mutex_);
  if (!fault_) fault_ = std::move(fault);
  stopped.store(true, std::memory_order_relaxed);
}

std::optional<Fault> Launch::take_fault() {
  std::lock_guard const lock(mutex_);
  return std::exchange(fault_, std::nullopt);
}

void Launch::print(std::string_view text) {
  std::lock_guard const lock(printing_);
  if (options->print) options->print(text);
}

// Blocks begin in the order of their numbers. A worker goes on with its block until that has used its turn, and takes further
// ones only then; so blocks that wait for earlier ones find those running or done.
class Executor::Pool {
 public:
  explicit Pool(Options options) : resident_blocks_(std::max(1u, options.resident_blocks)) {
    unsigned const count = options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < count; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void run(std::shared_ptr<Job> const& job) {
    // A run that waits behind others has no block that could see a stop.
    std::stop_callback const on_stop(job->launch.options->stop, [&] {
      {
        std::lock_guard const lock(mutex_);
        if (!job->done()) stop(job->launch);
      }
      done_.notify_all();
    });
    std::unique_lock lock(mutex_);
    job->launch.id = ++runs_;
    waiting_.push_back(job);
    changed_.notify_all();
    done_.wait(lock, [&] { return job->done(); });
    std::erase(waiting_, job);
  }
  unsigned workers() const noexcept { return static_cast<unsigned>(workers_.size()); }

 private:
  // The next block to begin, by turns of the runs that have some; none where there is none.
  std::shared_ptr<Job> next_job(std::uint64_t& number) {
    for (std::size_t tries = waiting_.size(); tries > 0; --tries) {
      auto job = std::move(waiting_.front());
      waiting_.pop_front();
      if (job->begun == job->blocks || job->launch.stopped.load(std::memory_order_relaxed)) continue;
      number = job->begun++;
      if (job->begun < job->blocks) waiting_.push_back(job);
      return job;
    }
    return nullptr;
  }

  void work() {
    std::deque<Resident> residents;
    for (;;) {
      // One more where those at hand have all had their turn.
      if (residents.size() < resident_blocks_ && !begin_block(residents)) return;
      turn(residents);
    }
  }

  // False at the end of the pool.
  bool begin_block(std::deque<Resident>& residents) {
    std::uint64_t number = 0;
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      job = next_job(number);
      while (job == nullptr && residents.empty()) {
        if (ends_) return false;
        changed_.wait(lock);
        job = next_job(number);
      }
    }
    if (job == nullptr) return true;
    std::unique_ptr<Block> block;
    try {
      block = std::make_unique<Block>(job->launch, number);
    } catch (std::bad_alloc const&) {
      job->launch.fail(whole_fault(job->launch, FaultKind::stack_overflow, ": the host has no memory for a block"));
    }
    residents.push_back({std::move(job), std::move(block)});  // one without a block ends with its turn, as the run has
    return true;
  }

  // Each resident block runs once.
  void turn(std::deque<Resident>& residents) {
    bool finished = false;
    for (std::size_t i = residents.size(); i > 0; --i) {
      Resident resident = std::move(residents.front());
      residents.pop_front();
      Launch& launch = resident.job->launch;
      if (launch.options->stop.stop_requested()) stop(launch);
      bool const stopped = launch.stopped.load(std::memory_order_relaxed);
      auto const run = [&] { return resident.block->run(); };
      if (!stopped && resident.job->span.in_scope(run) == BlockState::yielded) residents.push_back(std::move(resident));
      else finished = finish(std::move(resident)) || finished;
    }
    if (!finished && residents.size() == resident_blocks_) std::this_thread::yield();
  }

  static void stop(Launch& launch) { launch.fail(whole_fault(launch, FaultKind::stopped, " was stopped")); }

  bool finish(Resident resident) {
    bool done = false;
    {
      std::lock_guard const lock(mutex_);
      if (resident.block != nullptr) add_statistics(*resident.job, *resident.block);
      resident.block.reset();  // before the run's end, which may give memory back
      ++resident.job->finished;
      done = resident.job->done();
    }
    if (done) done_.notify_all();
    return true;
  }

  std::size_t const resident_blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Job>> waiting_;  // runs with blocks that are not begun; guarded by mutex_
  std::uint64_t runs_ = 0;                    // guarded by mutex_
  bool ends_ = false;                         // guarded by mutex_
  std::vector<std::thread> workers_;
};

Executor::Executor(Options options) : pool_(std::make_unique<Pool>(options)) {}
Executor::~Executor() = default;
unsigned Executor::workers() const noexcept { return pool_->workers(); }

std::optional<Fault> Executor::run(DecodedKernel const& kernel, LaunchShape const& shape, std::span<std::byte const> parameters,
                                   DeviceMemory const& memory, RunOptions const& options, RunStatistics* statistics) {
  std::uint64_t const blocks = shape.grid.count();
  if (blocks == 0 || shape.block.count() == 0) return std::nullopt;
  std::uint64_t const instructions = kernel.function->instructions.size();
  TRACE_PERF("cpu_execute_program", instructions, tracing::kv("grid_size", blocks),
             tracing::kv("block_size", shape.block.count()));
  auto const job = std::make_shared<Job>();
  job->blocks = blocks;
  job->statistics = statistics;
  job->by_block = options.block_statistics;
  if (options.instruction_spans) job->span = tracing::Span::current();
  Launch& launch = job->launch;
  launch.kernel = &kernel;
  launch.shape = shape;
  launch.parameters.assign(parameters.begin(), parameters.end());
  launch.parameters.resize(std::max<std::size_t>(parameters.size(), kernel.function->parameter_bytes));
  launch.snapshot = memory.snapshot();
  launch.memory = &memory;
  launch.options = &options;
  launch.shared_bytes = kernel.function->static_shared_bytes + shape.dynamic_shared_bytes;
  if (kernel.function->local_bytes * shape.block.count() > kMostLocalBytes) {
    return whole_fault(launch, FaultKind::stack_overflow, ": the threads of a block need more than 256 MiB of local memory");
  }
  pool_->run(job);
  if (statistics != nullptr) name_spans(*statistics, kernel);
  return launch.take_fault();
}

}  // namespace cuda_tests
