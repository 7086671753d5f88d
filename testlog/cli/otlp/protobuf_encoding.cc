#include <bit>
#include <cstddef>
#include <new>

#include "testlog/cli/otlp/otlp_encoding.h"
#include "tracing_core/export/timeline/proto_writer.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::cli::otlp {
namespace {

using tracing::recording::ProtoWriter;
using Out = tracing::InlineTextBuffer<1024>;

std::string text_of(Out const& out) {
  if (out.truncated()) throw std::bad_alloc();
  return std::string(out.view());
}

std::uint64_t nanoseconds(Instant time) noexcept { return time.ns < 0 ? 0 : static_cast<std::uint64_t>(time.ns); }

std::string bytes_of(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}
std::string bytes_of(TraceId id) { return bytes_of(id.high) + bytes_of(id.low); }

// Appends the value of an AnyValue.
struct AppendValue {
  void operator()(std::string const& text) { proto.text(1, text); }
  void operator()(bool x) { proto.number(2, x ? 1 : 0); }
  void operator()(std::int64_t x) { proto.integer(3, x); }
  void operator()(double x) { proto.real(4, x); }
  void operator()(Bytes const& bytes) { proto.bytes(7, bytes.bytes); }
  void operator()(std::vector<std::string> const& texts) {
    proto.message(5, [&] {
      for (std::string const& text : texts) proto.message(1, [&] { proto.text(1, text); });
    });
  }

  ProtoWriter& proto;
};

void append_value(ProtoWriter& proto, std::uint32_t field, Any const& value) {
  proto.message(field, [&] { std::visit(AppendValue{proto}, value.value); });
}

void append_attributes(ProtoWriter& proto, std::uint32_t field, Attributes const& attributes) {
  for (auto const& attribute : attributes) {
    proto.message(field, [&] {
      proto.text(1, attribute.key);
      append_value(proto, 2, attribute.value);
    });
  }
}

void append_count(ProtoWriter& proto, std::uint32_t field, std::uint32_t count) {
  if (count != 0) proto.number(field, count);
}

// Appends a field of the type fixed32.
void append_fixed32(ProtoWriter& proto, std::uint32_t field, std::uint32_t value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[6];
  std::size_t size = 0;
  for (std::uint32_t key = field << 3 | 5; key != 0; key >>= 7)
    bytes[size++] = static_cast<char>(key >= 0x80 ? key | 0x80 : key);
  std::string field_bytes(bytes, size);
  field_bytes.append(reinterpret_cast<char const*>(&value), sizeof(value));
  proto.encoded(field_bytes);
}

void append_event(ProtoWriter& proto, SpanEvent const& event) {
  proto.fixed(1, nanoseconds(event.time));
  proto.text(2, event.name);
  append_attributes(proto, 3, event.attributes);
}

void append_link(ProtoWriter& proto, Link const& link) {
  proto.bytes(1, bytes_of(link.trace));
  proto.bytes(2, bytes_of(link.span));
  append_attributes(proto, 4, link.attributes);
}

void append_span(ProtoWriter& proto, Span const& span) {
  proto.bytes(1, bytes_of(span.trace));
  proto.bytes(2, bytes_of(span.id));
  if (!span.trace_state.empty()) proto.text(3, span.trace_state);
  if (span.parent != 0) proto.bytes(4, bytes_of(span.parent));
  proto.text(5, span.name);
  proto.number(6, kInternal);
  proto.fixed(7, nanoseconds(span.begin));
  proto.fixed(8, nanoseconds(span.end));
  append_attributes(proto, 9, span.attributes);
  append_count(proto, 10, span.dropped_attributes);
  for (SpanEvent const& event : span.events) proto.message(11, [&] { append_event(proto, event); });
  append_count(proto, 12, span.dropped_events);
  for (Link const& link : span.links) proto.message(13, [&] { append_link(proto, link); });
  if (span.status != StatusCode::unset) {
    proto.message(15, [&] {
      if (!span.status_message.empty()) proto.text(2, span.status_message);
      proto.number(3, static_cast<std::uint64_t>(span.status));
    });
  }
  append_fixed32(proto, 16, static_cast<std::uint32_t>(flags_of(span)));
}

void append_record(ProtoWriter& proto, LogRecord const& record) {
  proto.fixed(1, nanoseconds(record.time));
  proto.number(2, static_cast<std::uint64_t>(record.severity));
  proto.text(3, record.severity_text);
  append_value(proto, 5, record.body);
  append_attributes(proto, 6, record.attributes);
  append_count(proto, 7, record.dropped_attributes);
  proto.bytes(9, bytes_of(record.trace));
  if (record.span != 0) proto.bytes(10, bytes_of(record.span));
  proto.fixed(11, nanoseconds(record.time));
}

class Protobuf final : public Encoding {
 public:
  std::string encoded(Span const& span) const override {
    Out out;
    ProtoWriter proto(out);
    append_span(proto, span);
    return text_of(out);
  }
  std::string encoded(LogRecord const& record) const override {
    Out out;
    ProtoWriter proto(out);
    append_record(proto, record);
    return text_of(out);
  }
  // Traces and logs have the same numbers of fields down to the spans and the log records.
  std::string of_resource(Signal, Resource const& resource, std::vector<std::string> const& items) const override {
    Out out;
    ProtoWriter proto(out);
    proto.message(1, [&] { append_attributes(proto, 1, resource.attributes); });
    proto.message(2, [&] {
      proto.message(1, [&] {
        proto.text(1, kScope);
        proto.text(2, TESTLOG_VERSION);
      });
      for (std::string const& item : items) proto.bytes(2, item);
    });
    return text_of(out);
  }
  std::string request(Signal, std::vector<std::string> const& resources) const override {
    Out out;
    ProtoWriter proto(out);
    for (std::string const& one : resources) proto.bytes(1, one);
    return text_of(out);
  }
};

}  // namespace

Encoding const& protobuf_encoding() {
  static Protobuf const protobuf;
  return protobuf;
}

}  // namespace testlog::cli::otlp
