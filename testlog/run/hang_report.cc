// The report of a process that hangs: StateReport::write_hang().
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "testlog/run/code_places.h"
#include "testlog/run/state_report.h"
#include "testlog/run/thread_probe.h"
#include "tracing_core/support/span_clock.h"

namespace testlog { inline namespace v1 {

// The place of a thread's records. A track may have the records of several threads, if each began after the previous
// thread had ended.
struct RecordsOfThread {
  std::size_t track = 0;
  std::uint64_t thread = 0;      // its number in the recording; zero if it has no records
  std::uint64_t last_ticks = 0;  // of the last record
};

namespace {

constexpr std::size_t kMaxSpans = 32;     // of a thread, the innermost ones
constexpr std::size_t kLastRecords = 10;  // of a thread
constexpr std::size_t kBeginBytes = 64;   // for the text that says when a span began

constexpr std::size_t kMaxThreads = 256;
constexpr std::size_t kMaxFrames = 24;  // of a thread
constexpr std::size_t kMaxStackLines = 16;

// The facts about a thread, found before the report is written.
struct ThreadOfReport {
  long number;
  ProcThreadState state;
  RecordsOfThread records;
  ThreadProbe::Answer answer;
  std::size_t first_guess;
  std::size_t frame_count;
  std::uintptr_t frames[kMaxFrames];

