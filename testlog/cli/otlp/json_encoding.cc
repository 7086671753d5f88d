#include <cmath>
#include <cstddef>
#include <span>

#include "testlog/cli/base64.h"
#include "testlog/cli/otlp/otlp_encoding.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli::otlp {
namespace {

using tracing::TextBuffer;
using tracing::environment::hex_of;

using Out = tracing::InlineTextBuffer<1024>;

std::string text_of(Out const& out) {
  if (out.truncated()) throw std::bad_alloc();
  return std::string(out.view());
}

// Writes members of an object, or elements of an array, with commas between them.
class Members {
 public:
  explicit Members(TextBuffer& out, char open = '{') : out_(out), close_(open == '{' ? '}' : ']') {
    out_.push_back(open);
  }
  Members(Members const&) = delete;
  Members& operator=(Members const&) = delete;
  ~Members() { out_.push_back(close_); }

  TextBuffer& next() {
    if (!is_first_) out_.push_back(',');
    is_first_ = false;
    return out_;
  }
  TextBuffer& key(std::string_view name) {
    next();
    out_.push_back('"');
    out_.append(name);
    out_.append("\":");
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  void number(std::string_view name, std::int64_t value) { key(name).append_int(value); }
  // A number of 64 bits is a string, since a number of JSON may lose digits.
  void long_number(std::string_view name, std::int64_t value) {
    key(name).push_back('"');
    out_.append_int(value);
    out_.push_back('"');
  }
  void time(std::string_view name, Instant time) { long_number(name, time.ns < 0 ? 0 : time.ns); }
  void count(std::string_view name, std::uint32_t value) {
    if (value != 0) number(name, value);
  }

 private:
  TextBuffer& out_;
  char const close_;
  bool is_first_ = true;
};

struct AppendValue {
  void operator()(std::string const& text) { members.text("stringValue", text); }
  void operator()(bool x) { members.key("boolValue").append(x ? "true" : "false"); }
  void operator()(std::int64_t x) { members.long_number("intValue", x); }
  void operator()(double x) {
    if (std::isfinite(x)) return append_json_float(members.key("doubleValue"), x);
    members.text("doubleValue", std::isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
  }
  void operator()(Bytes const& bytes) { members.text("bytesValue", base64_of(bytes.bytes)); }
  void operator()(std::vector<std::string> const& texts) {
    Members array(members.key("arrayValue"));
    Members values(array.key("values"), '[');
    for (std::string const& text : texts) Members(values.next()).text("stringValue", text);
  }

  Members& members;
};

void append_value(TextBuffer& out, Any const& value) {
  Members members(out);
  std::visit(AppendValue{members}, value.value);
}

void append_attributes(Members& members, Attributes const& attributes) {
  if (attributes.empty()) return;
  Members list(members.key("attributes"), '[');
  for (auto const& [key, value] : attributes) {
    Members attribute(list.next());
    attribute.text("key", key);
    append_value(attribute.key("value"), value);
  }
}

void append_events(Members& span, std::vector<SpanEvent> const& events) {
  if (events.empty()) return;
  Members list(span.key("events"), '[');
  for (SpanEvent const& one : events) {
    Members event(list.next());
    event.time("timeUnixNano", one.time);
    event.text("name", one.name);
    append_attributes(event, one.attributes);
  }
}

void append_links(Members& span, std::vector<Link> const& links) {
  if (links.empty()) return;
  Members list(span.key("links"), '[');
  for (Link const& one : links) {
    Members link(list.next());
    link.text("traceId", hex_of(one.trace));
    link.text("spanId", hex_of(one.span));
    append_attributes(link, one.attributes);
  }
}

void append_span(Members& span, Span const& from) {
  span.text("traceId", hex_of(from.trace));
  span.text("spanId", hex_of(from.id));
  if (!from.trace_state.empty()) span.text("traceState", from.trace_state);
  if (from.parent != 0) span.text("parentSpanId", hex_of(from.parent));
  span.number("flags", flags_of(from));
  span.text("name", from.name);
  span.number("kind", kInternal);
  span.time("startTimeUnixNano", from.begin);
  span.time("endTimeUnixNano", from.end);
  append_attributes(span, from.attributes);
  span.count("droppedAttributesCount", from.dropped_attributes);
  append_events(span, from.events);
  span.count("droppedEventsCount", from.dropped_events);
  append_links(span, from.links);
  if (from.status == StatusCode::unset) return;
  Members status(span.key("status"));
  if (!from.status_message.empty()) status.text("message", from.status_message);
  status.number("code", static_cast<int>(from.status));
}

void append_record(Members& record, LogRecord const& from) {
  record.time("timeUnixNano", from.time);
  record.time("observedTimeUnixNano", from.time);
  record.number("severityNumber", from.severity);
  record.text("severityText", from.severity_text);
  append_value(record.key("body"), from.body);
  append_attributes(record, from.attributes);
  record.count("droppedAttributesCount", from.dropped_attributes);
  record.text("traceId", hex_of(from.trace));
  if (from.span != 0) record.text("spanId", hex_of(from.span));
}

class Json final : public Encoding {
 public:
  std::string encoded(Span const& span) const override {
    Out out;
    {
      Members members(out);
      append_span(members, span);
    }
    return text_of(out);
  }
  std::string encoded(LogRecord const& record) const override {
    Out out;
    {
      Members members(out);
      append_record(members, record);
    }
    return text_of(out);
  }
  std::string of_resource(Signal signal, Resource const& resource,
                          std::vector<std::string> const& items) const override {
    Out out;
    {
      bool const traces = signal == Signal::traces;
      Members of_resource(out);
      {
        Members members(of_resource.key("resource"));
        append_attributes(members, resource.attributes);
      }
      Members scopes(of_resource.key(traces ? "scopeSpans" : "scopeLogs"), '[');
      Members of_scope(scopes.next());
      {
        Members scope(of_scope.key("scope"));
        scope.text("name", kScope);
        scope.text("version", TESTLOG_VERSION);
      }
      Members all(of_scope.key(traces ? "spans" : "logRecords"), '[');
      for (std::string const& item : items) all.next().append(item);
    }
    return text_of(out);
  }
  std::string request(Signal signal, std::vector<std::string> const& resources) const override {
    Out out;
    {
      Members request(out);
      Members list(request.key(signal == Signal::traces ? "resourceSpans" : "resourceLogs"), '[');
      for (std::string const& one : resources) list.next().append(one);
    }
    return text_of(out);
  }
};

}  // namespace

Encoding const& json_encoding() {
  static Json const json;
  return json;
}

}  // namespace testlog::cli::otlp
