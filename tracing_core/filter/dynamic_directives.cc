// A directive such as `gpu[launch{stream=7}]=trace` decides about records inside of spans. Its decision depends on the
// spans that the thread is in, and on values that may be recorded long after a span was created. To compare every
// record, or even only every new span, with every directive would be too slow: a filter may have a thousand directives.
//
// The idea is to ask each part of the question only when its answer can change.
//
// * Once per callsite: which directives can match its spans at all? Target, name and names of fields are constants of
//   the callsite. The answer is a CallsiteMatch: the most verbose level of the directives that require no values, and
//   the list of values that the other directives await, each with the index of its field.
// * Per span, when it is created and when it records values: SpanMatch has a copy of this list and removes each value
//   that it finds. Once a directive awaits no more values, the level of the span rises to the directive's level. Most
//   spans have an empty list, so they compare nothing.
// * Per thread, when it enters or leaves a span: EnvFilter pushes and pops the span's level (see thread_levels.h). A
//   record then compares its own level with a single number, and mostly does so in the callsite itself (see
//   dispatch/thread_level.h).
//
// A list of awaited values is sorted by directive, so record() treats the values of a directive as one group. A level
// never falls, and a value that was found once stays found, even if the span records another value for its field later.
// The awaited values point into the directives. So directives may only be added before the filter is in use, and add()
// drops all matches.
//
// CallsiteMatches are found by the address of the callsite's metadata and without a lock, because each thread looks
// there for each new span: entries are added at the head of a list and never removed while the filter lives. There are
// at most as many as the program has callsites of spans, unless several threads add one at the same time. A callsite
// made at run time is compared anew each time, since another callsite may get its address later. So is every callsite
// for whose entry there is no memory.
//
// The version before kept nothing per callsite and compared every new span with all directives. With 1,000 directives
// about other targets, a span then cost 209 ns instead of 33 ns, even with the prefixes of targets packed for a fast
// search.
#include "tracing_core/filter/dynamic_directives.h"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "tracing_core/filter/nearest.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// Returns the number of one of 256 lists.
std::size_t hash(Metadata const& span) noexcept {
  return reinterpret_cast<std::uintptr_t>(&span) * 0x9E3779B97F4A7C15u >> 56;
}

}  // namespace

bool value_matches(ValueMatch const& wanted, Value const& value) noexcept {
  auto const matches_printed = [&] {
    InlineTextBuffer<256> printed;
    append_debug(printed, value);
    return wanted.is_literal() ? wanted.matches_literal(printed.view()) : wanted.matches_text(printed.view());
  };
  auto const is_quoted = [&] { return wanted.is_quoted() && matches_printed(); };
  switch (value.kind()) {
    case ValueKind::empty: return false;
    case ValueKind::boolean: return wanted.matches_bool(value.as_bool()) || is_quoted();
    case ValueKind::i64: return wanted.matches_i64(value.as_i64()) || is_quoted();
    case ValueKind::u64: return wanted.matches_u64(value.as_u64()) || is_quoted();
    case ValueKind::f64: return wanted.matches_f64(value.as_double()) || is_quoted();
    case ValueKind::f32: return wanted.matches_f32(static_cast<float>(value.as_double())) || is_quoted();
    case ValueKind::text:
      if (wanted.is_literal()) return matches_printed();
      return wanted.is_pattern() && wanted.matches_text(value.as_text());
    case ValueKind::verbatim:
      if (!wanted.is_literal()) return wanted.matches_text(value.as_text());
      return matches_printed();
    default: return wanted.needs_printing() && matches_printed();
  }
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
  // Threads that add the same callsite add equal entries; find() may return any of them.
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
  seen_values_.clear();
  for (Directive const& directive : directives_)
    seen_values_.push_back(directive.has_values() ? std::make_unique<SeenValues>() : nullptr);
  known_ = empty() ? nullptr : std::make_unique<CallsiteMatches>();
}

bool DynamicDirectives::values_found(std::size_t index) const noexcept {
  return values_found_[index].load(std::memory_order_relaxed);
}

