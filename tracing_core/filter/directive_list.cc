#include "tracing_core/filter/directive_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tracing { inline namespace v1 { namespace internal {
namespace {

bool precedes(Directive const& a, Directive const& b) noexcept { return compare_specificity(a, b) < 0; }

std::string_view target_of(Directive const& directive) noexcept {
  return directive.target ? std::string_view(*directive.target) : std::string_view();
}

// A small key to sort a directive by. It holds what compare_specificity() compares first.
struct SortKey {
  std::string_view target;
  std::uint32_t shape;  // has a target, has a span, and the number of fields
  std::uint32_t index;

  SortKey(Directive const& d, std::size_t i) noexcept
      : target(target_of(d)),
        shape(std::uint32_t{d.target.has_value()} << 31 | std::uint32_t{d.span.has_value()} << 30 |
              static_cast<std::uint32_t>(d.fields.size())),
        index(static_cast<std::uint32_t>(i)) {}
};

std::weak_ordering compare(SortKey const& a, SortKey const& b, std::vector<Directive> const& directives) noexcept {
  if (a.target.size() != b.target.size()) return b.target.size() <=> a.target.size();
  if (a.shape != b.shape) return b.shape <=> a.shape;
  if (int const order = b.target.compare(a.target); order != 0) return order <=> 0;
  return compare_specificity(directives[a.index], directives[b.index]);
}

}  // namespace

DirectiveList::DirectiveList(std::vector<Directive> directives) {
  std::vector<SortKey> keys;
  keys.reserve(directives.size());
  for (Directive const& directive : directives) {
    keys.emplace_back(directive, keys.size());
    max_level_ = std::max(max_level_, directive.level);
  }
  std::sort(keys.begin(), keys.end(), [&directives](SortKey const& a, SortKey const& b) {
    auto const order = compare(a, b, directives);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  directives_.reserve(keys.size());
  prefixes_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + 1 < keys.size() && compare(keys[i], keys[i + 1], directives) == 0) continue;
    prefixes_.emplace_back(keys[i].target);
    directives_.push_back(std::move(directives[keys[i].index]));
  }
}

void DirectiveList::add(Directive directive) {
  max_level_ = std::max(max_level_, directive.level);
  auto const place = std::lower_bound(directives_.begin(), directives_.end(), directive, precedes);
  if (place != directives_.end() && compare_specificity(*place, directive) == 0) {
    *place = std::move(directive);
  } else {
    prefixes_.insert(prefixes_.begin() + (place - directives_.begin()), TargetPrefix(target_of(directive)));
    directives_.insert(place, std::move(directive));
  }
}

std::size_t DirectiveList::find(TargetKey const& key, std::size_t begin) const noexcept {
  auto const may_begin = [key](TargetPrefix const& prefix) { return prefix.may_begin(key); };
  auto const at = static_cast<std::ptrdiff_t>(begin);
  for (auto found = prefixes_.begin() + at;; ++found) {
    found = std::find_if(found, prefixes_.end(), may_begin);
    auto const i = static_cast<std::size_t>(found - prefixes_.begin());
    if (i == size() || key.text().starts_with(target_of(directives_[i]))) return i;
  }
}

void DirectiveList::append_to(std::string& out) const {
  for (Directive const& directive : directives_) {
    if (&directive != directives_.data()) out += ',';
    directive.append_to(out);
  }
}

bool StaticDirectives::enabled(Metadata const& metadata) const noexcept {
  auto const applies = [&metadata](Directive const& directive) {
    return metadata.is_span() || std::all_of(directive.fields.begin(), directive.fields.end(),
                                             [&](FieldMatch const& f) { return metadata.fields().contains(f.name); });
  };
  if (metadata.is_for_caller()) {
    TargetKey const part(metadata.module_path());
    for (std::size_t i = find(part, 0); i < size() && !target_of(directives_[i]).empty(); i = find(part, i + 1)) {
      if (applies(directives_[i])) return metadata.level() <= directives_[i].level;
    }
  }
  TargetKey const key(metadata.target());
  for (std::size_t i = find(key, 0); i < size(); i = find(key, i + 1)) {
    if (applies(directives_[i])) return metadata.level() <= directives_[i].level;
  }
  return false;
}

bool StaticDirectives::target_enabled(std::string_view target, Level level) const noexcept {
  TargetKey const key(target);
  for (std::size_t i = find(key, 0); i < size(); i = find(key, i + 1)) {
    if (directives_[i].fields.empty()) return level <= directives_[i].level;
  }
  return false;
}

}}}  // namespace tracing::v1::internal
