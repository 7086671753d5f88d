#include "testlog/run/state_report.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>

#include "testlog/outputs/labels.h"
#include "testlog/run/code_places.h"
#include "testlog/run/fault_cause.h"
#include "testlog/run/function_name.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/support/address_lines.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/support/zeroed_pages.h"

namespace testlog { inline namespace v1 {
namespace {

constexpr std::uint64_t kNoMore = ~std::uint64_t{0};
constexpr std::size_t kMaxStateSpans = 32;  // the innermost spans of a thread
constexpr std::size_t kMaxStateStackLines = 32;

constinit StateReport state_report;  // not on a stack, which may be small

}  // namespace

StateReport& StateReport::get() noexcept { return state_report; }

// ---- turns ----

void StateReport::prepare(ReportParts const& parts) noexcept {
  if (parts_ == nullptr) parts_ = &parts;
  tracing::support::AddressLines::prepare();
  // The pages take memory when they are used. They are never unmapped, since destructors of globals can hang or crash,
  // too.
  static auto* const pages = new tracing::support::ZeroedPages;
  char* const at = reader_ == nullptr ? pages->map(sizeof(CrashReader)) : nullptr;
  if (at != nullptr) reader_ = new (at) CrashReader;
}

bool StateReport::take_turn() noexcept {
  auto const process = static_cast<std::uint64_t>(getpid()) << 32;
  std::uint64_t const self = process | static_cast<std::uint32_t>(syscall(SYS_gettid));
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int i = 0; i < 10'000; ++i) {
    std::uint64_t writer = 0;
    if (writer_.compare_exchange_strong(writer, self)) return true;
    if (writer == self || writer == kNoMore) return false;
    // The writer was in the parent before a fork, so its turn is over.
    if (writer >> 32 != process >> 32 && writer_.compare_exchange_strong(writer, self)) return true;
    nanosleep(&kMillisecond, nullptr);
  }
  return false;
}

void StateReport::end_turn(bool last) noexcept { writer_ = last ? kNoMore : 0; }

void StateReport::note_end(std::string_view cause) noexcept {
  Attribution const& attribution = parts_->attribution;
  if (parts_->run_records != nullptr)
    parts_->run_records->fatal_signal(attribution.name_of(attribution.running()), cause);
  if (parts_->live.equal_lines() != nullptr) parts_->live.equal_lines()->finish_dying();
}

// ---- a crash ----

namespace {

// Counts the spans that each of the first threads is in.
struct Depths {
  static constexpr std::size_t kThreads = 64;
  std::uint64_t tracks[kThreads];
  std::size_t spans[kThreads];
  std::size_t count = 0;

