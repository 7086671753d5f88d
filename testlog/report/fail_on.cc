#include "testlog/report/fail_on.h"

#include <algorithm>
#include <new>
#include <utility>

#include "testlog/capture/record_of.h"
#include "testlog/framework.h"
#include "testlog/outputs/live_output.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/format/shortened_values.h"
#include "tracing_core/format/span_path.h"
#include "tracing_core/model/text_escape.h"

namespace testlog { inline namespace v1 {
namespace {

void raise_at(char const* file, int line, std::string const& message) {
  framework::current().raise_failure(file, line, message);
}

std::string lower_name(tracing::LevelFilter level) { return std::string(tracing::name(level)); }

// Returns `target: message field=value`, without the fields of the spans. Shortens a long text, which live output has
// whole.
std::string text_of(tracing::Event const& event) {
  tracing::InlineTextBuffer<256> text;
  text.append(event.metadata().target());
  text.push_back(':');
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    tracing::Value const value = event.fields.value(i);
    if (value.is_empty()) continue;
    text.push_back(' ');
    if (event.fields.name(i) == "message") {
      tracing::append_formatted(text, value, {});
    } else {
      text.append(event.fields.name(i));
      text.push_back('=');
      tracing::append_debug(text, value);
    }
  }
  tracing::InlineTextBuffer<256> printable, shortened;
  tracing::formatting::append_shortened(shortened, text.view());
  tracing::append_sanitized_lines(printable, shortened.view());
  return std::string(printable.view());
}

}  // namespace

class FailOn::EventLayer final : public tracing::Layer {
 public:
  explicit EventLayer(FailOn& owner) : owner_(owner) {}

  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::new_span | tracing::Hooks::event; }
  void on_new_span(tracing::SpanRef span, tracing::NewSpan const&, tracing::Context const&) noexcept override {
    owner_.attribution_.observe_span(span);
  }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    owner_.observe(event, context);
  }

 private:
  FailOn& owner_;
};

// Lets spans pass, too: they decide to which test an event belongs.
class FailOn::LimitFilter final : public tracing::Filter {
 public:
  explicit LimitFilter(std::atomic<tracing::LevelFilter> const& limit) : limit_(limit) {}

  tracing::Interest callsite_enabled(tracing::Metadata const& metadata) noexcept override {
    return enabled(metadata) ? tracing::Interest::always : tracing::Interest::never;
  }
  bool enabled(tracing::Metadata const& metadata) noexcept override {
    tracing::LevelFilter const limit = limit_.load(std::memory_order_relaxed);
    return metadata.is_span() ? limit != tracing::LevelFilter::off : metadata.level() <= limit;
  }
  tracing::LevelFilter max_level_hint() const noexcept override {
    bool const off = limit_.load(std::memory_order_relaxed) == tracing::LevelFilter::off;
    return off ? tracing::LevelFilter::off : tracing::LevelFilter::trace;
  }

 private:
  std::atomic<tracing::LevelFilter> const& limit_;
};

FailOn::FailOn(Environment const& environment, Output& output, Attribution& attribution, bool mute)
    : environment_(environment),
      output_(output),
      attribution_(attribution),
      mute_(mute),
      filter_(std::make_unique<LimitFilter>(limit_)) {}

FailOn::~FailOn() = default;

std::unique_ptr<tracing::Layer> FailOn::make_layer() { return std::make_unique<EventLayer>(*this); }
std::unique_ptr<tracing::Filter> FailOn::take_filter() noexcept { return std::move(filter_); }

void FailOn::begin_test(TestTag test, tracing::LevelFilter limit, char const* source) {
  {
    tracing::support::MutexLock const lock(mutex_);
    found_ = {};
    printed_ = 0;
    limits_[test % kTests] = {test, limit, source};
  }
  // The filter never gets narrower, since threads of earlier tests may still run.
  tracing::LevelFilter const widest = std::max(limit, limit_.load(std::memory_order_relaxed));
  if (limit_.exchange(widest, std::memory_order_relaxed) != widest) tracing::rebuild_interest();
}

// Returns TRACE_FAIL_ON for a test that is no longer known.
FailOn::Limit FailOn::limit_of(TestTag test) const noexcept {
  Limit const& found = limits_[test % kTests];
  if (test == 0 || found.test == test) return test == 0 ? Limit() : found;
  return {test, environment_.fail_on, "TRACE_FAIL_ON"};
}

bool FailOn::is_allowed(tracing::Event const& event, tracing::Context const& context) const {
  if (allowed_.empty()) return false;
  Record const record = record_of(event, context);
  return std::any_of(allowed_.begin(), allowed_.end(), [&record](auto const* allowed) { return (*allowed)(record); });
}

void FailOn::Events::add(Found found) {
  if (first.size() < kMaxFound) {
    first.push_back(std::move(found));
  } else if (found.level < first.back().level) {
    first.back() = std::move(found);
  }
  ++count;
}

