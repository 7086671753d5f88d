// write_files(), send(): export recordings as files of OTLP/JSON, or to a receiver.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/otlp/otel_variables.h"
#include "testlog/cli/recordings.h"

namespace testlog::cli::otlp {

/// The recordings are opened one after the other, since a ctest may leave 100,000 of them.
struct OtlpOptions {
  std::vector<std::string> recordings{};
  std::string filter = "trace";
  bool span_events = false;
  std::string command = "export";  ///< errors name it
  /// Called with each recording once it was read. May be null.
  std::function<void(OpenedRecording&)> each{};
};

/// Writes the spans, the log records or both, a request on each line: to the file at each path that is not empty; `-`
/// is standard output. Reports errors; a recording that cannot be read is left out. Returns a Status.
int write_files(OtlpOptions const& options, std::string const& traces, std::string const& logs);

/// Where spans and log records are sent; nothing: they are not.
struct Receivers {
  std::optional<Endpoint> traces{}, logs{};
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};
/// What was sent.
struct Sent {
  std::uint64_t spans = 0, records = 0, recordings = 0;
  bool is_complete = true;
  bool has_failed = false;  ///< a receiver did not take all, or could not be reached; rejected spans are no failure
  std::string problems{};   ///< a line for each thing that went wrong, without `testlog` before it
};
/// Sends until a receiver fails. Reports recordings that cannot be read, and leaves them out.
Sent send_to(Receivers const& receivers, OtlpOptions const& options);

/// Sends the spans to a receiver: to `url` or, if that is empty, where the variables of OpenTelemetry say. Sends
/// events, too, if OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is set. Reports what a receiver did not take. Returns a Status.
int send(OtlpOptions const& options, std::string const& url);

/// Returns the value of an environment variable, or null if it is not set.
char const* variable(char const* name) noexcept;
/// Returns each line with `testlog <command>: ` before it.
std::string with_command(std::string const& command, std::string_view lines);

}  // namespace testlog::cli::otlp