  void add(std::uint64_t track) noexcept {
    if (count == 0 || tracks[count - 1] != track) {
      if (count == kThreads) return;
      tracks[count] = track;
      spans[count++] = 0;
    }
    ++spans[count - 1];
  }
  std::size_t of(std::uint64_t track) const noexcept {
    std::size_t const i = static_cast<std::size_t>(std::find(tracks, tracks + count, track) - tracks);
    return i < count ? spans[i] : 0;
  }
};

// Returns the room for the next span of a line if `spans` are left. Thus long outer spans leave room for inner spans.
std::size_t share_of(std::size_t room, std::size_t spans) noexcept {
  std::size_t const share = room / std::max<std::size_t>(spans, 1);
  return share - std::min<std::size_t>(share, 2);  // leaves room for separators
}

}  // namespace

// Writes the threads that are in spans: only the thread that died, or only the others. Returns how many there are.
int StateReport::write_open_spans(long died, bool of_died) noexcept {
  struct Visiting {
    CrashLine& line;
    Output& output;
    long died;
    bool of_died;
    Depths depths{};
    std::uint64_t track = 0;
    std::size_t left_out = 0;  // spans of this thread that are still to be left out
    std::size_t rest = 0;      // shown spans of this thread that are still to come
    int count = 0;
  } visiting{line_, parts_->output, died, of_died};
  parts_->registry.visit_all_tracks([](void* context, tracing::Track const& track, std::int64_t,
                                       tracing::SpanRef) { static_cast<Visiting*>(context)->depths.add(track.number); },
                                    &visiting);
  parts_->registry.visit_all_tracks(
      [](void* context, tracing::Track const& track, std::int64_t os_thread, tracing::SpanRef span) {
        auto& all = *static_cast<Visiting*>(context);
        if ((os_thread == all.died) != all.of_died) return;
        bool const is_first = track.number != all.track;
        if (is_first) {
          if (all.count++ > 0) all.line.write_to(all.output);
          all.track = track.number;
          std::size_t const depth = all.depths.of(track.number);
          all.left_out = depth > kMaxStateSpans ? depth - kMaxStateSpans : 0;
          all.rest = depth - all.left_out;
          all.line << "  ";
          all.line.add_thread(track, os_thread);
          all.line << (all.of_died ? " died in " : " is in ") << (all.left_out > 0 ? "..." : "");
        }
        if (all.left_out > 0) return void(--all.left_out);
        all.line << (is_first ? "" : ":");
        std::size_t const share = share_of(all.line.room(), all.rest);
        if (all.rest > 0) --all.rest;
        all.line.add_span(span.metadata(), share,
                          [&span](auto&& f) { span.values().for_each_group(span.metadata(), f); });
      },
      &visiting);
  if (visiting.count > 0) write_line();
  return visiting.count;
}

// Adds `thread 6 (1234)`, without the first number if the thread recorded nothing.
void StateReport::add_own_thread(long os_thread) noexcept {
  tracing::internal::RecordStore const* const store = parts_->capture.store();
  bool const can_read = store != nullptr && reader_ != nullptr;
  std::size_t const tracks = can_read ? reader_->find_tracks(*store, ~std::uint64_t{0}) : 0;
  for (std::size_t i = 0; i < tracks; ++i) {
    if (!reader_->go_to_end_of(i)) continue;
    while (reader_->next()) {
    }
    reader_->go_to_open_spans(i);
    if (reader_->os_thread() == os_thread) return line_.add_thread(reader_->track(), os_thread);
  }
  line_ << "thread " << (os_thread == getpid() ? "main (" : "(") << static_cast<std::uint64_t>(os_thread) << ")";
}

void StateReport::write_all_open_spans() noexcept {
  long const died = syscall(SYS_gettid);
  if (write_open_spans(died, true) == 0) {
    line_ << "  ";
    add_own_thread(died);
    std::string_view const why_unknown = parts_->capture.why_nothing();
    line_ << (why_unknown.empty() ? " died in no span" : " died in no known span; nothing is captured: ")
          << why_unknown;
    write_line();
  }
  (void)write_open_spans(died, false);
}

bool StateReport::next_unreported() noexcept {
  while (reader_->next()) {
    bool const was_shown = parts_->environment.show == Show::live && reader_->shown();
    if (!was_shown && parts_->capture.unreported().contains(reader_->ticks())) return true;
  }
  return false;
}

// Writes only the last records if there are too many.
void StateReport::write_unreported() noexcept {
  if (parts_->capture.store() == nullptr || reader_ == nullptr) return;
  std::uint64_t const first = parts_->capture.unreported().first();
  std::uint64_t count = 0;
  for (reader_->start(*parts_->capture.store(), first); next_unreported();) ++count;
  std::uint64_t const limit = parts_->environment.report_lines;
  std::uint64_t left_out = limit == 0 || count <= limit ? 0 : count - limit;
  if (left_out > 0) {
    line_ << "  ... " << left_out << " records left out; TRACE_REPORT_LINES=0 prints all";
    write_line();
  }
  for (reader_->start(*parts_->capture.store(), first); next_unreported();) {
    if (left_out > 0) {
      --left_out;
      continue;
    }
    line_ << "  ";
    write_record();
  }
  if (!reader_->skips_tracks()) return;
  line_ << "  (records of further threads are not shown)";
  write_line();
}

namespace {

// Returns true for a function of GoogleTest that calls the test. The test calls other functions of GoogleTest's
// namespace `internal`.
bool runs_every_test(std::string_view function) noexcept {
  return function.starts_with("_ZN7testing4Test3RunEv") ||
         (function.starts_with("_ZN7testing8internal") &&
          function.find("ExceptionsInMethodIfSupported") != function.npos);
}

constinit CodePlaces places{};  // not on a stack, which may be small

}  // namespace

CodePlaces& code_places() noexcept { return places; }

void StateReport::write_stack(StackOfReport const& stack, std::size_t max_lines) noexcept {
  // Threads begin in functions that have no names.
  std::size_t size = stack.addresses.size();
  while (size > 1 && places.place_of(stack.addresses[size - 1]).function.empty()) --size;
  auto const addresses = stack.addresses.first(size);
  for (std::size_t i = 0, lines = 0; i < addresses.size(); ++lines) {
    CodePlaces::Place const place = places.place_of(addresses[i]);
    if (i == stack.first_guess && !stack.has_unknown_registers) write_damage();
    if (i > 0 && runs_every_test(place.function)) return;
    if (lines == max_lines) {
      line_ << "    ...";
      return write_line();
    }
    line_ << "    #" << std::uint64_t{i} << " ";
    if (i == 0 && stack.begins_outside_of_code) {
      line_.add_hexadecimal(place.offset);
      line_ << ", which is no code";
    } else {
      append_function_name(place.function, [this](std::string_view piece) { line_.add_text(piece); });
      line_ << (place.function.empty() ? "" : " ") << "(";
      line_.add_text(place.file.empty() ? std::string_view("no file") : place.module());
      line_ << "+";
      line_.add_hexadecimal(place.offset);
      line_ << ")";
      if (!place.line.empty()) {
        line_ << " at ";
        line_.add_text(place.line);
      }
      if (!place.inlined.empty()) {
        line_ << ", inlined at ";
        line_.add_text(place.inlined);
      }
    }
    std::size_t const first = i;
    while (++i < addresses.size() && addresses[i] == addresses[first]) {
    }
    if (i - first > 1) line_ << ", " << std::uint64_t{i - first} << " times";
    bool const is_first_guess = first <= stack.first_guess && stack.first_guess < i;
    if (is_first_guess && stack.has_unknown_registers) line_ << ", guessed from here on";
    write_line();
  }
  bool const ends_in_guesses = stack.first_guess >= size && stack.first_guess <= stack.addresses.size();
  if (ends_in_guesses && !stack.has_unknown_registers) write_damage();
}

void StateReport::write_damage() noexcept {
  line_ << "    (the stack is damaged here)";
  write_line();
}

void StateReport::write_cause(siginfo_t const& info, void const* context) noexcept {
  line_ << "  ";
  std::size_t const indentation = line_.size();
  add_fault_cause(line_, info, context);
  if (line_.size() == indentation) return line_.clear();
  write_line();
}

void StateReport::add_running_test() noexcept {
  std::string_view const test = parts_->attribution.name_of(parts_->attribution.running());
  line_ << (test.empty() ? " outside any test" : " in ");
  line_.add_text(test);
}

void StateReport::write_stack_of_crash(void* context) noexcept {
  constexpr std::uint64_t kMaxWaitNs = 3'000'000'000;
  StackTrace::read_mappings();
  StackTrace const stack(context);
  places.clear();
  for (std::uintptr_t const address : stack.addresses()) places.add(address);
  places.resolve();
  places.find_lines(kMaxWaitNs);
  line_ << "  the stack of the thread that died:";
  write_line();
  write_stack({stack.addresses(), stack.first_guess(), stack.begins_outside_of_code()}, kMaxStateStackLines);
}

void StateReport::write_crash(std::string_view signal, siginfo_t const* info, void* context) noexcept {
  line_.set_kind("crash_report");
  line_ << "---- " << signal;
  add_running_test();
  line_ << ": open spans and captured records not shown yet ----";
  write_line();
  if (info != nullptr) write_cause(*info, context);
  write_all_open_spans();
  write_unreported();
  write_perturbation();
  write_path_of_recording();
  if (context != nullptr) write_stack_of_crash(context);
  line_ << "---- end of captured records ----";
  write_line();
}

void StateReport::write_spans(std::string_view reporter) noexcept {
  line_.set_kind("spans");
  line_ << "---- " << reporter << " reports an error";
  add_running_test();
  line_ << ": open spans ----";
  write_line();
  constexpr long kNobody = 0;
  if (write_open_spans(kNobody, false) == 0) {
    line_ << "  no thread is in a span";
    write_line();
  }
  line_ << "---- end of open spans ----";
  write_line();
}

// ---- records ----

// Adds the spans around the record. Leaves `after` bytes of the line.
void StateReport::add_path(std::size_t after) noexcept {
  if (reader_->has_more_spans()) line_ << "...:";
  for (std::size_t i = reader_->depth(); i > 0; --i) {
    line_.add_span(reader_->span(i - 1), share_of(line_.room() - std::min(line_.room(), after), i),
                   [this, i](auto&& f) { reader_->for_each_group(i - 1, f); });
    line_ << (i == 1 ? ": " : ":");
  }
}

void StateReport::add_owner() noexcept {
  Attribution const& attribution = parts_->attribution;
  Owner const owner = attribution.owner_of(
      reader_->tag(), reader_->ticks(), reader_->track().number, [this, i = std::size_t{0}]() mutable {
        return i < reader_->depth() ? reader_->tag_of_span(i++) : Attribution::kNoSpan;
      });
  if (owner.test == 0) line_ << "[outside any test] ";
  if (!owner.late) return;
  line_ << "[late, from ";
  line_.add_text(attribution.name_of(owner.test));
  line_ << "] ";
}

void StateReport::add_labels() noexcept {
  add_owner();
  if (!names_thread(parts_->environment.threads, reader_->track(), parts_->attribution)) return;
  tracing::InlineTextBuffer<512> name;
  tracing::environment::append_thread_name(name, reader_->track());
  line_ << "[" << name.view() << "] ";
}

void StateReport::write_record() noexcept {
  line_.set_reader(reader_);
  if (parts_->environment.time != tracing::TimeStyle::none) {
    line_ << "-";
    line_.add_duration(tracing::support::ns_between(reader_->ticks(), reader_->until_ticks()));
    line_ << " ";
  }
  add_labels();
  line_ << tracing::name(reader_->values().metadata().level()) << " ";
  auto const add_event = [this] {
    line_.add_text(reader_->values().metadata().target());
    line_ << ": ";
    line_.add_fields(reader_->values());
  };
  std::size_t const begin = line_.size(), room = line_.room();
  add_event();
  std::size_t const event_bytes = line_.size() - begin;
  line_.cut_back_to(begin);
  add_path(std::min(event_bytes + 2, room / 2));
  add_event();
  line_.set_reader(nullptr);
  write_line();
}

void StateReport::write_perturbation() noexcept {
  auto const& perturb = parts_->environment.perturb;
  if (!perturb) return;
  line_ << "  TRACE_PERTURB=" << perturb->seed << "," << std::uint64_t{perturb->max_us};
  line_ << " was set: set it again to repeat";
  write_line();
}

void StateReport::write_path_of_recording() noexcept {
  std::string const& path = parts_->recording_file.path();
  if (path.empty()) return;
  line_ << "  the whole recording: testlog show ";
  line_.add_text(path);
  write_line();
}

}}  // namespace testlog::v1
