#include "tracing_core/mock/mock.h"

#include "tracing_core/support/mutex.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace mock {
namespace {

using tracing::support::in_quotes;

enum class Kind : std::uint8_t { new_span, enter, exit, close, record, follows_from, event, nothing };

constexpr char const* kNames[] = {"a new ",       "enter of ",        "exit of ", "close of ",
                                  "record() to ", "follows_from of ", "",         "nothing more"};

struct Expected {
  Kind kind;
  ExpectedSpan span{};
  ExpectedSpan cause{};
  ExpectedEvent event{};

  std::string describe() const {
    std::string out = kNames[static_cast<int>(kind)];
    if (kind == Kind::nothing) return out;
    out += kind == Kind::event ? event.describe() : span.describe();
    if (kind == Kind::follows_from) out += " with cause " + cause.describe();
    return out;
  }
};

// A received record.
struct Found {
  Kind kind;
  SpanRef span{};  // the parent of an event
  FieldValues const& fields;
  SpanRef cause{};

  std::string describe() const {
    Metadata const& metadata = kind == Kind::event ? fields.metadata() : span.metadata();
    std::string out = kNames[static_cast<int>(kind)];
    out += kind == Kind::event ? "event" : "span " + in_quotes(metadata.name());
    out.append(" at level ").append(tracing::name(metadata.level()));
    out += " with target " + in_quotes(metadata.target());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields.value(i).is_empty()) continue;
      InlineTextBuffer<256> value;
      append_debug(value, fields.value(i));
      out.append(" ").append(fields.name(i)).append("=").append(value.view());
    }
    SpanRef const parent = kind == Kind::event ? span : span.parent();
    out += parent ? ", parent " + in_quotes(parent.metadata().name()) : ", no parent";
    if (!metadata.file().empty()) {
      out.append(", at ").append(metadata.file()).append(":").append(std::to_string(metadata.line()));
    }
    return out;
  }
};

}  // namespace

struct internal::Script {
  tracing::support::Mutex mutex;
  std::vector<Expected> list;  // constant once a layer is made
  std::size_t next TRACING_GUARDED_BY(mutex) = 0;
  std::size_t records TRACING_GUARDED_BY(mutex) = 0;  // number of records compared so far
  std::string failure TRACING_GUARDED_BY(mutex);

  void compare(Found const& found) {
    tracing::support::MutexLock const lock(mutex);
    ++records;
    if (!failure.empty() || next == list.size()) return;
    Expected const& expected = list[next];
    if (expected.kind != found.kind) {
      bool const optional = found.kind == Kind::new_span || found.kind == Kind::close;
      if (!optional || expected.kind == Kind::nothing) fail(found, expected, "");
      return;
    }
    std::string const wrong =
        found.kind == Kind::event ? expected.event.mismatch(found.fields, found.span) : span_mismatch(found, expected);
    if (!wrong.empty()) return fail(found, expected, wrong);
    ++next;
  }

 private:
  static std::string span_mismatch(Found const& found, Expected const& expected) {
    std::string wrong = expected.span.mismatch(found.span, found.fields);
    if (wrong.empty() && found.kind == Kind::follows_from) {
      wrong = expected.cause.mismatch(found.cause, FieldValues(found.cause.metadata()));
      if (!wrong.empty()) wrong = "cause: " + wrong;
    }
    return wrong;
  }

  void fail(Found const& found, Expected const& expected, std::string const& wrong) TRACING_REQUIRES(mutex) {
    failure = "record " + std::to_string(records) + " does not match expectation " + std::to_string(next + 1) + " of " +
              std::to_string(list.size()) + (wrong.empty() ? "" : ": " + wrong) +
              "\n  expected: " + expected.describe() + "\n  received: " + found.describe();
  }
};

namespace {

class MockLayer final : public Layer {
 public:
  explicit MockLayer(std::shared_ptr<internal::Script> script) noexcept : script_(std::move(script)) {}

