// The spans and log records of OpenTelemetry's protocol (OTLP), in no encoding.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tracing_core/environment/trace_context.h"
#include "tracing_core/model/instant.h"

namespace testlog::cli::otlp {

using tracing::Instant;
using tracing::environment::TraceId;

struct Bytes {
  std::string bytes;
};
/// A value of an attribute.
struct Any {
  Any(std::string text) : value(std::move(text)) {}
  Any(char const* text) : value(std::string(text)) {}
  Any(bool x) : value(x) {}
  Any(std::int64_t x) : value(x) {}
  Any(double x) : value(x) {}
  Any(Bytes bytes) : value(std::move(bytes)) {}
  Any(std::vector<std::string> texts) : value(std::move(texts)) {}

  std::variant<std::string, bool, std::int64_t, double, Bytes, std::vector<std::string>> value;
};

struct Attribute {
  std::string key;
  Any value;
};
using Attributes = std::vector<Attribute>;

struct SpanEvent {
  Instant time{};
  std::string name{};
  Attributes attributes{};
};

struct Link {
  TraceId trace{};
  std::uint64_t span = 0;
  Attributes attributes{};
};

enum class StatusCode : std::uint8_t { unset = 0, ok = 1, error = 2 };

/// A span of kind INTERNAL.
struct Span {
  TraceId trace{};
  std::uint64_t id = 0, parent = 0;
  std::string trace_state{};
  bool has_remote_parent = false;
  std::string name{};
  Instant begin{}, end{};
  Attributes attributes{};
  std::uint32_t dropped_attributes = 0;
  std::vector<SpanEvent> events{};
  std::uint32_t dropped_events = 0;
  std::vector<Link> links{};
  StatusCode status = StatusCode::unset;
  std::string status_message{};
};

struct LogRecord {
  Instant time{};
  int severity = 0;
  std::string severity_text{};
  Any body = "";
  Attributes attributes{};
  std::uint32_t dropped_attributes = 0;
  TraceId trace{};
  std::uint64_t span = 0;
};

/// What the spans and log records of a process have in common.
struct Resource {
  Attributes attributes{};
};

}  // namespace testlog::cli::otlp
