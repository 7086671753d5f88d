#include "testlog/fail_on.h"

#include <algorithm>
#include <new>
#include <utility>

#include "testlog/record_of.h"
#include "testlog/session.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/format/shortened_values.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::inline v1 {
namespace {

std::string lower_name(tracing::LevelFilter level) { return std::string(tracing::name(level)); }

// `target: message field=value`, without the fields of the spans. Shortened: live output has it whole.
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
  tracing::internal::append_shortened(shortened, text.view());
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

FailOn::FailOn(Attribution& attribution)
    : attribution_(attribution), filter_(std::make_unique<LimitFilter>(limit_)) {}

FailOn::~FailOn() = default;

std::unique_ptr<tracing::Layer> FailOn::make_layer() { return std::make_unique<EventLayer>(*this); }
std::unique_ptr<tracing::Filter> FailOn::take_filter() noexcept { return std::move(filter_); }

void FailOn::begin_test(tracing::LevelFilter limit, char const* source) {
  {
    tracing::internal::MutexLock const lock(mutex_);
    found_.clear();
    count_ = 0;
  }
  source_ = source;
  if (limit_.exchange(limit, std::memory_order_relaxed) != limit) tracing::rebuild_interest();
}

void FailOn::observe(tracing::Event const& event, tracing::Context const& context) noexcept {
  attribution_.observe_event();
  if (event.metadata().level() > limit_.load(std::memory_order_relaxed)) return;
  Owner const owner = attribution_.owner_now(context.event_span(event));
  if (owner.late || owner.test == 0) return;
  tracing::internal::MutexLock const lock(mutex_);
  try {
    if (!allowed_.empty()) {
      Record const record = record_of(event, context);
      auto const matches = [&record](auto const* allowed) { return allowed->Matches(record); };
      if (std::any_of(allowed_.begin(), allowed_.end(), matches)) return;
    }
    if (found_.size() < kMaxFound) {
      tracing::Metadata const& metadata = event.metadata();
      found_.push_back({metadata.level(), std::string(metadata.file()), static_cast<int>(metadata.line()), text_of(event)});
    }
  } catch (std::bad_alloc const&) {  // still counted
  }
  ++count_;
}

void FailOn::raise_failures(testing::TestInfo const& test) {
  std::vector<Found> found;
  std::uint64_t count = 0;
  {
    tracing::internal::MutexLock const lock(mutex_);
    found.swap(found_);
    count = std::exchange(count_, 0);
  }
  std::string const limit = lower_name(limit_.load(std::memory_order_relaxed));
  for (Found const& event : found) {
    bool const known = !event.file.empty();
    ADD_FAILURE_AT(known ? event.file.c_str() : test.file(), known ? event.line : test.line())
        << "The test recorded an event of level " << lower_name(tracing::as_filter(event.level)) << "; " << source_
        << " is " << limit << ":\n  " << event.text;
  }
  if (count > found.size())
    ADD_FAILURE_AT(test.file(), test.line()) << "... and " << count - found.size() << " more such events.";
}

void FailOn::allow(internal::AllowedEvents const& allowed) {
  tracing::internal::MutexLock const lock(mutex_);
  allowed_.push_back(&allowed);
}

void FailOn::disallow(internal::AllowedEvents const& allowed) {
  tracing::internal::MutexLock const lock(mutex_);
  std::erase(allowed_, &allowed);
}

AllowEvents::AllowEvents(internal::AllowedEvents matcher) : matcher_(std::move(matcher)) {
  if (Session* const session = Session::get()) session->fail_on().allow(matcher_);
}

AllowEvents::~AllowEvents() {
  if (Session* const session = Session::get()) session->fail_on().disallow(matcher_);
}

}  // namespace testlog::inline v1
