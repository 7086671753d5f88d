// Reads the variables of OpenTelemetry.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/otlp/otlp_encoding.h"

namespace testlog::cli::otlp {

/// Returns the value of a variable, or null if it is not set.
using GetVariable = char const* (*)(char const* name);

struct KeyValue {
  std::string key, value;
};
/// Reads `a=1,b=2`, in which `%20` is a blank. If the list is bad, returns nothing and appends why to `reports`.
std::vector<KeyValue> read_list(std::string const& variable, std::string_view list, std::string& reports);

/// Where requests of a signal are sent, and how.
struct Endpoint {
  std::string server{};  ///< `http://127.0.0.1:4318`
  std::string path{};    ///< `/v1/traces`
  std::vector<KeyValue> headers{};
  std::chrono::milliseconds timeout{10'000};  ///< for a request with its repetitions
  bool is_compressed = false;
  bool is_json = false;  ///< otherwise protobuf
};

/// Reads the OTEL_EXPORTER_OTLP_ variables of a signal. `url`, if it is not empty, wins over
/// OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` or `/v1/logs` is added to both, but not to
/// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and OTEL_EXPORTER_OTLP_LOGS_ENDPOINT. Appends what is wrong to `reports`: a bad
/// value counts as unset, but without a valid URL, returns nothing.
std::optional<Endpoint> read_endpoint(Signal signal, std::string const& url, GetVariable get, std::string& reports);

/// Returns true if OTEL_SDK_DISABLED is `true`.
bool is_disabled(GetVariable get);

}  // namespace testlog::cli::otlp