void FailOn::observe(tracing::Event const& event, tracing::Context const& context) noexcept {
  attribution_.observe_event();
  tracing::Metadata const& metadata = event.metadata();
  if (metadata.level() > limit_.load(std::memory_order_relaxed)) return;
  Owner owner = attribution_.owner_now(context.event_span(event));
  if (owner.test == 0) return;
  std::string printed;
  try {
    tracing::support::MutexLock const lock(mutex_);
    owner.late |= owner.test == raised_;
    Limit const limit = limit_of(owner.test);
    bool const fails = metadata.level() <= limit.level;
    // A late event may also be work of the running test, on a thread that tests share.
    bool const would_fail = owner.late && metadata.level() <= limit_of(attribution_.running()).level;
    if ((!fails && !would_fail) || is_allowed(event, context)) return;
    Found found{metadata.level(), std::string(metadata.file()), static_cast<int>(metadata.line()), {}};
    if (!owner.late) {
      found.text = text_of(event);
      return found_.add(std::move(found));
    }
    found.text = late_text_of(event, context.event_span(event), owner, limit);
    bool const is_shown = environment_.show == Show::live && (event.mask & LiveOutput::kLayer) != 0;
    bool const is_printed = (fails ? is_over_ : !is_shown) && !mute_ && printed_ <= kMaxFound;
    if (is_printed)
      printed = "testlog: " +
                (printed_++ < kMaxFound ? found.text : "Further such events are not printed before the next test") +
                "\n";
    if (fails) late_.add(std::move(found));
  } catch (std::bad_alloc const&) {  // memory ran out for the text: counts the event
    tracing::support::MutexLock const lock(mutex_);
    ++(owner.late ? late_ : found_).count;
  }
  if (!printed.empty()) output_.write_note("report", printed);
}

// Describes the event with its spans, and says why it matters.
std::string FailOn::late_text_of(tracing::Event const& event, tracing::SpanRef span, Owner owner,
                                 Limit const& limit) const {
  auto const name = [this](TestTag test) {
    std::string_view const known = attribution_.name_of(test);
    return known.empty() ? "an earlier test" : std::string(known);
  };
  TestTag const running = attribution_.running();
  tracing::Level const level = event.metadata().level();
  std::string text = "Work of " + name(owner.test) + ", which has ended, recorded an event of level " +
                     lower_name(tracing::as_filter(level)) + " while " + (running == 0 ? "no test" : name(running)) +
                     " ran";
  if (level <= limit.level) text.append("; ").append(limit.source).append(" is ").append(lower_name(limit.level));
  tracing::InlineTextBuffer<256> path;
  tracing::append_span_path(path, span);
  return text.append(":\n  ").append(path.view()).append(path.size() == 0 ? "" : ": ").append(text_of(event));
}

void FailOn::raise_failures(char const* file, int line, bool was_skipped) {
  Events events;
  Limit limit;
  {
    tracing::internal::InSubscriber const in_subscriber;
    tracing::support::MutexLock const lock(mutex_);
    events = std::exchange(found_, {});
    raised_ = attribution_.running();
    limit = limit_of(raised_);
  }
  std::string const limit_text = std::string(limit.source) + " is " + lower_name(limit.level);
  if (was_skipped) {
    auto const worst = std::min_element(events.first.begin(), events.first.end(),
                                        [](Found const& a, Found const& b) { return a.level < b.level; });
    if (worst == events.first.end() || mute_) return;
    std::string const text = "    skipped after an event of level " + lower_name(tracing::as_filter(worst->level)) +
                             ", though " + limit_text + ": " + worst->text + "\n";
    return output_.write_note("report", text);
  }
  for (Found const& event : events.first) {
    bool const known = !event.file.empty();
    raise_at(known ? event.file.c_str() : file, known ? event.line : line,
             std::string("The test recorded an event of level ") + lower_name(tracing::as_filter(event.level)) + "; " +
                 limit_text + ":\n  " + event.text);
  }
  if (events.count > events.first.size())
    raise_at(file, line, "... and " + std::to_string(events.count - events.first.size()) + " more such events.");
}

void FailOn::raise_late_failures() {
  Events events;
  {
    tracing::internal::InSubscriber const in_subscriber;
    tracing::support::MutexLock const lock(mutex_);
    events = std::exchange(late_, {});
    is_over_ = true;
  }
  for (Found const& event : events.first)
    raise_at(
        event.file.empty() ? "unknown file" : event.file.c_str(), event.line,
        event.text +
            "\nNo test is blamed, but the run fails. The test should wait for its threads; a thread that tests share "
            "should call testlog::serve_all_tests().");
  if (events.count > events.first.size())
    raise_at(
        "unknown file", 0,
        "... and " + std::to_string(events.count - events.first.size()) + " more such events of tests that had ended.");
}

void FailOn::begin_run() {
  tracing::internal::InSubscriber const in_subscriber;
  tracing::support::MutexLock const lock(mutex_);
  is_over_ = false;
}

void FailOn::allow(AllowedEvents const& allowed) {
  tracing::internal::InSubscriber const in_subscriber;
  tracing::support::MutexLock const lock(mutex_);
  allowed_.push_back(&allowed);
}

void FailOn::disallow(AllowedEvents const& allowed) {
  tracing::internal::InSubscriber const in_subscriber;
  tracing::support::MutexLock const lock(mutex_);
  std::erase(allowed_, &allowed);
}

}}  // namespace testlog::v1
