#include "tracing_core/filter/dynamic_directives.h"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {
namespace {

// One of 256 lists.
std::size_t hash(Metadata const& span) noexcept {
  return reinterpret_cast<std::uintptr_t>(&span) * 0x9E3779B97F4A7C15u >> 56;
}

}  // namespace

bool value_matches(ValueMatch const& wanted, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::empty:
      return false;
    case ValueKind::boolean:
      return wanted.matches_bool(value.as_bool());
    case ValueKind::i64:
      return wanted.matches_i64(value.as_i64());
    case ValueKind::u64:
      return wanted.matches_u64(value.as_u64());
    case ValueKind::f64:
      return wanted.matches_f64(value.as_double());
    case ValueKind::f32:
      return wanted.matches_f32(static_cast<float>(value.as_double()));
    default:
      break;
  }
  if (wanted.is_pattern() && (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim)) {
    return wanted.matches_pattern(value.as_text());
  }
  if (!wanted.is_pattern() && !wanted.is_literal()) return false;
  InlineTextBuffer<256> printed;
  append_debug(printed, value);
  return wanted.is_pattern() ? wanted.matches_pattern(printed.view()) : wanted.matches_literal(printed.view());
}

CallsiteMatches::~CallsiteMatches() {
  for (auto& list : lists_) {
    for (Entry* entry = list.load(std::memory_order_relaxed); entry != nullptr;) {
      delete std::exchange(entry, entry->next);
    }
  }
}

CallsiteMatch const* CallsiteMatches::find(Metadata const& span) const noexcept {
  Entry const* entry = lists_[hash(span)].load(std::memory_order_acquire);
  while (entry != nullptr && entry->span != &span) entry = entry->next;
  return entry == nullptr ? nullptr : &entry->match;
}

CallsiteMatch const& CallsiteMatches::add(Metadata const& span, CallsiteMatch match) {
  // Threads that add the same callsite add equal entries, of which any may be found.
  auto& list = lists_[hash(span)];
  auto* const entry = new Entry{&span, std::move(match), list.load(std::memory_order_relaxed)};
  while (!list.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) continue;
  return entry->match;
}

DynamicDirectives::DynamicDirectives(std::vector<Directive> directives)
    : DirectiveList(std::move(directives)),
      has_values_(std::any_of(directives_.begin(), directives_.end(), std::mem_fn(&Directive::has_values))) {
  forget();
}

void DynamicDirectives::add(Directive directive) {
  has_values_ = has_values_ || directive.has_values();
  DirectiveList::add(std::move(directive));
  forget();
}

void DynamicDirectives::forget() {
  values_found_ = std::make_unique<std::atomic<bool>[]>(size());
  known_ = empty() ? nullptr : std::make_unique<CallsiteMatches>();
}

bool DynamicDirectives::values_found(std::size_t index) const noexcept {
  return values_found_[index].load(std::memory_order_relaxed);
}

std::size_t DynamicDirectives::find_match(Metadata const& span, std::size_t begin) const noexcept {
  auto const applies = [&span](Directive const& directive) {
    return (!directive.span || *directive.span == span.name()) &&
           std::all_of(directive.fields.begin(), directive.fields.end(),
                       [&](FieldMatch const& field) { return span.fields().contains(field.name); });
  };
  TargetKey const key(span.target());
  std::size_t i = find(key, begin);
  while (i < size() && !applies(directives_[i])) i = find(key, i + 1);
  return i;
}

CallsiteMatch DynamicDirectives::find_matches(Metadata const& span) const {
  CallsiteMatch match;
  for (std::size_t i = find_match(span, 0); i < size(); i = find_match(span, i + 1)) {
    Directive const& directive = directives_[i];
    match.any = true;
    if (!directive.has_values()) match.level = std::max(match.level, directive.level);
    for (auto field = directive.fields.begin(); field != directive.fields.end(); ++field) {
      // If a directive names a field several times, the last value counts.
      bool const again = std::any_of(field + 1, directive.fields.end(), [&field](FieldMatch const& later) {
        return later.value && later.name == field->name;
      });
      if (!field->value || again) continue;
      auto const index = static_cast<std::uint32_t>(span.fields().index_of(field->name));
      match.awaited.push_back({static_cast<std::uint32_t>(i), index, &*field->value});
    }
  }
  return match;
}

CallsiteMatch const* DynamicDirectives::known(Metadata const& span) const noexcept {
  // The address of a callsite that was made at run time may later be that of another one.
  if (known_ == nullptr || span.parts().owned) return nullptr;
  if (CallsiteMatch const* const match = known_->find(span)) return match;
  try {
    return &known_->add(span, find_matches(span));
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

bool DynamicDirectives::matches(Metadata const& span) const noexcept {
  CallsiteMatch const* const match = known(span);
  return match != nullptr ? match->any : find_match(span, 0) < size();
}

SpanMatch DynamicDirectives::match(FieldValues const& values) const {
  CallsiteMatch const* const known_match = known(values.metadata());
  SpanMatch match(*this, known_match != nullptr ? *known_match : find_matches(values.metadata()));
  match.record(values);
  return match;
}

void SpanMatch::record(FieldValues const& values) noexcept {
  for (auto group = waiting_.begin(); group != waiting_.end();) {
    std::uint32_t const directive = group->directive;
    auto end = std::find_if(group, waiting_.end(),
                            [directive](auto const& awaited) { return awaited.directive != directive; });
    auto const last = std::remove_if(group, end, [&values](auto const& awaited) {
      return value_matches(*awaited.value, values.value(awaited.field));
    });
    if (last == group) {
      directives_->values_found_[directive].store(true, std::memory_order_relaxed);
      LevelFilter const level = directives_->directives_[directive].level;
      level_.store(std::max(this->level(), level), std::memory_order_relaxed);
    }
    group = waiting_.erase(last, end);
  }
}

}  // namespace tracing::inline v1::internal
