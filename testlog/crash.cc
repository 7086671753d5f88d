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
#include <cstring>
#include <new>
#include <utility>

#include "testlog/labels.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/internal/utf8.h"
#include "tracing_core/internal/zeroed_pages.h"
#include "tracing_core/model/value.h"
#include "tracing_core/record/dying_reader.h"

namespace testlog::inline v1 {
namespace {

using tracing::internal::DyingReader;

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

// A line that is being composed. Drops what does not fit.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    is_cut_ = is_cut_ || text.size() > kBytes - size_;
    text = text.substr(0, kBytes - size_);
    std::memcpy(bytes_ + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  Line& operator<<(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t at = sizeof(digits);
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << std::string_view(digits + at, sizeof(digits) - at);
  }
  // Text of the program: line ends become `\n`, other control characters and bytes that are not UTF-8 question marks.
  void add_text(std::string_view text) noexcept {
    while (!text.empty() && !is_cut_) {
      auto const c = tracing::internal::decode_utf8(text);
      bool const is_control = c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0);
      *this << (c.value == '\n' ? "\\n" : c.valid && !is_control ? text.substr(0, c.size) : "?");
      text.remove_prefix(c.size);
    }
  }
  // A text value, of which a long one leaves room for other values: `the first of i... (1048576 bytes)`.
  void add_shortened(std::string_view text) noexcept {
    std::size_t const whole_size = reader_ == nullptr ? text.size() : reader_->whole_size(text);
    std::string_view const shown = text.substr(0, tracing::internal::char_start(text, kMaxTextBytes));
    add_text(shown);
    if (whole_size > shown.size()) *this << "... (" << std::uint64_t{whole_size} << " bytes)";
  }
  /// Texts are those of a recording, which may be cut already.
  void set_reader(DyingReader const* reader) noexcept { reader_ = reader; }
  void add_value(tracing::Value const& value) noexcept;
  void add_error(tracing::Value const& value) noexcept;
  void add_message(tracing::Value const& value) noexcept;
  void add_fields(tracing::FieldValues const& fields) noexcept;

  void write_to(Output& output) noexcept {
    constexpr std::string_view kCut = "...";
    if (is_cut_ || size_ == kBytes) {
      size_ = tracing::internal::char_start({bytes_, size_}, kBytes - kCut.size() - 1);
      is_cut_ = false;
      *this << kCut;
    }
    if (output.is_json_file()) {
      write_json_to(output);
    } else {
      bytes_[size_++] = '\n';
      output.write_dying({bytes_, size_});
    }
    size_ = 0;
    is_cut_ = false;
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kMaxTextBytes = 512;

  // The same text as an object. It has no control characters.
  void write_json_to(Output& output) noexcept {
    constexpr std::string_view kBefore = "{\"kind\":\"crash_report\",\"text\":\"";
    constexpr std::string_view kAfter = "\"}\n";
    static constinit char object[kBefore.size() + 2 * kBytes + kAfter.size()] = {};
    char* at = object + kBefore.copy(object, kBefore.size());
    for (char const c : tracing::internal::without_frame({bytes_, size_})) {
      if (c == '"' || c == '\\') *at++ = '\\';
      *at++ = c;
    }
    at += kAfter.copy(at, kAfter.size());
    output.write_dying({object, static_cast<std::size_t>(at - object)});
  }

  DyingReader const* reader_ = nullptr;
  std::size_t size_ = 0;
  bool is_cut_ = false;
  char bytes_[kBytes] = {};
};

constinit Line line;  // not on the stack, which may be small; one thread uses it

// Numbers fit into the buffer below; objects and errors were captured as text.
void Line::add_value(tracing::Value const& value) noexcept {
  switch (value.kind()) {
    case tracing::ValueKind::text:
    case tracing::ValueKind::bytes:
      *this << "\"";
      add_shortened(value.as_text());
      *this << "\"";
      break;
    case tracing::ValueKind::verbatim: return add_shortened(value.as_text());
    case tracing::ValueKind::redacted: return add_text(tracing::internal::redaction_token());
    case tracing::ValueKind::message: return add_message(value);
    case tracing::ValueKind::error: return add_error(value);
    case tracing::ValueKind::custom: *this << "?"; break;
    default: {
      tracing::InlineTextBuffer<128> text;
      tracing::append_debug(text, value);
      *this << text.view();
    }
  }
}

// The error's own text, then those of its causes.
void Line::add_error(tracing::Value const& value) noexcept {
  struct Visiting {
    Line& to;
    bool first = true;
  } visiting{*this};
  value.error_type().visit(value.as_pointer(), &visiting, [](void* context, std::string_view text) {
    auto& [to, first] = *static_cast<Visiting*>(context);
    if (!std::exchange(first, false)) to << ": ";
    to.add_shortened(text);
  });
}

// The literal with its placeholders filled, ignoring format specifications.
void Line::add_message(tracing::Value const& value) noexcept {
  auto const& parts = value.message_metadata().parts();
  char const* const text =
      parts.text + parts.name_size + parts.target_size + parts.function_size + parts.module_path_size;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) {
    auto const& placeholder = parts.placeholders[i];
    add_text({text + at, placeholder.offset - at});
    at = placeholder.offset;
    auto const& filling = value.message_values()[placeholder.value_index];
    if (filling.kind() == tracing::ValueKind::text) {
      add_shortened(filling.as_text());
    } else {
      add_value(filling);
    }
  }
  add_text({text + at, parts.message_size - at});
}

void Line::add_fields(tracing::FieldValues const& fields) noexcept {
  bool first = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tracing::Value const value = fields.value(i);
    if (value.is_empty()) continue;
    if (!first) *this << " ";
    first = false;
    if (fields.name(i) == "message") {
      value.kind() == tracing::ValueKind::text ? add_shortened(value.as_text()) : add_value(value);
      continue;
    }
    add_text(fields.name(i));
    *this << "=";
    add_value(value);
  }
}

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

void write_open_spans(Session& session) noexcept {
  struct Visiting {
    std::uint64_t track = 0;
    Output& output;
  } visiting{0, session.output()};
  session.registry().visit_all_tracks(
      [](void* context, tracing::Track const& track, std::int64_t os_thread, tracing::SpanRef span) {
        auto& [current, output] = *static_cast<Visiting*>(context);
        if (track.number != current) {
          if (current != 0) line.write_to(output);
          line << "  thread ";
          line.add_text(track.name.empty() ? std::string_view("without a name") : track.name);
          line << " (" << static_cast<std::uint64_t>(os_thread) << ") is in ";
        } else {
          line << ":";
        }
        current = track.number;
        add_span(span.metadata().name(), span.metadata(),
                 [&span](auto&& f) { span.values().for_each_group(span.metadata(), f); });
      },
      &visiting);
  if (visiting.track != 0) line.write_to(session.output());
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
  write_open_spans(session);
  write_records(session);
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
