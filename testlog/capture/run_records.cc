#include "testlog/capture/run_records.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "testlog/environment.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/support/short_text.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::Value;
using tracing::internal::MarkSite;

// Their names and fields are part of the format of recordings.
struct Marks {
  MarkSite process{"process",
                   {"pid", "host", "boot", "directory", "command", "variables", "googletest", "run", "attempt",
                    "traceparent", "tracestate", "framework"}};
  MarkSite ci{"ci", {"service", "revision", "url", "job", "run", "branch"}};
  MarkSite repetition{"repetition", {"number", "seed", "shards", "shard"}};
  MarkSite test_begin{"test_begin", {"test", "file", "line", "value_param", "type_param"}};
  MarkSite test_end{"test_end", {"test", "result", "duration_ms"}};
  MarkSite failure{"failure", {"test", "file", "line", "message", "fatal", "late_from"}};
  MarkSite skip{"skip", {"test", "file", "line", "message"}};
  MarkSite property{"property", {"test", "name", "value"}};
  MarkSite signal{"signal", {"test", "signal"}};
  MarkSite still_running{"still_running", {"test", "duration_ms"}};
  MarkSite exit{"exit", {"test"}};
  MarkSite run_end{"run_end", {"tests", "failed"}};
};

Marks const& marks() {
  static auto const* const all = new Marks;  // never destroyed
  return *all;
}

Value as_value(Value const& value) noexcept { return value; }
Value as_value(std::string_view text) noexcept { return Value::of_text(text); }
Value as_value(char const* text) noexcept { return text == nullptr ? Value() : Value::of_text(text); }
Value as_value(std::string const& text) noexcept { return Value::of_text(text); }
Value as_value(bool x) noexcept { return Value::of_bool(x); }
Value as_value(int x) noexcept { return Value::of_i64(x); }
Value as_value(std::int64_t x) noexcept { return Value::of_i64(x); }

Value known(std::string const& text) noexcept { return text.empty() ? Value() : Value::of_text(text); }

std::string set_variables() {
  std::string text;
  for (auto const& table : {tracing::environment::common_variables(), test_variables()}) {
    for (auto const& variable : table.variables) {
      char const* const value = tracing::environment::environment_variable(variable.name);
      if (value != nullptr) text.append(text.empty() ? "" : " ").append(variable.name).append("=").append(value);
    }
  }
  return text;
}

// Returns true if the value of `--name`, in the same argument or the next, is hidden.
bool hides_value(std::string_view name) {
  return tracing::internal::is_hidden(tracing::support::without_leading(name, "-"));
}

}  // namespace

std::string command_line(int argc, char const* const* argv) {
  std::string text;
  bool is_hidden = false;
  for (int i = 0; i < argc && argv[i] != nullptr; ++i) {
    std::string_view const argument = argv[i];
    std::size_t const equals = argument.find('=');
    text.append(i == 0 ? "" : " ");
    if (std::exchange(is_hidden, false)) {
      text.append(tracing::internal::redaction_token());
    } else if (equals != argument.npos && hides_value(argument.substr(0, equals))) {
      text.append(argument.substr(0, equals + 1)).append(tracing::internal::redaction_token());
    } else {
      text.append(argument);
      is_hidden = argument.starts_with('-') && hides_value(argument);
    }
  }
  return text;
}

static void describe_as_testlog(tracing::internal::ChunkWriter& writer) noexcept { writer.describe_thread("testlog"); }

RunRecords::RunRecords(tracing::internal::RecordStore const& store) : forks_when_made_(tracing::support::fork_count()) {
  constexpr std::uint32_t kShare = 16;  // of the recording: marks get a 16th, never overwritten
  tracing::support::MutexLock const lock(mutex_);
  writer_.start(store.parts(), tracing::internal::kMarksTrack, getpid(), describe_as_testlog);
  // Adds these sites now, so that signal handlers find them without a lock.
  (void)store.parts().sites.number_of(marks().signal.metadata());
  (void)store.parts().sites.number_of(marks().still_running.metadata());
  writer_.pin_chunks(store.region().header().usable.load(std::memory_order_relaxed) / kShare);
}