  void on_new_span(SpanRef span, NewSpan const& made, Context const&) noexcept override {
    script_->compare({Kind::new_span, span, made.fields});
  }
  void on_record(SpanRef span, FieldValues const& values, Context const&) noexcept override {
    script_->compare({Kind::record, span, values});
  }
  void on_follows_from(SpanRef span, SpanRef cause, Context const&) noexcept override {
    script_->compare({Kind::follows_from, span, FieldValues(span.metadata()), cause});
  }
  void on_event(Event const& event, Context const& context) noexcept override {
    script_->compare({Kind::event, context.event_span(event), event.fields});
  }
  void on_enter(SpanRef span, Context const&) noexcept override { compare_with_all_values(Kind::enter, span); }
  void on_exit(SpanRef span, Context const&) noexcept override { compare_with_all_values(Kind::exit, span); }
  void on_close(SpanRef span, Context const&) noexcept override { compare_with_all_values(Kind::close, span); }

 private:
  // Compares the span with the last value of each of its fields.
  void compare_with_all_values(Kind kind, SpanRef span) noexcept {
    StoredValues values;
    {
      auto const lock = span.lock();
      values.copy_from(span.values());
    }
    std::vector<Value> last(256);
    Metadata const& metadata = span.metadata();
    values.for_each_group(metadata, [&](FieldValues const& group) {
      for (std::size_t i = 0; i < metadata.parts().value_count; ++i) {
        if (!group.statement_values()[i].is_empty()) last[i] = group.statement_values()[i];
      }
    });
    script_->compare({kind, span, FieldValues(metadata, last.data())});
  }

  std::shared_ptr<internal::Script> script_;
};

}  // namespace

std::string MockHandle::failure() const {
  tracing::support::MutexLock const lock(script_->mutex);
  if (!script_->failure.empty()) return script_->failure;
  auto const& list = script_->list;
  if (script_->next == list.size() || list[script_->next].kind == Kind::nothing) return {};
  std::string out = "expectations not met after " + std::to_string(script_->records) + " records:";
  for (std::size_t i = script_->next; i < list.size(); ++i) {
    if (list[i].kind != Kind::nothing) out += "\n  " + std::to_string(i + 1) + ": " + list[i].describe();
  }
  return out;
}

Mock::Mock() : script_(std::make_shared<internal::Script>()) {}

namespace {

Mock&& add(Mock& mock, internal::Script& script, Expected expected) {
  script.list.push_back(std::move(expected));
  return std::move(mock);
}

}  // namespace

Mock&& Mock::new_span(ExpectedSpan span) && { return add(*this, *script_, {Kind::new_span, std::move(span)}); }
Mock&& Mock::enter(ExpectedSpan span) && { return add(*this, *script_, {Kind::enter, std::move(span)}); }
Mock&& Mock::exit(ExpectedSpan span) && { return add(*this, *script_, {Kind::exit, std::move(span)}); }
Mock&& Mock::close(ExpectedSpan span) && { return add(*this, *script_, {Kind::close, std::move(span)}); }
Mock&& Mock::record(ExpectedSpan span) && { return add(*this, *script_, {Kind::record, std::move(span)}); }
Mock&& Mock::follows_from(ExpectedSpan span, ExpectedSpan cause) && {
  return add(*this, *script_, {Kind::follows_from, std::move(span), std::move(cause)});
}
Mock&& Mock::event(ExpectedEvent event) && { return add(*this, *script_, {Kind::event, {}, {}, std::move(event)}); }
Mock&& Mock::only() && { return add(*this, *script_, {Kind::nothing}); }
Mock&& Mock::with_filter(std::unique_ptr<Filter> filter) && { return filter_ = std::move(filter), std::move(*this); }

std::pair<std::shared_ptr<Registry>, MockHandle> Mock::run_with_handle() && {
  auto layer = std::make_unique<MockLayer>(script_);
  return {RegistryBuilder().with(std::move(layer), std::move(filter_)).build(), MockHandle(script_)};
}

std::pair<std::unique_ptr<Layer>, MockHandle> Mock::layer_with_handle() && {
  return {std::make_unique<MockLayer>(script_), MockHandle(script_)};
}

}}}  // namespace tracing::v1::mock
