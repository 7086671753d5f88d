// Encoding: how OTLP is written, as JSON or as protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/otlp/otlp_model.h"

namespace testlog::cli::otlp {

enum class Signal : std::uint8_t { traces, logs };

/// Encodes spans and log records one by one, then those of a process, and then a request of several processes.
/// Stateless.
class Encoding {
 public:
  Encoding() = default;
  Encoding(Encoding const&) = delete;
  Encoding& operator=(Encoding const&) = delete;
  virtual ~Encoding() = default;

  virtual std::string encoded(Span const& span) const = 0;
  virtual std::string encoded(LogRecord const& record) const = 0;
  /// Returns ResourceSpans or ResourceLogs with these encoded spans or log records.
  virtual std::string of_resource(Signal signal, Resource const& resource,
                                  std::vector<std::string> const& items) const = 0;
  /// Returns an ExportTraceServiceRequest or an ExportLogsServiceRequest with what of_resource() returned.
  virtual std::string request(Signal signal, std::vector<std::string> const& resources) const = 0;
};

// ---- for the encodings ----

inline constexpr char const* kScope = "testlog";
inline constexpr int kInternal = 1;  // the kind of all spans

/// Returns the flags of a span: sampled, and whether its parent is in another process, which is known.
constexpr int flags_of(Span const& span) noexcept {
  constexpr int kSampled = 1, kIsRemoteKnown = 0x100, kIsRemote = 0x200;
  return kSampled | kIsRemoteKnown | (span.has_remote_parent ? kIsRemote : 0);
}

/// JSON as OTLP has it: ids in hexadecimal, 64-bit integers as strings, enumerations as numbers. Sources:
/// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
Encoding const& json_encoding();
/// Source: https://github.com/open-telemetry/opentelemetry-proto, files trace.proto and logs.proto, v1.
Encoding const& protobuf_encoding();

}  // namespace testlog::cli::otlp
