// write_files(), send(): export recordings as files of OTLP/JSON, or to a receiver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testlog/cli/recordings.h"

namespace testlog::cli::otlp {

using Recordings = std::vector<std::unique_ptr<OpenedRecording>>;

struct OtlpOptions {
  std::string filter = "trace";
  bool span_events = false;
};

/// Writes the spans, the log records or both, a request on each line: to the file at each path that is not empty; `-`
/// is standard output. Reports errors. Returns a Status.
int write_files(Recordings const& files, OtlpOptions const& options, std::string const& traces,
                std::string const& logs);
/// Sends the spans to a receiver: to `url` or, if that is empty, where the variables of OpenTelemetry say. Sends
/// events, too, if OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is set. Reports what a receiver did not take. Returns a Status.
int send(Recordings const& files, OtlpOptions const& options, std::string const& url);

}  // namespace testlog::cli::otlp
