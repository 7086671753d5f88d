// redact() keeps the values of named fields out of everything that is recorded or printed.
#pragma once

#include <atomic>
#include <string_view>

namespace tracing::inline v1 {

inline constexpr std::string_view kRedactionToken = "***REDACTED***";

/// From now on subscribers do not receive the values of fields with one of `names`, a list separated by commas: every
/// output prints `token` instead. An empty list ends this.
///
/// Names are compared exactly, with the field's name or the part of it after a dot: `password` hides the fields
/// `password` and `user.password`, not `Password` or `password_age`. It hides fields of spans and events; at any depth
/// members listed by TRACE_FIELDS, values of map entries whose key is that text, and the second element of a pair whose
/// first is that text; and arguments of a message that are just that variable or member:
/// TRACE_INFO("for {}", user->password). It does not hide what a message prints of other expressions, such as
/// `mask(password)`, what a type prints by fmt or operator<<, or what was recorded before.
///
/// Thread-safe. Costs one load for each span and event while nothing is hidden, and a search through the names
/// otherwise. Replaced lists stay in memory.
void redact(std::string_view names, std::string_view token = kRedactionToken);

namespace internal {

struct Redaction;
// Null until something is hidden.
[[gnu::visibility("hidden")]] extern constinit std::atomic<Redaction const*> the_redaction;
inline Redaction const* current_redaction() noexcept { return the_redaction.load(std::memory_order_acquire); }

/// Whether the value of a field with this name must be hidden.
bool covers(Redaction const& redaction, std::string_view field) noexcept;
/// The same by what redact() hides now.
bool is_hidden(std::string_view field) noexcept;
/// The text printed for a value of ValueKind::redacted.
std::string_view redaction_token() noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
