// redact() keeps the values of named fields out of everything that is recorded or printed.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

inline constexpr std::string_view kRedactionToken = "***REDACTED***";

/// Hides values from now on: subscribers do not receive the values of fields with one of `names`, a list separated by
/// commas, and every output prints `token` instead. An empty list ends this.
///
/// Compares names exactly, with the field's name or the part of it after a dot: `password` hides the fields `password`
/// and `user.password`, but not `Password` or `password_age`. An underscore at the end does not count, so `password`
/// also hides a member `password_`. Hides
///
/// * fields of spans and events;
/// * at any depth, members listed by TRACE_FIELDS, values of map entries whose key is the name, and the second element
///   of a pair whose first element is the name;
/// * arguments of a message that are just such a variable or member: TRACE_INFO("for {}", user->password).
///
/// Does not hide what a message prints of other expressions, such as `mask(password)`, what a type prints by fmt or
/// operator<<, or what was recorded before.
///
/// Thread-safe. Costs one load for each span and event while nothing is hidden, and a search through the names
/// otherwise. Replaced lists stay in memory.
void redact(std::string_view names, std::string_view token = kRedactionToken);

namespace internal {

/// Returns a name without an underscore at its end, which only says that the variable is a member.
constexpr std::string_view without_underscore(std::string_view name) noexcept {
  std::size_t const size = name.size();
  if (size > 1 && name[size - 1] == '_' && name[size - 2] != '_' && name[size - 2] != '.') name.remove_suffix(1);
  return name;
}

struct Redaction;
// Null until something is hidden.
[[gnu::visibility("hidden")]] extern constinit std::atomic<Redaction const*> the_redaction;
inline Redaction const* current_redaction() noexcept { return the_redaction.load(std::memory_order_acquire); }

/// True if the value of a field with this name must be hidden.
bool covers(Redaction const& redaction, std::string_view field) noexcept;
/// True if redact() currently hides a field with this name.
bool is_hidden(std::string_view field) noexcept;
/// Returns the text printed for a value of ValueKind::redacted.
std::string_view redaction_token() noexcept;

}  // namespace internal
}}  // namespace tracing::v1
