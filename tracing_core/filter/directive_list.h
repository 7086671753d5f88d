// DirectiveList: the rules of a filter. StaticDirectives: the rules for which a callsite's metadata alone decides.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/directive.h"
#include "tracing_core/filter/target_prefix.h"
#include "tracing_core/model/level.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Rules, ordered with the most specific first: see compare_specificity(). Thread-compatible.
class DirectiveList {
 public:
  DirectiveList() = default;
  /// If directives are equivalent, the last one counts.
  explicit DirectiveList(std::vector<Directive> directives);
  DirectiveList(DirectiveList&&) noexcept = default;
  DirectiveList& operator=(DirectiveList&&) noexcept = default;

  /// Adds a directive, replacing an equivalent one.
  void add(Directive directive);

  bool empty() const noexcept { return directives_.empty(); }
  std::vector<Directive> const& directives() const noexcept { return directives_; }
  /// Returns the most verbose level of any directive ever added.
  LevelFilter max_level() const noexcept { return max_level_; }

  /// Appends the directives, joined by commas.
  void append_to(std::string& out) const;

 protected:
  /// Returns the index of the first directive, from `begin` on, whose target is a prefix of the key; size() if there is
  /// none.
  std::size_t find(TargetKey const& key, std::size_t begin) const noexcept;
  std::size_t size() const noexcept { return directives_.size(); }

  std::vector<Directive> directives_;

 private:
  std::vector<TargetPrefix> prefixes_;  // one for each directive; a search reads little beside these
  LevelFilter max_level_{};
};

/// Rules without span and values. The first rule that applies decides alone. Requires the fields of events, but not of
/// spans.
class StaticDirectives : public DirectiveList {
 public:
  using DirectiveList::DirectiveList;

  /// Returns the decision of the first directive that applies; false if none does. Makes one short test per directive.
  bool enabled(Metadata const& metadata) const noexcept;
  /// As enabled(), for any record with this target; directives with fields do not apply.
  bool target_enabled(std::string_view target, Level level) const noexcept;
};

}}}  // namespace tracing::v1::internal
