#include "testlog/attribution.h"

#include <dirent.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TESTLOG_KNOWS_SINGLE_THREADED
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "tracing_core/internal/thread_info.h"

namespace testlog::inline v1 {
namespace {

using tracing::internal::this_thread_info;

constexpr TestTag kAnyTest = 0;              // as the home of a thread
constexpr TestTag kRunsTests = ~TestTag{0};  // the same, and a span that it was left in does not count

// The numbers of the process's threads; none where that cannot be known or there is only this one.
std::vector<int> other_threads() {
  std::vector<int> all;
#ifdef TESTLOG_KNOWS_SINGLE_THREADED
  if (__libc_single_threaded != 0) return all;  // /proc is slow
#endif
  struct stat tasks {};
  if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink <= 3) return all;
  DIR* const directory = opendir("/proc/self/task");
  if (directory == nullptr) return all;
  while (dirent const* const entry = readdir(directory)) {
    if (int const number = std::atoi(entry->d_name); number != 0) all.push_back(number);
  }
  closedir(directory);
  return all;
}

thread_local bool known = false;

}  // namespace

TestTag Attribution::begin_test(std::string const& name) {
  ++last_;
  look_at_threads(kAnyTest);
  this_thread_info();
  meet_this_thread();
  threads_[this_thread_info().number % kThreads].home = kRunsTests;
  // A late thread may be reading the name of the test that had this place.
  Test& test = tests_[last_ % kTests];
  test.tag.store(0);
  test.name.store(&name);
  test.tag.store(last_);
  running_ = last_;
  return last_;
}

void Attribution::end_test() { look_at_threads(running_.exchange(0)); }

std::string_view Attribution::name_of(TestTag test) const noexcept {
  Test const& found = tests_[test % kTests];
  if (test == 0 || found.tag.load() != test) return {};
  std::string const* const name = found.name.load();
  return found.tag.load() == test ? std::string_view(*name) : std::string_view();
}

void Attribution::serve_all_tests() noexcept {
  meet_this_thread();
  threads_[this_thread_info().number % kThreads].home = kAnyTest;
}

void Attribution::look_at_threads(TestTag newcomers_belong_to) {
  std::vector<int> const alive = other_threads();
  std::lock_guard const lock(mutex_);
  std::vector<std::pair<int, TestTag>> homes;
  homes.reserve(alive.size());
  for (int const number : alive) {
    TestTag const* const known_home = find_home(number);
    homes.emplace_back(number, known_home == nullptr ? newcomers_belong_to : *known_home);
  }
  homes_.swap(homes);
}

TestTag const* Attribution::find_home(int os_thread) const noexcept {
  auto const found =
      std::find_if(homes_.begin(), homes_.end(), [os_thread](auto const& home) { return home.first == os_thread; });
  return found == homes_.end() ? nullptr : &found->second;
}

// A thread's home is settled at its first record: where it was alive when a test began or ended, that tells; otherwise it
// was started since then.
void Attribution::meet_this_thread() noexcept {
  if (known) return;
  known = true;
  auto const& info = this_thread_info();
  TestTag home = running();
  {
    std::lock_guard const lock(mutex_);
    if (TestTag const* const found = find_home(static_cast<int>(info.os_thread))) home = *found;
  }
  if (info.os_thread == getpid()) home = kAnyTest;
  Thread& thread = threads_[info.number % kThreads];
  thread.home = home;
  thread.number = info.number;
}

TestTag Attribution::home_of(std::uint64_t thread_number) const noexcept {
  Thread const& thread = threads_[thread_number % kThreads];
  return thread.number == thread_number ? thread.home.load() : kAnyTest;
}

std::atomic<TestTag>* Attribution::made_in(tracing::SpanRef span, bool make) noexcept {
  // The lower half of an id says which of the places for open spans it is, from 1.
  std::size_t const index = static_cast<std::uint32_t>(span.id().value) - 1;
  auto& page = spans_[index / kPageSpans % kPages];
  std::atomic<TestTag>* tags = page.load(std::memory_order_acquire);
  if (tags == nullptr && make) {
    auto* const made = new (std::nothrow) std::atomic<TestTag>[kPageSpans]{};
    if (page.compare_exchange_strong(tags, made)) {
      tags = made;
    } else {
      delete[] made;
    }
  }
  return tags == nullptr ? nullptr : tags + index % kPageSpans;
}

Owner Attribution::decide(TestTag running, TestTag home, bool inside_running, TestTag outermost) const noexcept {
  if (home == kRunsTests || (running != 0 && inside_running)) return {running, false};
  if (home != kAnyTest && home != running) return {home, true};
  if (outermost != 0 && outermost != running) return {outermost, true};
  return {running, false};
}

Owner Attribution::owner_now(tracing::SpanRef span) noexcept {
  TestTag const running = this->running();
  TestTag outermost = 0;
  bool inside_running = false;
  for (; span; span = span.parent()) {
    auto const* const tag = made_in(span, false);
    outermost = tag == nullptr ? 0 : tag->load(std::memory_order_relaxed);
    inside_running |= outermost == running;
  }
  return decide(running, home_of(this_thread_info().number), inside_running, outermost);
}

Owner Attribution::owner_of(tracing::RecordView const& record) const noexcept {
  TestTag outermost = 0;
  bool inside_running = false;
  for (auto const* span = record.span; span != nullptr; span = span->parent) {
    outermost = span->tag;
    inside_running |= span->tag == record.tag;
  }
  return decide(record.tag, home_of(record.track.number), inside_running, outermost);
}

void Attribution::observe_span(tracing::SpanRef span) noexcept {
  meet_this_thread();
  if (auto* const tag = made_in(span, true)) tag->store(running(), std::memory_order_relaxed);
}

}  // namespace testlog::inline v1
