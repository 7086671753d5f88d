#include "testlog/outputs/equal_lines.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/thread_sanitizer.h"
#include "tracing_core/support/utf8.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::support::fork_count;
using tracing::support::MutexLock;

// Constant-initialised and trivially destroyed, so that it is valid after the thread's destructors.
struct ThisThread {
  std::size_t time_begin = 0, time_end = 0;  // of the line that the thread is making
  EqualLines* lines = nullptr;
  void* run = nullptr;
  bool ended = false;
};
constinit thread_local ThisThread this_thread;

class ObservedTimer final : public tracing::Timer {
 public:
  explicit ObservedTimer(std::shared_ptr<tracing::Timer const> timer) : timer_(std::move(timer)) {}

  bool append(tracing::TextBuffer& out, tracing::Instant time) const noexcept override {
    this_thread.time_begin = out.size();
    bool const appended = timer_->append(out, time);
    this_thread.time_end = out.size();
    return appended;
  }
  bool is_plain() const noexcept override { return timer_->is_plain(); }

 private:
  std::shared_ptr<tracing::Timer const> const timer_;
};

// A line without its time.
struct Line {
  std::string_view before_time, after_time;
};

// The text that is printed in place of lines.
class Note {
 public:
  static constexpr std::size_t kMaxBytes = 512;

  void set(std::string_view label, tracing::Metadata const& statement) noexcept {
    label_size_ = label.copy(label_, tracing::support::char_start(label, std::min(label.size(), sizeof(label_))));
    tracing::InlineTextBuffer<256> place;
    place.append(statement.file().empty() ? statement.target() : statement.file());
    if (!statement.file().empty()) {
      place.append(":");
      place.append_uint(statement.line());
    }
    std::string_view const end = place.view().substr(place.size() - std::min(place.size(), sizeof(place_)));
    place_size_ = end.copy(place_, sizeof(place_));
  }
  // Appends at most kMaxBytes.
  void append_to(tracing::TextBuffer& out, std::uint64_t left_out, std::string_view line_end) const noexcept {
    out.append({label_, label_size_});
    out.append("... ");
    out.append_uint(left_out);
    out.append(left_out == 1 ? " more equal line of " : " more equal lines of ");
    out.append({place_, place_size_});
    out.append(" left out; TRACE_EQUAL_LINES=0 prints all");
    out.append(line_end);
  }

 private:
  std::size_t label_size_ = 0, place_size_ = 0;
  char label_[160], place_[200];
};

}  // namespace

// The last line of a thread, and how often it came. Only the thread uses it, but any thread may print the count and the
// note of the lines that were left out. When the thread ends, another thread can take it.
struct EqualLines::Run {
  bool is_equal(Line const& line) const noexcept {
    return time_at == line.before_time.size() && size == time_at + line.after_time.size() &&
           std::memcmp(text, line.before_time.data(), time_at) == 0 &&
           std::memcmp(text + time_at, line.after_time.data(), line.after_time.size()) == 0;
  }
  void set(tracing::Metadata const& of, Line const& line) noexcept {
    lines = 0;
    bool const fits = line.before_time.size() + line.after_time.size() <= sizeof(text);
    statement = fits ? &of : nullptr;
    if (!fits) return;
    time_at = line.before_time.copy(text, sizeof(text));
    size = time_at + line.after_time.copy(text + time_at, sizeof(text));
  }

  Run* next = nullptr;
  std::atomic<bool> is_taken{true};
  tracing::Metadata const* statement = nullptr;  // null: no line is equal
  unsigned round = 0;
  std::uint64_t lines = 0;
  std::size_t size = 0, time_at = 0;
  char text[1000];

  std::atomic<std::uint64_t> left_out{0};
  tracing::support::UnseenMutex mutex;  // held while the note changes, or is read
  Note note TRACING_GUARDED_BY(mutex);
};

struct EqualLines::AtThreadEnd {
  ~AtThreadEnd() {
    this_thread.ended = true;
    tracing::support::UnseenByTsan const unseen;
    auto* const run = static_cast<Run*>(std::exchange(this_thread.run, nullptr));
    if (this_thread.lines->forks_when_made_ == fork_count()) this_thread.lines->print(*run);
    run->is_taken.store(false, std::memory_order_release);
  }
};

