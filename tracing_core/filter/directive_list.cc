#include "tracing_core/filter/directive_list.h"

#include <algorithm>
#include <utility>

namespace tracing::inline v1::internal {
namespace {

bool precedes(Directive const& a, Directive const& b) noexcept { return compare_specificity(a, b) < 0; }
bool equivalent(Directive const& a, Directive const& b) noexcept { return compare_specificity(a, b) == 0; }

}  // namespace

DirectiveList::DirectiveList(std::vector<Directive> directives) : directives_(std::move(directives)) {
  for (Directive const& directive : directives_) max_level_ = std::max(max_level_, directive.level);
  std::stable_sort(directives_.begin(), directives_.end(), precedes);
  auto const first = std::unique(directives_.rbegin(), directives_.rend(), equivalent).base();
  directives_.erase(directives_.begin(), first);
  index();
}

void DirectiveList::add(Directive directive) {
  max_level_ = std::max(max_level_, directive.level);
  auto const place = std::lower_bound(directives_.begin(), directives_.end(), directive, precedes);
  if (place != directives_.end() && equivalent(*place, directive)) {
    *place = std::move(directive);
  } else {
    directives_.insert(place, std::move(directive));
  }
  index();
}

void DirectiveList::index() {
  rows_.clear();
  rows_.reserve(directives_.size());
  for (Directive const& directive : directives_) {
    bool const values = std::any_of(directive.fields.begin(), directive.fields.end(),
                                    [](FieldMatch const& field) { return field.value.has_value(); });
    rows_.push_back({directive.target ? TargetPrefix(*directive.target) : TargetPrefix(), directive.level,
                     !directive.fields.empty(), values});
  }
}

void DirectiveList::append_to(std::string& out) const {
  for (Directive const& directive : directives_) {
    if (&directive != directives_.data()) out += ',';
    directive.append_to(out);
  }
}

bool StaticDirectives::fields_apply(std::size_t row, Metadata const& metadata) const noexcept {
  auto const& wanted = directives_[row].fields;
  return metadata.is_span() || std::all_of(wanted.begin(), wanted.end(), [&metadata](FieldMatch const& field) {
           return metadata.fields().contains(field.name);
         });
}

bool StaticDirectives::enabled(Metadata const& metadata) const noexcept {
  TargetKey const key(metadata.target());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row const& row = rows_[i];
    if (!row.prefix.begins(key)) continue;
    if (row.has_fields && !fields_apply(i, metadata)) continue;
    return metadata.level() <= row.level;
  }
  return false;
}

bool StaticDirectives::target_enabled(std::string_view target, Level level) const noexcept {
  TargetKey const key(target);
  for (Row const& row : rows_) {
    if (!row.has_fields && row.prefix.begins(key)) return level <= row.level;
  }
  return false;
}

}  // namespace tracing::inline v1::internal
