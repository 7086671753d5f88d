// Declares DynamicDirectives, the rules of a filter that name spans or fields, and what they make of one span.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tracing_core/filter/directive.h"
#include "tracing_core/filter/target_prefix.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1::internal {

class SpanMatch;

/// Rules about what happens inside spans, the most specific first. All that apply to a span count. Thread-compatible;
/// the notes of what matched are thread-safe.
class DynamicDirectives {
 public:
  DynamicDirectives() = default;
  /// Of several that apply to the same, the last one counts.
  explicit DynamicDirectives(std::vector<Directive> directives);

  /// Adds one; replaces an earlier one that applies to the same.
  void add(Directive directive);

  bool empty() const noexcept { return directives_.empty(); }
  std::vector<Directive> const& directives() const noexcept { return directives_; }
  /// The most verbose level of any directive ever added.
  LevelFilter max_level() const noexcept { return max_level_; }
  /// Whether any directive asks for a value: then spans are made before it is known whether they count.
  bool has_values() const noexcept { return has_values_; }
  /// Whether the values that directive `index` asks for were all found on some span.
  bool values_found(std::size_t index) const noexcept;

  /// Whether any directive is about spans of this callsite.
  bool matches(Metadata const& span) const noexcept;
  /// What the directives make of a new span with these values. REQUIRES: this outlives the result.
  SpanMatch match(FieldValues const& values) const;

  /// Appends the directives, joined by commas.
  void append_to(std::string& out) const;

 private:
  friend class SpanMatch;

  struct Row {
    TargetPrefix prefix;
    bool has_values;
  };
  void index();
  bool applies(std::size_t row, TargetKey const& key, Metadata const& span) const noexcept;

  std::vector<Directive> directives_;
  std::vector<Row> rows_;                              // of the directives, what is looked at first; points into them
  std::unique_ptr<std::atomic<bool>[]> values_found_;  // of each directive
  LevelFilter max_level_{};
  bool has_values_ = false;
};

/// What dynamic directives make of one span: the level that it lets pass inside, growing as awaited values are
/// recorded. level() is thread-safe; record() is not.
class SpanMatch {
 public:
  SpanMatch() = default;
  SpanMatch(SpanMatch&& other) noexcept
      : level_(other.level()), waiting_(std::move(other.waiting_)), directives_(other.directives_) {}
  SpanMatch& operator=(SpanMatch&&) = delete;

  /// The most verbose level of those directives whose values were all recorded so far.
  LevelFilter level() const noexcept { return level_.load(std::memory_order_relaxed); }
  /// Whether more values can change the level.
  bool is_waiting() const noexcept { return !waiting_.empty(); }
  /// Looks at more values of the span. One that matched once stays matched.
  void record(FieldValues const& values) noexcept;

 private:
  friend class DynamicDirectives;

  struct Awaited {
    std::uint32_t directive;
    std::uint32_t field;  // in the metadata
    ValueMatch const* value;
  };
  void raise(LevelFilter level) noexcept;

  std::atomic<LevelFilter> level_{};
  std::vector<Awaited> waiting_;  // those of one directive stand together
  DynamicDirectives const* directives_ = nullptr;
};

/// Whether a recorded value is what a directive asks for; an empty one never is.
bool value_matches(ValueMatch const& wanted, Value const& value) noexcept;

}  // namespace tracing::inline v1::internal
