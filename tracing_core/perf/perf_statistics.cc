#include "tracing_core/perf/perf_statistics.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "tracing_core/internal/never_destroyed.h"
#include "tracing_core/perf/completion.h"

namespace tracing::inline v1::internal {
namespace {

// What a thread has in each table.
using ThreadTables = std::vector<std::pair<std::uint64_t, PerfThread*>>;

// One lock for all tables: it is taken where a thread meets a table or a callsite for the first time, and to read.
struct Shared {
  std::mutex mutex;
  std::uint64_t last_number = 0;
  std::vector<std::uint64_t> live;  // the tables that are there
};
constinit NeverDestroyed<Shared> shared;
constinit thread_local ThreadTables* thread_tables = nullptr;
pthread_key_t thread_end;

bool is_live(std::uint64_t number) noexcept {
  return std::find(shared->live.begin(), shared->live.end(), number) != shared->live.end();
}

void end_thread(void* tables) noexcept {
  std::unique_ptr<ThreadTables> const ended(static_cast<ThreadTables*>(tables));
  cached_perf_thread = {};
  thread_tables = nullptr;
  std::lock_guard const lock(shared->mutex);
  for (auto const& [number, thread] : *ended) {
    if (is_live(number)) PerfTable::retire(*thread);
  }
}

// At the latest when it is first needed; as a rule before there are threads, since a child that is forked while one of them
// does it would wait for that thread, which it does not have.
[[gnu::constructor]] void prepare_once() noexcept {
  [[maybe_unused]] static bool const prepared = [] {
    pthread_key_create(&thread_end, end_thread);
    pthread_atfork([] { shared->mutex.lock(); }, [] { shared->mutex.unlock(); }, [] { shared->mutex.unlock(); });
    return true;
  }();
}

std::uint64_t register_table() {
  prepare_once();
  std::lock_guard const lock(shared->mutex);
  shared->live.push_back(++shared->last_number);
  return shared->last_number;
}

}  // namespace

constinit thread_local CachedPerfThread cached_perf_thread;

void PerfThread::insert(PerfCell& cell) {
  if (2 * (used + 1) > places.size()) {
    std::vector<PerfCell*> old(std::max<std::size_t>(16, 2 * places.size()));
    old.swap(places);
    for (PerfCell* const one : old) {
      if (one == nullptr) continue;
      std::size_t at = hash(*one->metadata);
      while (places[at & (places.size() - 1)] != nullptr) ++at;
      places[at & (places.size() - 1)] = one;
    }
  }
  std::size_t at = hash(*cell.metadata);
  while (places[at & (places.size() - 1)] != nullptr) ++at;
  places[at & (places.size() - 1)] = &cell;
  ++used;
}

PerfTable::PerfTable(std::size_t most_names)
    : number_(register_table()), most_names_(most_names), names_{PerfSummary::kOthers}, numbers_{{PerfSummary::kOthers, 0}} {}

PerfTable::~PerfTable() {
  {
    std::lock_guard const lock(shared->mutex);
    std::erase(shared->live, number_);
  }
  while (threads_ != nullptr) {
    std::unique_ptr<PerfThread> const thread(std::exchange(threads_, threads_->next));
    for (PerfCell* cell = thread->first.load(std::memory_order_relaxed); cell != nullptr;)
      delete std::exchange(cell, cell->next);
  }
}

PerfThread& PerfTable::this_thread() {
  if (thread_tables == nullptr) {
    thread_tables = new ThreadTables;
    pthread_setspecific(thread_end, thread_tables);
  }
  for (auto const& [number, thread] : *thread_tables) {
    if (number != number_) continue;
    cached_perf_thread = {number_, thread};
    return *thread;
  }
  std::erase_if(*thread_tables, [](auto const& known) { return !is_live(known.first); });
  thread_tables->reserve(thread_tables->size() + 1);
  PerfThread* thread = threads_;
  while (thread != nullptr && !thread->retired) thread = thread->next;
  if (thread == nullptr) {
    thread = new PerfThread;
    thread->next = threads_;
    threads_ = thread;
  }
  thread->retired = false;
  thread_tables->emplace_back(number_, thread);
  cached_perf_thread = {number_, thread};
  return *thread;
}

// Zero, the row of the others, where there is no room, and for a span that is called so.
std::uint32_t PerfTable::number_of(std::string_view name) {
  auto const found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  if (names_.size() > most_names_) return 0;
  names_.push_back(name);
  auto const number = static_cast<std::uint32_t>(names_.size() - 1);
  numbers_.emplace(name, number);
  return number;
}

PerfCell* PerfTable::find_cell(Metadata const& metadata) noexcept {
  try {
    std::lock_guard const lock(shared->mutex);
    PerfThread& thread = this_thread();
    if (PerfCell* const found = thread.find(metadata)) return found;
    auto cell = std::make_unique<PerfCell>();
    cell->metadata = &metadata;
    cell->completion = &completion_of(metadata);
    cell->name = number_of(metadata.name());
    thread.insert(*cell);
    cell->next = thread.first.load(std::memory_order_relaxed);
    thread.first.store(cell.get(), std::memory_order_release);
    return thread.last = cell.release();
  } catch (...) {
    return nullptr;
  }
}

PerfSummary PerfTable::summary() const {
  struct Sum {
    PerfRow row;
    std::shared_ptr<DurationSketch> durations;
  };
  std::vector<Sum> sums;
  {
    std::lock_guard const lock(shared->mutex);
    sums.resize(names_.size());
    for (PerfThread const* thread = threads_; thread != nullptr; thread = thread->next) {
      for (PerfCell const* cell = thread->first.load(std::memory_order_acquire); cell != nullptr; cell = cell->next) {
        std::uint64_t const count = cell->count.load(std::memory_order_relaxed);
        if (count == 0) continue;
        Sum& sum = sums[cell->name];
        std::uint64_t const min = cell->min_ns.load(std::memory_order_relaxed);
        sum.row.min_ns = sum.row.count == 0 ? min : std::min(sum.row.min_ns, min);
        sum.row.max_ns = std::max(sum.row.max_ns, cell->max_ns.load(std::memory_order_relaxed));
        sum.row.count += count;
        sum.row.total_ns += cell->total_ns.load(std::memory_order_relaxed);
        sum.row.self_ns += cell->self_ns.load(std::memory_order_relaxed);
        if (sum.durations == nullptr) sum.durations = std::make_shared<DurationSketch>();
        sum.durations->merge(cell->durations);
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].row.name = names_[i];
  }
  PerfSummary summary;
  for (Sum& sum : sums) {
    if (sum.row.count == 0) continue;
    sum.row.durations = std::move(sum.durations);
    summary.rows.push_back(std::move(sum.row));
  }
  order(summary);
  return summary;
}

}  // namespace tracing::inline v1::internal
