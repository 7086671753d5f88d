#include "tracing_core/filter/env_filter.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_level.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {
namespace {

// Writes the line that the reference prints, followed by the position and a correction.
void report(std::vector<ParseError> const& errors, std::string_view text) {
  std::string out;
  for (ParseError const& error : errors) {
    std::string const shown = render(error, text, {});
    out.append("ignoring `").append(error.piece).append("`: ").append(error.message);
    out.append(shown, shown.find('\n')).append("\n");
  }
  if (out.empty()) return;
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, out.data(), out.size());
}

ValueSyntax syntax_of(EnvFilterOptions const& options) noexcept {
  if (!options.regex) return ValueSyntax::printed;
  return options.literal_text ? ValueSyntax::text_or_regex : ValueSyntax::regex;
}

// Reads the values of a directive that was parsed elsewhere, by this syntax.
void read_values(Directive& directive, ValueSyntax syntax) {
  for (FieldMatch& field : directive.fields) {
    if (field.value) field.value = field.value->read_as(syntax);
  }
}

// A span's state is either its final level, as an odd number, or the address of a match that waits for values. Spans
// that match no directive have no state.
struct WaitingSpan {
  support::Mutex mutex;       // serializes the calls of record()
  internal::SpanMatch match;  // the level may be read at any time
};

std::uintptr_t state_of(LevelFilter level) noexcept { return static_cast<std::uintptr_t>(level) << 1 | 1; }

WaitingSpan* waiting(std::uintptr_t state) noexcept {
  return (state & 1) != 0 ? nullptr : reinterpret_cast<WaitingSpan*>(state);
}

LevelFilter level_of(std::uintptr_t state) noexcept {
  WaitingSpan const* const span = waiting(state);
  return span == nullptr ? static_cast<LevelFilter>(state >> 1) : span->match.level();
}

}  // namespace

std::optional<EnvFilter> EnvFilter::parse(std::string_view text, Options const& options, ParseError* error) {
  auto parsed = parse_directives(text, syntax_of(options));
  if (parsed.errors.empty()) return EnvFilter(std::move(parsed.directives), options);
  if (error != nullptr) *error = std::move(parsed.errors.front());
  return std::nullopt;
}

EnvFilter EnvFilter::parse_lossy(std::string_view text, Options const& options, std::vector<ParseError>* errors) {
  auto parsed = parse_directives(text, syntax_of(options));
  if (errors == nullptr) {
    report(parsed.errors, text);
  } else {
    std::move(parsed.errors.begin(), parsed.errors.end(), std::back_inserter(*errors));
  }
  return EnvFilter(std::move(parsed.directives), options);
}

EnvFilter EnvFilter::from_env(Options const& options, std::vector<ParseError>* errors) {
  char const* const text = secure_getenv(options.variable);
  return parse_lossy(text == nullptr ? "" : text, options, errors);
}

EnvFilter::EnvFilter(std::string_view text)
    : EnvFilter(parse_lossy(text, {.default_directive = Directive::parse("error")})) {}

EnvFilter::EnvFilter(std::vector<Directive> directives, Options const& options) {
  rules_.syntax = syntax_of(options);
  if (directives.empty() && options.default_directive) {
    directives.push_back(*options.default_directive);
    read_values(directives.back(), rules_.syntax);
  }
  // Static directives stay where they are, since most directives of a large filter are static.
  std::vector<Directive> dynamics;
  auto end = directives.begin();
  for (Directive& directive : directives) {
    bool const is_static = directive.is_static();
    if (directive.is_dynamic()) dynamics.push_back(is_static ? directive : std::move(directive));
    if (!is_static) continue;
    if (&*end != &directive) *end = std::move(directive);
    ++end;
  }
  directives.erase(end, directives.end());
  rules_.statics = internal::StaticDirectives(std::move(directives));
  rules_.has_dynamics = !dynamics.empty();
  rules_.dynamics = std::make_unique<internal::DynamicDirectives>(std::move(dynamics));
  rules_.dynamic_max_level = rules_.dynamics->max_level();
}

EnvFilter& EnvFilter::add_directive(Directive directive) & {
  read_values(directive, rules_.syntax);
  if (directive.is_static()) {
    rules_.statics.add(std::move(directive));
    return *this;
  }
  rules_.dynamics->add(std::move(directive));
  rules_.dynamic_max_level = rules_.dynamics->max_level();
  rules_.has_dynamics = true;
  return *this;
}

std::string EnvFilter::to_string() const {
  std::string out;
  rules_.statics.append_to(out);
  if (!rules_.statics.empty() && !rules_.dynamics->empty()) out += ',';
  rules_.dynamics->append_to(out);
  return out;
}

Interest EnvFilter::callsite_enabled(Metadata const& metadata) noexcept {
  // A span that a directive may match is enabled whatever its level, because it decides about the records inside it.
  if (rules_.has_dynamics && metadata.is_span() && rules_.dynamics->matches(metadata)) return Interest::always;
  if (rules_.statics.enabled(metadata)) return Interest::always;
  return rules_.has_dynamics ? Interest::sometimes : Interest::never;
}

bool EnvFilter::enabled(Metadata const& metadata) noexcept {
  Level const level = metadata.level();
  if (level <= rules_.dynamic_max_level) {
    if (level <= internal::current_level(rules_.number)) return true;
    if (metadata.is_span() && rules_.dynamics->matches(metadata)) return true;
  }
  return level <= rules_.statics.max_level() && rules_.statics.enabled(metadata);
}

bool EnvFilter::enabled_now(Metadata const& metadata) noexcept {
  return metadata.level() <= internal::current_level(rules_.number);
}

bool EnvFilter::decides_by_thread_level() noexcept {
  return rules_.has_dynamics && internal::claim_thread_level(rules_.number);
}

LevelFilter EnvFilter::max_level_hint() const noexcept {
  if (rules_.dynamics->has_values()) return LevelFilter::trace;
  return std::max(rules_.statics.max_level(), rules_.dynamic_max_level);
}

void EnvFilter::on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept {
  if (!rules_.dynamics->matches(span.metadata())) return;
  try {
    internal::SpanMatch match = rules_.dynamics->match(span.fields);
    state = match.is_waiting() ? reinterpret_cast<std::uintptr_t>(new WaitingSpan{{}, std::move(match)})
                               : state_of(match.level());
  } catch (std::bad_alloc const&) {
    state = 0;  // as if no directive matched
  }
}

void EnvFilter::on_record(FieldValues const& values, std::uintptr_t& state) noexcept {
  WaitingSpan* const span = waiting(state);
  if (span == nullptr) return;
  support::MutexLock const lock(span->mutex);
  span->match.record(values);
}

void EnvFilter::on_enter(std::uintptr_t state) noexcept { internal::push_level(rules_.owner, level_of(state)); }

void EnvFilter::on_exit(std::uintptr_t) noexcept { internal::pop_level(rules_.owner); }

void EnvFilter::on_close(std::uintptr_t state) noexcept { delete waiting(state); }

}}  // namespace tracing::v1
