// Declares redact(), which keeps the values of named fields out of everything that is recorded or printed.
#pragma once

#include <atomic>
#include <string_view>

namespace tracing::inline v1 {

inline constexpr std::string_view kRedactionToken = "***REDACTED***";

/// From now on no subscriber receives the values of what bears one of `names`, which stand with commas between them:
/// instead, every output prints `token`. An empty list hides nothing more.
///
/// A name hides fields of spans and events, members that TRACE_FIELDS names and values of maps in whose key it stands, at any
/// depth, and what a message prints of an expression that contains it: `password` also hides `user.password`, and the message's
/// value in TRACE_INFO("for {}", mask(password)), but not `password_age`. Upper case counts as lower case, and `->` as `.`:
/// `user.password` is also `user->password` and `(*user).password`, and the other way round. A member of what is recorded as a
/// whole is known by its own name. What a type prints of itself by fmt or operator<< is beyond it, and so is what was recorded
/// before.
///
/// Thread-safe. Costs a load for each span and event where nothing is hidden, and a search through the names where something
/// is. Lists that were replaced stay in memory.
void redact(std::string_view names, std::string_view token = kRedactionToken);

namespace internal {

class Redaction;
// Null where nothing is hidden.
[[gnu::visibility("hidden")]] extern constinit std::atomic<Redaction const*> the_redaction;
inline Redaction const* current_redaction() noexcept { return the_redaction.load(std::memory_order_acquire); }

/// Whether a field of this name, or an expression of this text, is to be hidden.
bool covers(Redaction const& redaction, std::string_view name) noexcept;
/// What is printed for a value of ValueKind::redacted.
std::string_view redaction_token() noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
