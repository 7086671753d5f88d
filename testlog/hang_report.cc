// The report of a process that does not go on: StateReport::write_hang().
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "testlog/code_places.h"
#include "testlog/state_report.h"
#include "testlog/thread_probe.h"
#include "tracing_core/internal/span_clock.h"

namespace testlog::inline v1 {
namespace {

constexpr std::size_t kMaxSpans = 32;  // of a thread, the innermost ones
constexpr std::size_t kLastRecords = 10;  // of a thread
constexpr std::size_t kBeginBytes = 64;   // for when a span began

constexpr std::size_t kMaxThreads = 256;
constexpr std::size_t kMaxFrames = 24;    // of a thread
constexpr std::size_t kMaxStackLines = 16;

// What is known of a thread before the report is written.
struct ThreadOfReport {
  static constexpr std::size_t kNoTrack = ~std::size_t{0};

  long number;
  ThreadState state;
  std::size_t track;
  ThreadProbe::Answer answer;
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

void keep_frames(ThreadOfReport& thread, StackTrace const& stack) noexcept {
  thread.answer = ThreadProbe::Answer::stack;
  auto const kept = stack.addresses().first(std::min(stack.size(), kMaxFrames));
  thread.frame_count = kept.size();
  std::copy(kept.begin(), kept.end(), thread.frames);
}

// The thread that runs the tests first, then the others in the order of their numbers. Returns how many are left out.
std::size_t find_threads(HangInfo const& info) noexcept {
  std::size_t const all = list_threads(numbers, kMaxThreads);
  std::size_t const listed = std::min(all, kMaxThreads);
  thread_count = 0;
  auto const add = [](long number) { threads[thread_count++] = {number, ThreadState::of(number), ThreadOfReport::kNoTrack, {}, 0, {}}; };
  add(info.tests_thread);
  std::size_t left_out = all - listed;
  for (std::size_t i = 0; i < listed; ++i) {
    if (numbers[i] == info.tests_thread || numbers[i] == info.watching_thread) continue;
    thread_count < kMaxThreads ? add(numbers[i]) : void(++left_out);
  }
  return left_out;
}

void find_stacks(HangInfo const& info) noexcept {
  long const self = syscall(SYS_gettid);
  StackTrace::read_mappings();
  ThreadProbe probe;
  for (ThreadOfReport& thread : std::span(threads, thread_count)) {
    if (thread.state.letter == 0) continue;
    if (thread.number == self) {
      if (info.context != nullptr) keep_frames(thread, StackTrace(info.context));
      continue;
    }
    thread.answer = probe.visit_stack(thread.number, thread.state, [&](StackTrace const& stack) { keep_frames(thread, stack); });
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

ThreadOfReport* thread_of(std::int64_t number) noexcept {
  ThreadOfReport* const end = threads + thread_count;
  ThreadOfReport* const found = std::find_if(threads, end, [number](ThreadOfReport const& one) { return one.number == number; });
  return found == end ? nullptr : found;
}

}  // namespace

void StateReport::add_state(ThreadState const& state) noexcept {
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

void StateReport::write_spans_of_thread(Session& session) noexcept {
  std::size_t const depth = std::min(reader_->depth(), kMaxSpans);
  if (depth < reader_->depth() || reader_->has_more_spans()) {
    line_ << "    (more spans around these)";
    line_.write_to(session.output());
  }
  for (std::size_t i = depth; i > 0; --i) {
    using Begin = DyingReader::Begin;
    Begin const begin = reader_->begin_of_span(i - 1);
    line_ << "    ";
    line_.set_reader(reader_);
    line_.add_span(reader_->span(i - 1), line_.room() - kBeginBytes,
                   [this, i](auto&& f) { reader_->for_each_group(i - 1, f); });
    line_.set_reader(nullptr);
    line_ << (begin.kind == Begin::made ? ", made " : ", entered ");
    if (begin.kind == Begin::before) line_ << "more than ";
    line_.add_duration(tracing::internal::ns_between(begin.ticks, reader_->until_ticks()));
    line_ << " ago";
    line_.write_to(session.output());
  }
}

void StateReport::write_last_records(Session& session, std::size_t track, std::uint64_t since_ticks,
                                     std::size_t count) noexcept {
  if (!reader_->go_to_end_of(track)) return;
  bool is_first = true;
  for (std::size_t i = 0; reader_->next(); ++i) {
    if (i + kLastRecords < count || reader_->ticks() < since_ticks) continue;
    if (is_first) {
      line_ << "   its last records:";
      line_.write_to(session.output());
      is_first = false;
    }
    line_ << "    ";
    write_record(session);
  }
  if (!is_first || since_ticks == 0) return;
  line_ << "   no records since the last report";
  line_.write_to(session.output());
}

// Of a thread that has recorded nothing.
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

void StateReport::write_stack_of(Session& session, std::size_t index) noexcept {
  ThreadOfReport const& thread = threads[index];
  switch (thread.answer) {
    case ThreadProbe::Answer::is_handled: line_ << "   no stack, since the program handles SIGURG"; break;
    case ThreadProbe::Answer::none: line_ << "   no stack, since it does not take signals"; break;
    case ThreadProbe::Answer::stack: break;
  }
  if (thread.answer == ThreadProbe::Answer::stack && thread.frame_count == 0) return;
  ThreadOfReport const* const same =
      std::find_if(threads, threads + index, [&thread](ThreadOfReport const& other) { return thread.has_stack_of(other); });
  if (thread.answer == ThreadProbe::Answer::stack) {
    line_ << "   its stack";
    if (same != &thread) {
      line_ << " is that of thread (" << static_cast<std::uint64_t>(same->number) << ")";
    } else {
      line_ << ":";
    }
  }
  line_.write_to(session.output());
  if (same == &thread) write_stack(session, {.addresses = {thread.frames, thread.frame_count}}, kMaxStackLines);
}

void StateReport::write_thread(Session& session, std::size_t index, std::uint64_t since_ticks) noexcept {
  ThreadOfReport const& thread = threads[index];
  if (thread.state.letter == 0 && index > 0) return;  // it has ended meanwhile
  bool const has_track = thread.track != ThreadOfReport::kNoTrack && reader_->go_to_end_of(thread.track);
  std::size_t count = 0;
  line_ << "  ";
  if (has_track) {
    while (reader_->next()) ++count;
    reader_->go_to_open_spans(thread.track);
    line_.add_thread(reader_->track(), thread.number);
  } else {
    add_system_name(thread.number);
  }
  if (thread.number != syscall(SYS_gettid)) {  // which is busy writing this
    add_state(thread.state);
    line_ << ",";
  }
  line_ << (has_track && reader_->depth() > 0                    ? " is in"
            : has_track                                          ? " is in no span"
            : session.capture().recording() == nullptr          ? " is not recorded"
            : reader_ == nullptr || reader_->skips_tracks() ? " may have records that are not shown"
                                                              : " has recorded nothing");
  line_.write_to(session.output());
  if (has_track) write_spans_of_thread(session);
  write_stack_of(session, index);
  if (has_track) write_last_records(session, thread.track, since_ticks, count);
}

// `track` is that of no thread of the process.
void StateReport::write_ended_thread(Session& session, std::size_t track, std::uint64_t since_ticks) noexcept {
  if (!reader_->go_to_end_of(track)) return;
  std::size_t count = 0;
  while (reader_->next()) ++count;
  reader_->go_to_open_spans(track);
  line_ << "  ";
  line_.add_thread(reader_->track(), reader_->os_thread());
  line_ << " has ended";
  line_.write_to(session.output());
  write_last_records(session, track, since_ticks, count);
}

// Finds the tracks of the threads. Returns how many there are, those of ended threads included.
std::size_t StateReport::match_tracks(Session& session, std::uint64_t begin_ticks) noexcept {
  if (session.capture().recording() == nullptr || reader_ == nullptr) return 0;
  std::size_t const tracks = reader_->find_tracks(*session.capture().recording(), begin_ticks);
  for (std::size_t i = 0; i < tracks; ++i) {
    if (!reader_->go_to_end_of(i)) continue;
    while (reader_->next()) {
    }
    reader_->go_to_open_spans(i);
    ThreadOfReport* const thread = thread_of(reader_->os_thread());
    if (thread != nullptr && thread->track == ThreadOfReport::kNoTrack) thread->track = i;
  }
  return tracks;
}

void StateReport::write_long_test(Session& session, HangInfo const& info) noexcept {
  line_.set_kind("report");
  line_ << "testlog: " << info.before;
  line_.add_text(info.name);
  line_ << ": the process has run for ";
  line_.add_duration(info.duration_ns);
  line_ << "; what its threads are doing: kill -USR1 " << static_cast<std::uint64_t>(getpid());
  if (std::string const& path = session.recording_file().path(); !path.empty()) {
    line_ << "; the recording so far: testlog show ";
    line_.add_text(path);
  }
  line_.write_to(session.output());
}

void StateReport::write_hang(Session& session, HangInfo const& info) noexcept {
  line_.set_kind("hang_report");
  line_ << "---- " << info.cause << ": " << info.before;
  line_.add_text(info.name);
  line_ << ", for ";
  line_.add_duration(info.duration_ns);
  line_ << ": what each thread is doing ----";
  line_.write_to(session.output());
  std::size_t const left_out = find_threads(info);
  find_stacks(info);
  std::size_t const tracks = match_tracks(session, info.begin_ticks);
  find_places(info.max_wait_ns);
  for (std::size_t i = 0; i < thread_count; ++i) write_thread(session, i, info.since_ticks);
  if (left_out > 0) {
    line_ << "  (" << std::uint64_t{left_out} << " further threads are not shown)";
    line_.write_to(session.output());
  }
  for (std::size_t i = 0; i < tracks; ++i) {
    auto const is_of_track = [i](ThreadOfReport const& thread) { return thread.track == i; };
    if (std::none_of(threads, threads + thread_count, is_of_track)) write_ended_thread(session, i, info.since_ticks);
  }
  if (session.capture().recording() == nullptr || reader_ == nullptr) {
    line_ << "  nothing is recorded: " << (session.capture().recording() == nullptr ? session.capture().why_nothing() : "there was no memory");
    line_.write_to(session.output());
  }
  if (section_ != nullptr) section_(line_, session.output());
  write_path_of_recording(session);
  line_ << "---- end of the report ----";
  line_.write_to(session.output());
}

}  // namespace testlog::inline v1
