// DynamicDirectives: the rules of a filter that name spans or fields. CallsiteMatch: the rules that may match the spans
// of a callsite. SpanMatch: the effect of the rules on one span.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/filter/directive_list.h"
#include "tracing_core/filter/seen_values.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

class SpanMatch;

/// The directives that may match the spans of a callsite.
struct CallsiteMatch {
  struct Awaited {
    std::uint32_t directive;
    std::uint32_t field;  // index in the metadata's fields
    ValueMatch const* value;
  };

  bool any = false;
  LevelFilter level{};           // the most verbose level of the directives that require no values
  std::vector<Awaited> awaited;  // the values that the other directives require, grouped by directive
};

/// Keeps the match of each callsite, so that it is computed only once. A search takes a few nanoseconds. Entries are
/// only added. Thread-safe.
class CallsiteMatches {
 public:
  CallsiteMatches() = default;
  CallsiteMatches(CallsiteMatches const&) = delete;
  CallsiteMatches& operator=(CallsiteMatches const&) = delete;
  ~CallsiteMatches();

  /// Returns null if the callsite has no match here yet.
  CallsiteMatch const* find(Metadata const& span) const noexcept;
  CallsiteMatch const& add(Metadata const& span, CallsiteMatch match);

 private:
  struct Entry {
    Metadata const* span;
    CallsiteMatch match;
    Entry* next;
  };
  std::array<std::atomic<Entry*>, 256> lists_{};  // indexed by a hash of the callsite's address
};

/// Rules for records inside of spans. All rules that match a span take effect. Set the rules up on one thread;
/// afterwards they are thread-safe.
class DynamicDirectives : public DirectiveList {
 public:
  explicit DynamicDirectives(std::vector<Directive> directives);
  void add(Directive directive);

  /// True if any directive requires a value. Whether it matches is then unknown until a span is created.
  bool has_values() const noexcept { return has_values_; }
  /// True if some span has recorded all values that directive `index` requires.
  bool values_found(std::size_t index) const noexcept;
  /// Returns directive `index` with values that a span recorded in place of the required values, so that it would have
  /// matched this span. Takes the most similar values of up to 256 spans. Empty if no values are known.
  std::string nearest_that_matches(std::size_t index) const;

  /// True if any directive may match spans of this callsite.
  bool matches(Metadata const& span) const noexcept;
  /// True if any directive may match a span that has these values now and may get those that are empty.
  bool may_match(FieldValues const& values) const noexcept;
  /// Matches a new span with these values. REQUIRES: this object outlives the result.
  SpanMatch match(FieldValues const& values) const;

 private:
  friend class SpanMatch;

  // Returns the index of the first directive, from `begin` on, that may match spans of this callsite; size() if there
  // is none.
  std::size_t find_match(Metadata const& span, std::size_t begin) const noexcept;

  // Keeps the values that a span has for the fields whose values a directive awaits.
  void note_values(std::uint32_t directive, std::span<CallsiteMatch::Awaited const> awaited,
                   FieldValues const& values) const noexcept;

  CallsiteMatch find_matches(Metadata const& span) const;
  // Returns the kept match of a callsite, or computes and keeps it. Null if it cannot be kept.
  CallsiteMatch const* known(Metadata const& span) const noexcept;
  void forget();

  bool has_values_ = false;
  std::unique_ptr<std::atomic<bool>[]> values_found_;     // one for each directive
  std::vector<std::unique_ptr<SeenValues>> seen_values_;  // one for each directive; null if it requires no values
  std::unique_ptr<CallsiteMatches> known_;                // null if there are no directives
};

/// The effect of dynamic directives on one span: the level that passes inside it, which rises as required values are
/// recorded. level() is thread-safe; record() is not.
class SpanMatch {
 public:
  SpanMatch(SpanMatch&& other) noexcept
      : level_(other.level()), waiting_(std::move(other.waiting_)), directives_(other.directives_) {}
  SpanMatch& operator=(SpanMatch&&) = delete;

  /// Returns the most verbose level of the directives whose values have all been recorded.
  LevelFilter level() const noexcept { return level_.load(std::memory_order_relaxed); }
  /// True if more values can raise the level.
  bool is_waiting() const noexcept { return !waiting_.empty(); }
  /// Matches more values of the span. A value that matched once remains matched.
  void record(FieldValues const& values) noexcept;

 private:
  friend class DynamicDirectives;

  SpanMatch(DynamicDirectives const& directives, CallsiteMatch match) noexcept
      : level_(match.level), waiting_(std::move(match.awaited)), directives_(&directives) {}

  std::atomic<LevelFilter> level_;
  std::vector<CallsiteMatch::Awaited> waiting_;
  DynamicDirectives const* directives_;
};

/// True if a recorded value is the value that a directive requires. False for an empty value.
bool value_matches(ValueMatch const& wanted, Value const& value) noexcept;

}}}  // namespace tracing::v1::internal
