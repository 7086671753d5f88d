// ShowOptions: the options of `testlog show`.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"

namespace testlog::cli {

struct ShowOptions {
  Selection selection;
  std::string filter = "trace";
  tracing::FormatKind format = tracing::FormatKind::full;
  std::string report = "short";
  std::string time = "utc";
  std::vector<tracing::SpanEvents> span_events;
  std::string threads;  ///< patterns for names, and numbers
  std::string since, until;
  std::string grep;
  bool follow = false;
  bool brief = false;
  Screen screen;

  bool selects_records() const noexcept {
    return filter != "trace" || !threads.empty() || !since.empty() || !until.empty() || !grep.empty();
  }
};

/// Adds the options to the command.
void add_show_options(CLI::App& command, ShowOptions& options);

/// Throws UsageError if an option was given that `--brief` would ignore.
void check_brief(CLI::App const& command);

/// Returns the options as LineOptions. Throws UsageError if a time is wrong.
LineOptions lines_of(ShowOptions const& options);

/// Returns a function that passes to `out` the lines that --grep selects. Throws UsageError if its expression is wrong.
std::function<void(std::string_view)> grepped(ShowOptions const& options, std::function<void(std::string_view)> out);

/// A moment that `--since` or `--until` names.
struct Moment {
  bool is_relative = false;  ///< `ns` counts from the beginning of a test, or a recording; off: from 1970
  std::int64_t ns = 0;

  tracing::Instant after(tracing::Instant begin) const noexcept {
    std::int64_t sum = 0;
    if (!is_relative) return {ns};
    return {__builtin_add_overflow(begin.ns, ns, &sum) ? (ns < 0 ? INT64_MIN : INT64_MAX) : sum};
  }
};
/// Parses `1.5s`, `200ms`, `10us`, `2m` or, as in a report, `+1.204 ms`; or a time as in a line,
/// `2026-01-08T23:56:09.977Z`. Returns nothing for other texts.
std::optional<Moment> moment_of(std::string_view text);

}  // namespace testlog::cli
