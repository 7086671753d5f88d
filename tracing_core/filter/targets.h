// Targets: a filter with a level for each target and no rules about spans and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/filter/directive_list.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/parse_error.h"

namespace tracing { inline namespace v1 {

/// Filters by a level for each target. The longest target that is a prefix of the record's target decides. If there is
/// no such target, the record does not pass. Thread-compatible while it is set up, thread-safe afterwards.
///
///     Targets().with_default(LevelFilter::info).with_target("gpu::memory", LevelFilter::trace)
class Targets : public Filter {
 public:
  Targets() = default;
  /// REQUIRES: not in use yet.
  Targets(Targets&& other) noexcept : Filter(), directives_(std::move(other.directives_)) {}
  Targets& operator=(Targets&& other) noexcept { return directives_ = std::move(other.directives_), *this; }

  /// Parses `target=level,target,level,...`. Every comma separates two rules. A target alone gets the level trace, a
  /// level alone sets the default, and an empty text means the default `error`. `target[{a}]=level` requires fields of
  /// events. If the text is invalid, returns nothing and sets `error` to the first error, unless it is null.
  static std::optional<Targets> parse(std::string_view text, ParseError* error = nullptr);

  /// Sets the level of a target.
  Targets& with_target(std::string_view target, LevelFilter level) &;
  Targets with_target(std::string_view target, LevelFilter level) && { return std::move(with_target(target, level)); }
  /// Sets the level of all other targets.
  Targets& with_default(LevelFilter level) &;
  Targets with_default(LevelFilter level) && { return std::move(with_default(level)); }

  /// Returns the level of all other targets, if it was set.
  std::optional<LevelFilter> default_level() const;
  /// Returns the targets and their levels, the longest target first.
  std::vector<std::pair<std::string_view, LevelFilter>> targets() const;
  /// True if records of this target and level pass, regardless of their fields.
  bool would_enable(std::string_view target, Level level) const noexcept;

  /// Returns the text that parses to this filter.
  std::string to_string() const;

  Interest callsite_enabled(Metadata const& metadata) noexcept override;
  bool enabled(Metadata const& metadata) noexcept override { return directives_.enabled(metadata); }
  LevelFilter max_level_hint() const noexcept override { return directives_.max_level(); }

 private:
  internal::StaticDirectives directives_;
};

}}  // namespace tracing::v1
