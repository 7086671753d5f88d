// Declares StaticDirectives, the rules of a filter that a callsite's metadata alone decides.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/target_prefix.h"
#include "tracing_core/model/level.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1::internal {

/// A rule without spans and values.
struct StaticDirective {
  std::optional<std::string> target;  ///< beginning of a target; none: all
  std::vector<std::string> fields;    ///< an event must have all of these; a span need not
  LevelFilter level = max_level_trace;

  void append_to(std::string& out) const;
};

/// Rules, the most specific first; the first that applies decides alone. Thread-compatible.
class StaticDirectives {
 public:
  StaticDirectives() = default;
  /// Of several that apply to the same, the last one counts.
  explicit StaticDirectives(std::vector<StaticDirective> directives);
  StaticDirectives(StaticDirectives const& other) : StaticDirectives(other.directives_) {
    max_level_ = other.max_level_;
  }
  StaticDirectives& operator=(StaticDirectives const& other) { return *this = StaticDirectives(other); }
  StaticDirectives(StaticDirectives&&) noexcept = default;
  StaticDirectives& operator=(StaticDirectives&&) noexcept = default;

  /// Adds one; replaces an earlier one that applies to the same.
  void add(StaticDirective directive);

  bool empty() const noexcept { return directives_.empty(); }
  std::vector<StaticDirective> const& directives() const noexcept { return directives_; }
  /// The most verbose level of any directive ever added.
  LevelFilter max_level() const noexcept { return max_level_; }

  /// What the first directive that applies says; false where none does. One short test per directive.
  bool enabled(Metadata const& metadata) const noexcept;
  /// The same for any record with this target; directives with fields do not apply.
  bool target_enabled(std::string_view target, Level level) const noexcept;

  /// Appends the directives, joined by commas.
  void append_to(std::string& out) const;

 private:
  struct Row {
    TargetPrefix prefix;
    LevelFilter level;
    bool has_fields;
  };
  void index();
  bool fields_apply(std::size_t row, Metadata const& metadata) const noexcept;

  std::vector<StaticDirective> directives_;
  std::vector<Row> rows_;  // of the directives, what is looked at first; points into them
  LevelFilter max_level_{};
};

}  // namespace tracing::inline v1::internal