EqualLines::EqualLines(Output& output, std::uint64_t limit, std::string_view line_end) noexcept
    : output_(output), limit_(limit), line_end_(line_end), forks_when_made_(fork_count()) {}

std::shared_ptr<tracing::Timer const> EqualLines::observed(std::shared_ptr<tracing::Timer const> timer) {
  return timer == nullptr ? nullptr : std::make_shared<ObservedTimer const>(std::move(timer));
}

void EqualLines::begin_line() noexcept { this_thread.time_end = 0; }

// Takes the Run of a thread that has ended, or a new Run. Returns null if memory ran out.
EqualLines::Run* EqualLines::take_run() noexcept {
  for (Run* run = first_.load(std::memory_order_acquire); run != nullptr; run = run->next) {
    bool is_taken = false;
    if (run->is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acquire)) return run;
  }
  Run* const run = new (std::nothrow) Run;
  if (run == nullptr) return nullptr;
  run->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(run->next, run, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return run;
}

// Returns null if memory ran out, or in a destructor at the thread's end.
EqualLines::Run* EqualLines::run_of_this_thread() noexcept {
  if (this_thread.run != nullptr) [[likely]]
    return static_cast<Run*>(this_thread.run);
  if (this_thread.ended) return nullptr;
  Run* const run = take_run();
  if (run == nullptr) return nullptr;
  run->statement = nullptr;
  this_thread.lines = this;
  this_thread.run = run;
  static thread_local AtThreadEnd at_thread_end;
  (void)&at_thread_end;
  return run;
}

bool EqualLines::keeps(tracing::Metadata const& statement, tracing::TextBuffer const& out, std::size_t begin,
                       std::size_t label_end) noexcept {
  if (forks_when_made_ != fork_count()) return true;  // another thread of the parent may have held a lock
  tracing::support::UnseenByTsan const unseen;        // a Run passes between threads without synchronization
  Run* const run = run_of_this_thread();
  if (run == nullptr) return true;
  bool const has_time = this_thread.time_end != 0;
  std::size_t const time_begin = has_time ? this_thread.time_begin : label_end;
  Line const line{out.view().substr(begin, time_begin - begin),
                  out.view().substr(has_time ? this_thread.time_end : label_end)};
  unsigned const round = round_.load(std::memory_order_relaxed);
  if (run->statement != &statement || run->round != round || !run->is_equal(line)) [[likely]] {
    if (run->left_out.load(std::memory_order_relaxed) != 0) print(*run);
    run->round = round;
    run->set(statement, line);
  }
  if (++run->lines <= limit_) return true;
  leave_out(*run, statement, out.view().substr(begin, label_end - begin));
  return false;
}

void EqualLines::leave_out(Run& run, tracing::Metadata const& statement, std::string_view label) noexcept {
  if (run.lines == limit_ + 1) {
    MutexLock const lock(run.mutex);
    run.note.set(label, statement);
  }
  run.left_out.fetch_add(1, std::memory_order_relaxed);
}

void EqualLines::print(Run& run) noexcept {
  tracing::InlineTextBuffer<Note::kMaxBytes> text;
  {
    MutexLock const lock(run.mutex);
    std::uint64_t const left_out = run.left_out.exchange(0, std::memory_order_relaxed);
    if (left_out == 0) return;
    run.note.append_to(text, left_out, line_end_);
  }
  output_.write(text.view());
}

void EqualLines::finish() noexcept {
  if (forks_when_made_ != fork_count()) return;
  round_.fetch_add(1, std::memory_order_relaxed);
  for (Run* run = first_.load(std::memory_order_acquire); run != nullptr; run = run->next) print(*run);
}

// Takes no lock: if another thread changes its note meanwhile, the printed note may be wrong.
void EqualLines::finish_dying() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  if (forks_when_made_ != fork_count()) return;
  for (Run* run = first_.load(std::memory_order_acquire); run != nullptr; run = run->next) {
    std::uint64_t const left_out = run->left_out.exchange(0, std::memory_order_relaxed);
    if (left_out == 0) continue;
    tracing::InlineTextBuffer<Note::kMaxBytes> text;
    run->note.append_to(text, left_out, line_end_);
    output_.write_dying(text.view());
  }
}

}}  // namespace testlog::v1
