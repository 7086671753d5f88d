#include "tracing_core/filter/static_directives.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tracing::inline v1::internal {
namespace {

// A directive with a target, even an empty one, precedes one without.
std::size_t target_size(StaticDirective const& d) noexcept { return d.target ? d.target->size() + 1 : 0; }

// The order of compare_specificity(): the more specific directive is the lesser one.
std::weak_ordering order(StaticDirective const& a, StaticDirective const& b) noexcept {
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

// Sorts small keys instead of the large directives, since the keys almost always differ.
StaticDirectives::StaticDirectives(std::vector<StaticDirective> directives) {
  struct Key {
    std::string_view target;
    std::size_t target_size;
    std::uint32_t field_count;
    std::uint32_t index;
  };
  std::vector<Key> keys(directives.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    StaticDirective const& directive = directives[i];
    keys[i] = {directive.target ? std::string_view(*directive.target) : std::string_view(), target_size(directive),
               static_cast<std::uint32_t>(directive.fields.size()), i};
    max_level_ = std::max(max_level_, directive.level);
  }
  std::sort(keys.begin(), keys.end(), [&directives](Key const& a, Key const& b) {
    if (a.target_size != b.target_size) return a.target_size > b.target_size;
    if (a.field_count != b.field_count) return a.field_count > b.field_count;
    if (int const text = a.target.compare(b.target); text != 0) return text > 0;
    auto const fields = order(directives[a.index], directives[b.index]);
    return fields != 0 ? fields < 0 : a.index < b.index;
  });
  directives_.reserve(keys.size());
  for (Key const& key : keys) {
    StaticDirective& directive = directives[key.index];
    if (!directives_.empty() && order(directives_.back(), directive) == 0) {
      directives_.back() = std::move(directive);
    } else {
      directives_.push_back(std::move(directive));
    }
  }
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
