// Everything that on_signal() calls is async-signal-safe: lines are composed one at a time in a static buffer, and what
// does not fit is cut.
#include "testlog/crash.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "testlog/crash_line.h"
#include "testlog/labels.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/internal/span_clock.h"
#include "tracing_core/internal/zeroed_pages.h"
#include "tracing_core/record/dying_reader.h"

namespace testlog::inline v1 {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::string_view kSignalNames[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};

struct Handling {
  Session* session = nullptr;
  struct sigaction before[std::size(kSignals)] = {};
  std::atomic<long> reporter{0};  // the thread that writes, or has written, the report
  std::atomic<bool> reported{false};
  DyingReader* reader = nullptr;  // made beforehand; null if there was no memory
};
constinit Handling handling;

constinit CrashLine line;  // not on the stack, which may be small; one thread uses it

// `for_each_group(f)` calls `f(FieldValues const&)` for each group of the span's values.
template <class F>
void add_span(std::string_view name, tracing::Metadata const& metadata, F&& for_each_group) noexcept {
  bool any = metadata.is_perf();
  if (any) {
    line << "perf{name=";
    line.add_value(tracing::Value::of_text(name));
  } else {
    line.add_text(name);
  }
  for_each_group([&any](tracing::FieldValues const& group) {
    if (group.size() == 0) return;
    line << (any ? " " : "{");
    any = true;
    line.add_fields(group);
  });
  if (any) line << "}";
}

void add_path(DyingReader& reader) noexcept {
  if (reader.has_more_spans()) line << "...:";
  for (std::size_t i = reader.depth(); i > 0; --i) {
    tracing::Metadata const& metadata = reader.span(i - 1);
    add_span(metadata.name(), metadata, [&reader, i](auto&& f) { reader.for_each_group(i - 1, f); });
    line << (i == 1 ? ": " : ":");
  }
}

// The threads that are in spans: only that which died, or only the others. Returns how many there are.
int write_open_spans(Session& session, long died, bool of_died) noexcept {
  struct Visiting {
    Output& output;
    long died;
    bool of_died;
    std::uint64_t track = 0;
    int count = 0;
  } visiting{session.output(), died, of_died};
  session.registry().visit_all_tracks(
      [](void* context, tracing::Track const& track, std::int64_t os_thread, tracing::SpanRef span) {
        auto& all = *static_cast<Visiting*>(context);
        if ((os_thread == all.died) != all.of_died) return;
        if (track.number == all.track) {
          line << ":";
        } else {
          if (all.count++ > 0) line.write_to(all.output);
          all.track = track.number;
          line << "  thread ";
          line.add_text(track.name.empty() ? std::string_view("without a name") : track.name);
          line << " (" << static_cast<std::uint64_t>(os_thread) << (all.of_died ? ") died in " : ") is in ");
        }
        add_span(span.metadata().name(), span.metadata(),
                 [&span](auto&& f) { span.values().for_each_group(span.metadata(), f); });
      },
      &visiting);
  if (visiting.count > 0) line.write_to(session.output());
  return visiting.count;
}

void write_all_open_spans(Session& session) noexcept {
  long const died = syscall(SYS_gettid);
  if (write_open_spans(session, died, true) == 0) {
    line << "  thread " << (died == getpid() ? "main (" : "(") << static_cast<std::uint64_t>(died) << ") died in no span";
    line.write_to(session.output());
  }
  (void)write_open_spans(session, died, false);
}

void add_owner(Attribution const& attribution, DyingReader const& reader) noexcept {
  Owner const owner = attribution.owner_of(reader.tag(), reader.track().number, [&reader, i = std::size_t{0}]() mutable {
    return i < reader.depth() ? reader.tag_of_span(i++) : Attribution::kNoSpan;
  });
  if (owner.test == 0) line << "[outside any test] ";
  if (!owner.late) return;
  line << "[late, from ";
  line.add_text(attribution.name_of(owner.test));
  line << "] ";
}

void add_labels(Session& session, DyingReader const& reader) noexcept {
  add_owner(session.attribution(), reader);
  if (!names_thread(session.environment().threads, reader.track(), session.attribution())) return;
  tracing::InlineTextBuffer<512> name;
  tracing::internal::append_thread_name(name, reader.track());
  line << "[" << name.view() << "] ";
}

void write_records(Session& session) noexcept {
  if (session.capture().store() == nullptr || handling.reader == nullptr) return;
  DyingReader& reader = *handling.reader;
  UnreportedRecords const& unreported = session.capture().unreported();
  reader.start(*session.capture().store(), unreported.first());
  while (reader.next()) {
    if (!unreported.contains(reader.ticks())) continue;
    if (session.environment().show == Show::live && reader.shown()) continue;
    line.set_reader(&reader);
    line << "  ";
    if (session.environment().time != tracing::TimeStyle::none) {
      line.add_time_before_end(tracing::internal::ns_between(reader.ticks(), reader.until_ticks()));
      line << " ";
    }
    add_labels(session, reader);
    line << tracing::name(reader.values().metadata().level()) << " ";
    add_path(reader);
    line.add_text(reader.values().metadata().target());
    line << ": ";
    line.add_fields(reader.values());
    line.set_reader(nullptr);
    line.write_to(session.output());
  }
  if (!reader.skips_tracks()) return;
  line << "  (records of further threads are not shown)";
  line.write_to(session.output());
}

std::string_view name_of(int signal) noexcept {
  return kSignalNames[std::find(kSignals, std::end(kSignals), signal) - kSignals];
}

void write_report(Session& session, int signal) noexcept {
  std::string_view const test = session.attribution().name_of(session.attribution().running());
  line << "---- " << name_of(signal);
  if (test.empty()) {
    line << " outside any test";
  } else {
    line << " in ";
    line.add_text(test);
  }
  line << ": open spans and captured records not shown yet ----";
  line.write_to(session.output());
  write_all_open_spans(session);
  write_records(session);
  if (std::string const& path = session.recording_file().path(); !path.empty()) {
    line << "  the whole recording: testlog show ";
    line.add_text(path);
    line.write_to(session.output());
  }
  line << "---- end of captured records ----";
  line.write_to(session.output());
}

// Restores the earlier handler. A fault happens again after the return; a signal that was sent is sent again.
void pass_on(int signal, siginfo_t const* info) noexcept {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == signal) sigaction(signal, &handling.before[i], nullptr);
  }
  if (info->si_code <= 0) raise(signal);
}

