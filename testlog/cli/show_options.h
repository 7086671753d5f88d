// ShowOptions: what `testlog show` prints, and how.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
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
  std::string time = "utc";
  std::vector<tracing::SpanEvents> span_events;
  std::string threads;  ///< patterns of names, and numbers
  std::string since, until;
  std::string grep;
  bool follow = false;
  Screen screen;
};

/// Adds them to the command.
void add_show_options(CLI::App& command, ShowOptions& options);

/// Throws UsageError if a time or an expression is wrong. `start`: when the first recording began.
LineOptions lines_of(ShowOptions const& options, tracing::Instant start);

/// Passes to `out` the lines that --grep wants. Throws UsageError if its expression is wrong.
std::function<void(std::string_view)> grepped(ShowOptions const& options, std::function<void(std::string_view)> out);

/// The moment that `--since` or `--until` names: `1.5s`, `200ms`, `10us` or `2m` after `start`, or as the lines have it,
/// `2026-01-08T23:56:09.977Z`; none if it is neither.
std::optional<tracing::Instant> moment_of(std::string_view text, tracing::Instant start);

}  // namespace testlog::cli
