// Declares how names in TRACE_REDACT are told from what can hardly be one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace testlog::inline v1 {

/// Without the blanks and line ends around it.
std::string_view trimmed(std::string_view text);

/// The first name of a list that hides nothing, or something else than was meant: with another sign than a comma between two,
/// in quotes, or a pattern.
std::optional<std::string_view> doubtful_name(std::string_view list);

/// The names that were meant, with commas between them; nothing where there is a pattern.
std::string meant_names(std::string_view list);

}  // namespace testlog::inline v1