template <class... Values>
void RunRecords::write_locked(tracing::Metadata const& metadata, Values const&... values) noexcept {
  std::array<Value, sizeof...(values)> const all{as_value(values)...};
  writer_.write({.type = tracing::recording::EntryType::mark,
                 .metadata = &metadata,
                 .values = all.data(),
                 .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                describe_as_testlog);
  if (&metadata == &marks().failure.metadata()) writer_.spare_chunk();
}

template <class... Values>
void RunRecords::write(tracing::Metadata const& metadata, Values const&... values) noexcept {
  if (forks_when_made_ != tracing::support::fork_count()) return;
  tracing::support::MutexLock const lock(mutex_);
  write_locked(metadata, values...);
}

void RunRecords::begin_process(int argc, char const* const* argv, std::string_view run, int attempt,
                               tracing::EnvOptions const& environment) {
  std::array<char, 4096> folder{};
  if (getcwd(folder.data(), folder.size()) == nullptr) folder[0] = 0;
  framework::Framework const& framework = framework::current();
  bool const is_googletest = framework.name == "GoogleTest";
  std::string const other = is_googletest ? "" : std::string(framework.name) + " " + std::string(framework.version);
  write(marks().process.metadata(), static_cast<std::int64_t>(getpid()), tracing::environment::host_name(),
        known(tracing::environment::boot_id()), folder.data(), command_line(argc, argv), set_variables(),
        is_googletest ? Value::of_text(framework.version) : Value(), run,
        attempt == 0 ? Value() : Value::of_i64(attempt), known(environment.traceparent), known(environment.tracestate),
        known(other));
}

void RunRecords::ci(tracing::environment::CiJob const& job) noexcept {
  if (!job.service.empty())
    write(marks().ci.metadata(), job.service, known(job.revision), known(job.url), known(job.job), known(job.run),
          known(job.branch));
}

void RunRecords::begin_repetition(framework::Repetition const& repetition) noexcept {
  write(marks().repetition.metadata(), repetition.number, repetition.seed, repetition.shards, repetition.shard);
}

void RunRecords::begin_test(framework::Test const& test) noexcept {
  write(marks().test_begin.metadata(), test.name, test.file, test.line, test.value_param, test.type_param);
}

void RunRecords::properties(std::string_view test, std::vector<framework::Property> const& properties) noexcept {
  for (framework::Property const& property : properties)
    write(marks().property.metadata(), test, property.name, property.value);
}

void RunRecords::end_test(std::string_view name, framework::Result const& result) noexcept {
  using Outcome = framework::Result::Outcome;
  properties(name, result.properties);
  write(marks().test_end.metadata(), name,
        result.outcome == Outcome::failed    ? "failed"
        : result.outcome == Outcome::skipped ? "skipped"
                                             : "passed",
        result.duration_ms);
}

void RunRecords::part(std::string_view test, framework::Part const& part, std::string_view late_from) noexcept {
  if (part.is_failure()) {
    write(marks().failure.metadata(), test, part.file, part.line, part.message,
          part.kind == framework::Part::Kind::fatal_failure, late_from.empty() ? Value() : Value::of_text(late_from));
  } else {
    write(marks().skip.metadata(), test, part.file, part.line, part.message);
  }
}

void RunRecords::exit_of_process(std::string_view test) noexcept { write(marks().exit.metadata(), test); }

void RunRecords::fatal_signal(std::string_view test, std::string_view signal) noexcept {
  if (forks_when_made_ != tracing::support::fork_count() || !mutex_.try_lock()) return;
  write_locked(marks().signal.metadata(), test, signal);
  mutex_.unlock();
}

void RunRecords::still_running(std::string_view test, std::uint64_t duration_ms) noexcept {
  if (forks_when_made_ != tracing::support::fork_count() || !mutex_.try_lock()) return;
  write_locked(marks().still_running.metadata(), test, static_cast<std::int64_t>(duration_ms));
  mutex_.unlock();
}

void RunRecords::end_run(framework::Totals const& totals) noexcept {
  write(marks().run_end.metadata(), totals.tests, totals.failed);
}

}}  // namespace testlog::v1
