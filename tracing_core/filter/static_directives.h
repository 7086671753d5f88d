// StaticDirectives: the rules of a filter that the metadata of a callsite alone decides.
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

/// A rule without span and values.
struct StaticDirective {
  std::optional<std::string> target;  ///< prefix of a target; none: all
  std::vector<std::string> fields;    ///< required of events, not of spans
  LevelFilter level = max_level_trace;

  void append_to(std::string& out) const;
};

/// Rules, the most specific first. The first that applies decides alone. Thread-compatible.
class StaticDirectives {
 public:
  StaticDirectives() = default;
  /// Of equivalent directives, the last one counts.
  explicit StaticDirectives(std::vector<StaticDirective> directives);
  StaticDirectives(StaticDirectives const& other) : StaticDirectives(other.directives_) {
    max_level_ = other.max_level_;
  }
  StaticDirectives& operator=(StaticDirectives const& other) { return *this = StaticDirectives(other); }
  StaticDirectives(StaticDirectives&&) noexcept = default;
  StaticDirectives& operator=(StaticDirectives&&) noexcept = default;

  /// Adds a directive, replacing an equivalent one.
  void add(StaticDirective directive);

  bool empty() const noexcept { return directives_.empty(); }
  std::vector<StaticDirective> const& directives() const noexcept { return directives_; }
  /// The most verbose level of any directive ever added.
  LevelFilter max_level() const noexcept { return max_level_; }

  /// The decision of the first directive that applies; false if none does. One short test per directive.
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
  std::vector<Row> rows_;  // the parts of the directives that are tested first; points into them
  LevelFilter max_level_{};
};

}  // namespace tracing::inline v1::internal