void DynamicDirectives::note_values(std::uint32_t directive, std::span<CallsiteMatch::Awaited const> awaited,
                                    FieldValues const& values) const noexcept {
  SeenValues& seen = *seen_values_[directive];
  if (values_found(directive) || !seen.wants_any()) return;
  std::uint64_t hash = 1;
  for (auto const& one : awaited) hash = SeenValues::hash_of(values.value(one.field), hash);
  if (!seen.wants(hash)) return;
  try {
    std::vector<SeenValue> kept;
    auto const& fields = directives_[directive].fields;
    for (auto const& one : awaited) {
      auto const field = std::find_if(fields.begin(), fields.end(), [&one](FieldMatch const& match) {
        return match.value && &*match.value == one.value;
      });
      kept.push_back(
          {static_cast<std::uint32_t>(field - fields.begin()), SeenValues::text_of(values.value(one.field))});
    }
    seen.add(hash, std::move(kept));
  } catch (std::bad_alloc const&) {  // then these values are not kept
  }
}

std::string DynamicDirectives::nearest_that_matches(std::size_t index) const {
  Directive const& directive = directives_[index];
  if (seen_values_[index] == nullptr) return {};
  std::vector<SeenValue> const* nearest = nullptr;
  std::size_t least = 0;
  seen_values_[index]->for_each([&](std::vector<SeenValue> const& values) {
    std::size_t distance = 0;
    for (SeenValue const& value : values) {
      std::string_view text = value.text;
      if (text.front() == '"') text = text.substr(1, text.size() - 2);
      distance += edit_distance(directive.fields[value.field].value->unquoted(), text);
    }
    if (nearest == nullptr || distance < least) nearest = &values, least = distance;
  });
  if (nearest == nullptr) return {};
  Directive found = directive;
  for (SeenValue const& value : *nearest) found.fields[value.field].value = ValueMatch::of_text(value.text);
  return found.to_string();
}

std::size_t DynamicDirectives::find_match(Metadata const& span, std::size_t begin) const noexcept {
  auto const applies = [&span](Directive const& directive) {
    return (!directive.span || *directive.span == span.name()) &&
           std::all_of(directive.fields.begin(), directive.fields.end(),
                       [&](FieldMatch const& field) { return span.fields().contains(field.name); });
  };
  auto const find_for = [&](std::string_view target) {
    TargetKey const key(target);
    std::size_t i = find(key, begin);
    while (i < size() && !applies(directives_[i])) i = find(key, i + 1);
    return i;
  };
  std::size_t const found = find_for(span.target());
  return span.is_for_caller() ? std::min(found, find_for(span.module_path())) : found;
}

CallsiteMatch DynamicDirectives::find_matches(Metadata const& span) const {
  CallsiteMatch match;
  for (std::size_t i = find_match(span, 0); i < size(); i = find_match(span, i + 1)) {
    Directive const& directive = directives_[i];
    match.any = true;
    if (!directive.has_values()) match.level = std::max(match.level, directive.level);
    for (auto field = directive.fields.begin(); field != directive.fields.end(); ++field) {
      // If a directive names a field several times, only the last value counts.
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
  // A callsite made at run time may be freed, and another callsite may then have its address.
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

bool DynamicDirectives::may_match(FieldValues const& values) const noexcept {
  CallsiteMatch const* const match = known(values.metadata());
  if (match == nullptr || match->level != LevelFilter::off) return true;
  auto const fits = [&values](CallsiteMatch::Awaited const& awaited) {
    Value const& value = values.value(awaited.field);
    return value.is_empty() || value_matches(*awaited.value, value);
  };
  for (auto group = match->awaited.begin(); group != match->awaited.end();) {
    auto const end = std::find_if(group, match->awaited.end(),
                                  [group](auto const& awaited) { return awaited.directive != group->directive; });
    if (std::all_of(group, end, fits)) return true;
    group = end;
  }
  return false;
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
    if (last != group) directives_->note_values(directive, {group, last}, values);
    group = waiting_.erase(last, end);
  }
}

}}}  // namespace tracing::v1::internal