// One thread writes the report. Other threads that die meanwhile wait for it, since passing on their signal ends the
// process; the thread itself does not wait, if its report causes a signal.
void report_or_wait(Session& session, int signal) noexcept {
  long const self = syscall(SYS_gettid);
  long reporter = 0;
  if (handling.reporter.compare_exchange_strong(reporter, self)) {
    Attribution const& attribution = session.attribution();
    if (session.run_records() != nullptr)
      session.run_records()->fatal_signal(attribution.name_of(attribution.running()), name_of(signal));
    if (!session.is_mute()) write_report(session, signal);
    handling.reported = true;
    return;
  }
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int i = 0; i < 10'000 && reporter != self && !handling.reported; ++i) nanosleep(&kMillisecond, nullptr);
}

void on_signal(int signal, siginfo_t* info, void*) {
  int const error_before = errno;
  Session& session = *handling.session;
  bool const in_child = testing::internal::InDeathTestChild();
  if (!in_child) report_or_wait(session, signal);
  if (session.files() != nullptr && !in_child) session.files()->wait_for_writers();
  pass_on(signal, info);
  errno = error_before;
}

// Gives the calling thread, which runs the tests, a stack for signals, so that its own may overflow.
void set_signal_stack() noexcept {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  alignas(64) static constinit char bytes[64 << 10] = {};
  stack_t const ours{bytes, 0, sizeof(bytes)};
  sigaltstack(&ours, nullptr);
}

// Takes memory when it is used.
DyingReader* make_reader() noexcept {
  static tracing::internal::ZeroedPages pages;
  char* const at = pages.map(sizeof(DyingReader));
  return at == nullptr ? nullptr : new (at) DyingReader;
}

}  // namespace

void install_crash_handlers(Session& session) {
  if (handling.session != nullptr) return;
  handling.session = &session;
  handling.reader = make_reader();
  set_signal_stack();
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &handling.before[i]);
}

}  // namespace testlog::inline v1