  bool has_stack_of(ThreadOfReport const& other) const noexcept {
    return frame_count > 1 && std::equal(frames, frames + frame_count, other.frames, other.frames + other.frame_count);
  }
};
// Not on a stack, which may be small.
constinit ThreadOfReport threads[kMaxThreads]{};
constinit std::size_t thread_count = 0;  // in `threads`
constinit long numbers[kMaxThreads]{};
constinit RecordsOfThread
    ended[CrashReader::kMaxEnded]{};  // the last threads that ended; some of them may not be in `threads`

void keep_frames(ThreadOfReport& thread, StackTrace const& stack) noexcept {
  thread.first_guess = stack.first_guess();
  auto const kept = stack.addresses().first(std::min(stack.size(), kMaxFrames));
  thread.frame_count = kept.size();
  std::copy(kept.begin(), kept.end(), thread.frames);
}

// Lists the thread that runs the tests first, then the others in the order of their numbers. Returns how many threads
// are left out.
std::size_t find_threads(HangInfo const& info) noexcept {
  std::size_t const all = list_threads(numbers, kMaxThreads);
  std::size_t const listed = std::min(all, kMaxThreads);
  thread_count = 0;
  auto const add = [](long number) { threads[thread_count++] = {number, {}, {}, {}, 0, 0, {}}; };
  add(info.tests_thread);
  std::size_t left_out = all - listed;
  for (std::size_t i = 0; i < listed; ++i) {
    if (numbers[i] == info.tests_thread || numbers[i] == info.watching_thread) continue;
    thread_count < kMaxThreads ? add(numbers[i]) : void(++left_out);
  }
  return left_out;
}

// Finds the stacks and the states: each state right before its stack.
void find_stacks(HangInfo const& info) noexcept {
  constexpr int kMaxTries = 3;
  long const self = syscall(SYS_gettid);
  StackTrace::read_mappings();
  ThreadProbe probe;
  for (ThreadOfReport& thread : std::span(threads, thread_count)) {
    thread.state = ProcThreadState::of(thread.number);
    if (thread.number == self) {
      if (info.context != nullptr) keep_frames(thread, StackTrace(info.context));
      continue;
    }
    for (int tries = 0; tries < kMaxTries && thread.state.letter != 0; ++tries) {
      thread.answer =
          probe.visit_stack(thread.number, thread.state, [&](StackTrace const& stack) { keep_frames(thread, stack); });
      if (thread.answer != ThreadProbe::Answer::moved_on) break;
      thread.frame_count = 0;
      thread.state = ProcThreadState::of(thread.number);
    }
  }
}

void find_places(std::uint64_t max_wait_ns) noexcept {
  CodePlaces& places = code_places();
  places.clear();
  for (ThreadOfReport const& thread : std::span(threads, thread_count)) {
    for (std::uintptr_t const address : std::span(thread.frames, thread.frame_count)) places.add(address);
  }
  places.resolve();
  if (max_wait_ns > 0) places.find_lines(max_wait_ns);
}

// Returns false for threads that ended meanwhile, except the thread that runs the tests.
bool is_shown(ThreadOfReport const& thread) noexcept { return thread.state.letter != 0 || &thread == threads; }

// Returns null if the thread is not shown.
ThreadOfReport* thread_of(std::int64_t number) noexcept {
  ThreadOfReport* const end = threads + thread_count;
  ThreadOfReport* const found =
      std::find_if(threads, end, [number](ThreadOfReport const& one) { return one.number == number; });
  return found == end || !is_shown(*found) ? nullptr : found;
}

void keep_ended(RecordsOfThread const& one) noexcept {
  RecordsOfThread& oldest = *std::ranges::min_element(ended, {}, &RecordsOfThread::last_ticks);
  if (oldest.last_ticks < one.last_ticks) oldest = one;
}

}  // namespace

void StateReport::add_state(ProcThreadState const& state) noexcept {
  std::string_view const call = name_of_system_call(state.system_call);
  switch (state.letter) {
    case 'R': line_ << ", running"; break;
    case 'S': line_ << ", waiting"; break;
    case 'D': line_ << ", waiting for the kernel"; break;
    case 'T': line_ << ", stopped"; break;
    case 't': line_ << ", stopped by a debugger"; break;
    default: break;
  }
  if (!call.empty()) line_ << " in " << call;
}

void StateReport::write_spans_of_thread() noexcept {
  std::size_t const depth = std::min(reader_->depth(), kMaxSpans);
  if (depth < reader_->depth() || reader_->has_more_spans()) {
    line_ << "    (more spans around these)";
    write_line();
  }
  for (std::size_t i = depth; i > 0; --i) {
    using Begin = CrashReader::Begin;
    Begin const begin = reader_->begin_of_span(i - 1);
    line_ << "    ";
    line_.set_reader(reader_);
    line_.add_span(reader_->span(i - 1), line_.room() - kBeginBytes,
                   [this, i](auto&& f) { reader_->for_each_group(i - 1, f); });
    line_.set_reader(nullptr);
    line_ << (begin.kind == Begin::made ? ", made " : ", entered ");
    if (begin.kind == Begin::before) line_ << "more than ";
    line_.add_duration(tracing::support::ns_between(begin.ticks, reader_->until_ticks()));
    line_ << " ago";
    write_line();
  }
}

// Tries several times, since a thread in a tight loop may overwrite all its records while they are read, or while this
// thread waits for a processor.
void StateReport::write_last_records(RecordsOfThread const& records, std::uint64_t since_ticks) noexcept {
  constexpr int kMaxTries = 5;
  bool is_first = true;
  for (int tries = 0; is_first && tries < kMaxTries; ++tries) {
    std::uint64_t last[kLastRecords] = {};
    std::size_t count = 0;
    auto const is_meant = [&] { return reader_->thread() == records.thread && reader_->ticks() >= since_ticks; };
    for (reader_->go_to_end_of(records.track); reader_->next();) {
      if (is_meant()) last[count++ % kLastRecords] = reader_->ticks();
    }
    if (count == 0) break;
    std::uint64_t const from_ticks = last[count % kLastRecords];
    for (reader_->go_to_same_end_of(records.track); reader_->next();) {
      if (!is_meant() || reader_->ticks() < from_ticks) continue;
      if (std::exchange(is_first, false)) {
        line_ << "   its last records:";
        write_line();
      }
      line_ << "    ";
      write_record();
    }
  }
  if (!is_first || since_ticks == 0) return;
  line_ << "   no records since the last report";
  write_line();
}

// Adds the system's name and number of a thread that has recorded nothing.
void StateReport::add_system_name(long thread) noexcept {
  char own[32], of_process[32];
  std::string_view const name = system_name(thread, own);
  line_ << "thread ";
  if (thread == getpid()) {
    line_ << "main ";
  } else if (!name.empty() && name != system_name(getpid(), of_process)) {
    line_.add_text(name);
    line_ << " ";
  }
  line_ << "(" << static_cast<std::uint64_t>(thread) << ")";
}

void StateReport::write_stack_of(std::size_t index) noexcept {
  ThreadOfReport const& thread = threads[index];
  switch (thread.answer) {
    case ThreadProbe::Answer::is_handled: line_ << "   no stack, since the program handles SIGURG"; break;
    case ThreadProbe::Answer::is_blocked: line_ << "   no stack, since it blocks SIGURG"; break;
    case ThreadProbe::Answer::none: line_ << "   no stack, since it got no processor in time"; break;
    case ThreadProbe::Answer::moved_on: line_ << "   no stack, since it moved on meanwhile"; break;
    case ThreadProbe::Answer::stack: break;
  }
  if (thread.answer == ThreadProbe::Answer::stack && thread.frame_count == 0) return;
  ThreadOfReport const* const same = std::find_if(
      threads, threads + index, [&thread](ThreadOfReport const& other) { return thread.has_stack_of(other); });
  if (thread.answer == ThreadProbe::Answer::stack) {
    line_ << "   its stack";
    if (same != &thread) {
      line_ << " is that of thread (" << static_cast<std::uint64_t>(same->number) << ")";
    } else {
      line_ << ":";
    }
  }
  write_line();
  if (thread.answer != ThreadProbe::Answer::stack || same != &thread) return;
  write_stack({.addresses = {thread.frames, thread.frame_count},
               .first_guess = thread.first_guess,
               .has_unknown_registers = thread.state.registers.counter != 0},
              kMaxStackLines);
}

void StateReport::write_thread(std::size_t index, std::uint64_t since_ticks) noexcept {
  ThreadOfReport const& thread = threads[index];
  RecordsOfThread const& records = thread.records;
  if (!is_shown(thread)) return;
  bool const has_track = records.thread != 0 && reader_->go_to_end_of(records.track);
  if (has_track) {
    while (reader_->next()) {
    }
    reader_->go_to_open_spans(records.track);
    if (reader_->thread() != records.thread) return;  // it has ended meanwhile
  }
  line_ << "  ";
  has_track ? line_.add_thread(reader_->track(), thread.number) : add_system_name(thread.number);
  if (thread.number != syscall(SYS_gettid)) {  // the calling thread is busy writing this
    add_state(thread.state);
    line_ << ",";
  }
  line_ << (has_track && reader_->depth() > 0               ? " is in"
            : has_track                                     ? " is in no span"
            : parts_->capture.recording() == nullptr        ? " is not recorded"
            : reader_ == nullptr || reader_->skips_tracks() ? " may have records that are not shown"
                                                            : " has recorded nothing");
  write_line();
  if (has_track) write_spans_of_thread();
  write_stack_of(index);
  if (has_track) write_last_records(records, since_ticks);
}

// Writes a thread that has ended. Later threads may have continued its track, so looks for the thread's own records.
void StateReport::write_ended_thread(RecordsOfThread const& records, std::uint64_t since_ticks) noexcept {
  if (!reader_->go_to_end_of(records.track)) return;
  bool has_event = reader_->next();
  while (has_event && reader_->track().number != records.thread) has_event = reader_->next();
  if (!has_event) reader_->go_to_open_spans(records.track);
  if (reader_->thread() != records.thread) return;  // its records are overwritten
  std::int64_t const number = reader_->os_thread();
  line_ << "  ";
  line_.add_thread(reader_->track(), number);
  // If a thread listed above has this number, the system has reused the number after the thread ended.
  bool const lives = thread_of(number) == nullptr && ProcThreadState::of(number).letter != 0;
  line_ << (lives ? " is not among the threads above" : " has ended");
  write_line();
  write_last_records(records, since_ticks);
}

// Finds the records of the threads of the report, and of threads that have ended since `begin_ticks`.
void StateReport::find_records(std::uint64_t begin_ticks) noexcept {
  std::ranges::fill(ended, RecordsOfThread());
  if (parts_->capture.recording() == nullptr || reader_ == nullptr) return;
  std::size_t const tracks = reader_->find_tracks(*parts_->capture.recording(), begin_ticks);
  for (std::size_t i = 0; i < tracks; ++i) {
    if (!reader_->go_to_end_of(i)) continue;
    RecordsOfThread records;
    auto const go_on_with = [&records, i, begin_ticks](std::uint64_t thread) {
      if (records.thread == thread) return;
      if (records.last_ticks >= begin_ticks) keep_ended(records);
      records = {.track = i, .thread = thread};
    };
    while (reader_->next()) {
      go_on_with(reader_->thread());
      records.last_ticks = reader_->ticks();
    }
    reader_->go_to_open_spans(i);
    go_on_with(reader_->thread());
    records.last_ticks = reader_->ticks();
    // If several threads had this number of the system, one after the other, takes the last.
    ThreadOfReport* const thread = thread_of(reader_->os_thread());
    if (thread != nullptr && thread->records.thread < records.thread) std::swap(thread->records, records);
    if (records.last_ticks >= begin_ticks) keep_ended(records);
  }
  std::ranges::sort(ended, {}, &RecordsOfThread::last_ticks);
}

void StateReport::write_long_test(HangInfo const& info) noexcept {
  line_.set_kind("report");
  line_ << "testlog: " << info.before;
  line_.add_text(info.name);
  line_ << ": the process has run for ";
  line_.add_duration(info.duration_ns);
  if (!info.option_to_ask.empty())
    line_ << "; what its threads are doing: kill " << info.option_to_ask << " " << static_cast<std::uint64_t>(getpid());
  if (std::string const& path = parts_->recording_file.path(); !path.empty()) {
    line_ << "; the recording so far: testlog show ";
    line_.add_text(path);
  }
  write_line();
}

void StateReport::write_hang(HangInfo const& info) noexcept {
  line_.set_kind("hang_report");
  line_ << "---- " << info.cause << ": " << info.before;
  line_.add_text(info.name);
  line_ << ", for ";
  line_.add_duration(info.duration_ns);
  line_ << ": what each thread is doing ----";
  write_line();
  std::size_t const left_out = find_threads(info);
  find_stacks(info);
  find_records(info.begin_ticks);
  find_places(info.max_wait_ns);
  for (std::size_t i = 0; i < thread_count; ++i) write_thread(i, info.since_ticks);
  if (left_out > 0) {
    line_ << "  (" << std::uint64_t{left_out} << " further threads are not shown)";
    write_line();
  }
  for (RecordsOfThread const& one : ended) {
    if (one.thread != 0) write_ended_thread(one, info.since_ticks);
  }
  if (parts_->capture.recording() == nullptr || reader_ == nullptr) {
    line_ << "  nothing is recorded: "
          << (parts_->capture.recording() == nullptr ? parts_->capture.why_nothing() : "there was no memory");
    write_line();
  }
  if (section_ != nullptr) section_(line_, parts_->output);
  write_perturbation();
  write_path_of_recording();
  line_ << "---- end of the report ----";
  write_line();
}

}}  // namespace testlog::v1
