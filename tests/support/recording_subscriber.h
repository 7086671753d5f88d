// RecordingSubscriber turns everything it receives into lines of text, for tests of spans and events.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing_test {

/// Stores a line for each call: `event DEBUG lib::Engine "moved 3 bytes" stream=7`, `new 1 launch n=2`, `enter 1`,
/// `exit 1`, `record 1 status=200`, `follows 2 1`, `reference 1`, `drop 1`, `close 1`.
class RecordingSubscriber final : public tracing::Subscriber {
 public:
  tracing::Registration register_callsite(tracing::Metadata const& metadata) noexcept override {
    std::lock_guard const lock(mutex_);
    registered_.emplace_back(metadata.target());
    if (dynamic_) return {tracing::Interest::sometimes, 0, 1};
    return passes(metadata) ? tracing::Registration{tracing::Interest::always, 1, 0} : tracing::Registration{};
  }
  tracing::LevelFilter max_level_hint() const noexcept override { return max_level_; }
  tracing::LayerMask enabled(tracing::Metadata const& metadata) noexcept override {
    ++asked_;
    return passes(metadata) && on_ ? 1 : 0;
  }

  tracing::SpanId new_span(tracing::NewSpan const& span) noexcept override {
    std::lock_guard const lock(mutex_);
    std::uint64_t const id = ++last_id_;
    spans_[id] = {&span.metadata(), 1};
    add("new " + number(id) + " " + std::string(span.metadata().name()) + parent(span.parent) + text(span.fields));
    return {id};
  }
  void record(tracing::SpanId span, tracing::FieldValues const& values) noexcept override {
    std::lock_guard const lock(mutex_);
    add("record " + number(span.value) + text(values));
  }
  void follows_from(tracing::SpanId span, tracing::SpanId cause) noexcept override {
    std::lock_guard const lock(mutex_);
    add("follows " + number(span.value) + " " + number(cause.value));
  }
  void event(tracing::Event const& event) noexcept override {
    if (on_event) on_event();
    std::lock_guard const lock(mutex_);
    tracing::Metadata const& metadata = event.metadata();
    last_ = &metadata;
    add("event " + std::string(tracing::name(metadata.level())) + " " + std::string(metadata.target()) +
        parent(event.parent) + text(event.fields));
  }
  void enter(tracing::SpanId span, tracing::Origin const&) noexcept override {
    std::lock_guard const lock(mutex_);
    stack().push_back(span.value);
    add("enter " + number(span.value));
  }
  void exit(tracing::SpanId span, tracing::Origin const&) noexcept override {
    std::lock_guard const lock(mutex_);
    auto& open = stack();
    for (auto at = open.rbegin(); at != open.rend(); ++at) {
      if (*at != span.value) continue;
      open.erase(std::next(at).base());
      break;
    }
    add("exit " + number(span.value));
  }
  void add_reference(tracing::SpanId span) noexcept override {
    std::lock_guard const lock(mutex_);
    ++spans_[span.value].references;
  }
  void drop_reference(tracing::SpanId span, tracing::Origin const&) noexcept override {
    std::lock_guard const lock(mutex_);
    if (--spans_[span.value].references > 0) return;
    spans_.erase(span.value);
    add("close " + number(span.value));
  }
  tracing::SpanId current_span() const noexcept override {
    auto const& open = stack();
    return {open.empty() ? 0 : open.back()};
  }
  tracing::Metadata const* metadata(tracing::SpanId span) const noexcept override {
    std::lock_guard const lock(mutex_);
    auto const found = spans_.find(span.value);
    return found == spans_.end() ? nullptr : found->second.metadata;
  }
  bool has_open_spans() const noexcept override {
    std::lock_guard const lock(mutex_);
    return !spans_.empty();
  }

  /// Returns and clears the lines so far.
  std::vector<std::string> take() {
    std::lock_guard const lock(mutex_);
    return std::exchange(lines_, {});
  }
  /// Returns the only line since the last take(), or a text with the number of lines if there is not exactly one.
  std::string take_one() {
    auto const lines = take();
    return lines.size() == 1 ? lines[0] : "<" + std::to_string(lines.size()) + " records>";
  }
  /// Returns the fields of the only event since the last take(), without level and target.
  std::string take_fields() {
    std::string const line = take_one();
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i) at = line.find(' ', at) == std::string::npos ? line.size() : line.find(' ', at) + 1;
    return line.substr(at);
  }
  std::size_t open_spans() const {
    std::lock_guard const lock(mutex_);
    return spans_.size();
  }
  tracing::Metadata const* last_event() const { return last_; }
  int asked() const { return asked_; }
  std::vector<std::string> const& registered() const { return registered_; }

  void set_max_level(tracing::LevelFilter level) { max_level_ = level; }
  /// Decides each record when it is made, instead of once for each callsite.
  void set_dynamic(bool on) { dynamic_ = true, on_ = on; }

  void (*on_event)() = nullptr;

 private:
  struct OpenSpan {
    tracing::Metadata const* metadata = nullptr;
    int references = 0;
  };

  bool passes(tracing::Metadata const& metadata) const { return metadata.level() <= max_level_; }
  static std::string number(std::uint64_t id) { return std::to_string(id); }
  static std::string parent(tracing::Parent parent) {
    if (parent.kind == tracing::Parent::Kind::root) return " root";
    return parent.kind == tracing::Parent::Kind::span ? " below " + number(parent.id.value) : "";
  }
  static std::string text(tracing::FieldValues const& fields) {
    tracing::InlineTextBuffer<512> out;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      tracing::Value const value = fields.value(i);
      if (value.is_empty()) continue;
      out.push_back(' ');
      if (value.kind() == tracing::ValueKind::message) {
        out.push_back('"');
        append_message(out, value);
        out.push_back('"');
        continue;
      }
      out.append(fields.name(i));
      out.push_back('=');
      append_debug(out, value);
    }
    return std::string(out.view());
  }
  void add(std::string line) { lines_.push_back(std::move(line)); }

  static std::vector<std::uint64_t>& stack() {
    thread_local std::vector<std::uint64_t> spans;
    return spans;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::string> registered_;
  std::map<std::uint64_t, OpenSpan> spans_;
  std::uint64_t last_id_ = 0;
  tracing::Metadata const* last_ = nullptr;
  tracing::LevelFilter max_level_ = tracing::LevelFilter::trace;
  bool dynamic_ = false;
  bool on_ = true;
  std::atomic<int> asked_{0};
};

/// Makes a RecordingSubscriber the default of this thread, for its lifetime.
class Recording {
 public:
  explicit Recording(tracing::LevelFilter level = tracing::LevelFilter::trace)
      : subscriber_(make(level)), scope_(subscriber_) {}
  RecordingSubscriber* operator->() const { return subscriber_.get(); }
  RecordingSubscriber& operator*() const { return *subscriber_; }
  std::shared_ptr<RecordingSubscriber> const& shared() const { return subscriber_; }

 private:
  static std::shared_ptr<RecordingSubscriber> make(tracing::LevelFilter level) {
    auto subscriber = std::make_shared<RecordingSubscriber>();
    subscriber->set_max_level(level);
    return subscriber;
  }

  std::shared_ptr<RecordingSubscriber> subscriber_;
  tracing::ScopedDefault scope_;
};

}  // namespace tracing_test
