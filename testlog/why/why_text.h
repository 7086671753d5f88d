// Prints the causes of a failing test, as text and as JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "testlog/why/why.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::why {

/// The facts about a test that are printed.
struct Explanation {
  std::string test{};
  std::size_t failing = 0, passing = 0;  ///< runs
  std::vector<Cause> causes{};
  Ignored ignored{};
};

/// Compares the runs of a test.
Explanation explain(std::string const& test, ComparedTest const& runs);

/// Returns a line for a cause, without a line end:
///
///     session:wait "waited": in_time is false; true in 3 of 3 passing runs (pool_test.cc:21, main, +1.204 ms before
///     ...)
std::string line_of(Cause const& cause, std::size_t passing);

inline constexpr std::size_t kMaxLines = 10;
/// Returns a headline and the lines of the first `max_lines` causes, numbered. If there are more, the last line says
/// that `more` has them.
std::string text_of(Explanation const& explanation, std::size_t max_lines = kMaxLines, bool is_coloured = false,
                    std::string_view more = "--json");
/// Appends an object; docs/why.md describes it. It has all causes.
void append_json(tracing::TextBuffer& out, Explanation const& explanation);

}  // namespace testlog::why
