#include "tracing_core/filter/static_directives.h"

#include <algorithm>
#include <utility>

namespace tracing::inline v1::internal {
namespace {

// Orders as compare_specificity() does: the more specific directive is the lesser one.
std::weak_ordering order(StaticDirective const& a, StaticDirective const& b) noexcept {
  auto const target_size = [](StaticDirective const& d) { return d.target ? d.target->size() + 1 : 0; };
  if (auto const by_size = target_size(b) <=> target_size(a); by_size != 0) return by_size;
  if (auto const by_fields = b.fields.size() <=> a.fields.size(); by_fields != 0) return by_fields;
  if (auto const by_target = b.target <=> a.target; by_target != 0) return by_target;
  return b.fields <=> a.fields;
}

bool precedes(StaticDirective const& a, StaticDirective const& b) noexcept { return order(a, b) < 0; }

}  // namespace

void StaticDirective::append_to(std::string& out) const {
  if (target) out += *target;
  for (std::size_t i = 0; i < fields.size(); ++i) out.append(i == 0 ? "[{" : ",").append(fields[i]);
  if (!fields.empty()) out += "}]";
  if (target || !fields.empty()) out += '=';
  out += name(level);
}

StaticDirectives::StaticDirectives(std::vector<StaticDirective> directives) : directives_(std::move(directives)) {
  for (StaticDirective const& directive : directives_) max_level_ = std::max(max_level_, directive.level);
  std::stable_sort(directives_.begin(), directives_.end(), precedes);
  auto const same = [](StaticDirective const& a, StaticDirective const& b) { return order(a, b) == 0; };
  auto const first = std::unique(directives_.rbegin(), directives_.rend(), same).base();
  directives_.erase(directives_.begin(), first);
  index();
}

void StaticDirectives::add(StaticDirective directive) {
  max_level_ = std::max(max_level_, directive.level);
  auto const place = std::lower_bound(directives_.begin(), directives_.end(), directive, precedes);
  if (place != directives_.end() && order(*place, directive) == 0) {
    *place = std::move(directive);
  } else {
    directives_.insert(place, std::move(directive));
  }
  index();
}

void StaticDirectives::index() {
  rows_.clear();
  rows_.reserve(directives_.size());
  for (StaticDirective const& directive : directives_) {
    rows_.push_back({directive.target ? TargetPrefix(*directive.target) : TargetPrefix(), directive.level,
                     !directive.fields.empty()});
  }
}

bool StaticDirectives::fields_apply(std::size_t row, Metadata const& metadata) const noexcept {
  auto const& wanted = directives_[row].fields;
  return metadata.is_span() || std::all_of(wanted.begin(), wanted.end(), [&metadata](std::string const& field) {
           return metadata.fields().contains(field);
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

void StaticDirectives::append_to(std::string& out) const {
  for (StaticDirective const& directive : directives_) {
    if (&directive != directives_.data()) out += ',';
    directive.append_to(out);
  }
}

}  // namespace tracing::inline v1::internal
