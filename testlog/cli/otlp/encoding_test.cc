// The encodings of OTLP: JSON read by another library, protobuf read by the few lines below.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/otlp/otlp_encoding.h"
#include "testlog/cli/otlp/request_writer.h"

namespace testlog::cli::otlp { namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;

// A field of a protobuf message.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string bytes{};
};

std::uint64_t read_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !from.empty(); shift += 7) {
    auto const byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::vector<Field> fields_of(std::string_view from) {
  std::vector<Field> fields;
  while (!from.empty()) {
    std::uint64_t const key = read_varint(from);
    Field field{.number = static_cast<unsigned>(key >> 3)};
    unsigned const type = key & 7;
    std::size_t size = type == 1 ? 8 : type == 5 ? 4 : 0;
    if (type == 0) field.value = read_varint(from);
    if (type == 2) size = read_varint(from);
    EXPECT_LE(size, from.size());
    field.bytes = from.substr(0, size);
    if (type == 1 || type == 5) std::memcpy(&field.value, field.bytes.data(), size);
    from.remove_prefix(std::min(size, from.size()));
    fields.push_back(std::move(field));
  }
  return fields;
}

// Returns the fields with this number in a message.
std::vector<Field> all(std::string_view message, unsigned number) {
  std::vector<Field> found;
  for (Field& field : fields_of(message))
    if (field.number == number) found.push_back(std::move(field));
  return found;
}
Field only(std::string_view message, unsigned number) {
  auto const found = all(message, number);
  EXPECT_THAT(found, SizeIs(1)) << "of field " << number;
  return found.empty() ? Field() : found.front();
}

Span a_span() {
  Span span{.trace = {0x0102030405060708, 0x090a0b0c0d0e0f10}, .id = 0x1112131415161718, .parent = 0x2122232425262728};
  span.trace_state = "a=1";
  span.name = "load \"a\"";
  span.begin = {1'700'000'000'000'000'001};
  span.end = {1'700'000'000'000'000'002};
  span.attributes = {{"text", "x\n\xff"},
                     {"yes", true},
                     {"least", std::numeric_limits<std::int64_t>::min()},
                     {"half", 0.5},
                     {"bytes", Bytes{std::string("\0\xff\x10\x20", 4)}},
                     {"causes", std::vector<std::string>{"a", "b"}}};
  span.dropped_attributes = 3;
  span.events = {{{1'700'000'000'000'000'003}, "exception", {{"exception.type", "assertion"}}}};
  span.dropped_events = 4;
  span.links = {{{1, 2}, 3, {}}};
  span.status = StatusCode::error;
  span.status_message = "failed";
  return span;
}

LogRecord a_record() {
  LogRecord record{.time = {1'700'000'000'000'000'003}, .severity = 17, .severity_text = "ERROR", .body = "said"};
  record.attributes = {{"n", std::int64_t{1}}};
  record.trace = {1, 2};
  record.span = 3;
  return record;
}

// Returns a request with an item of a resource.
std::string request_of(Encoding const& encoding, Signal signal, std::string const& item) {
  return encoding.request(signal, {encoding.of_resource(signal, {{{"service.name", "s"}}}, {item})});
}

TEST(JsonEncoding, HasTheFormsOfTheSpecification) {
  json const span = json::parse(json_encoding().encoded(a_span()));
  EXPECT_EQ(span, json::parse(R"({
    "traceId": "0102030405060708090a0b0c0d0e0f10", "spanId": "1112131415161718", "traceState": "a=1",
    "parentSpanId": "2122232425262728", "flags": 257, "name": "load \"a\"", "kind": 1,
    "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000000000000002",
    "attributes": [
      {"key": "text", "value": {"stringValue": "x\n\ufffd"}},
      {"key": "yes", "value": {"boolValue": true}},
      {"key": "least", "value": {"intValue": "-9223372036854775808"}},
      {"key": "half", "value": {"doubleValue": 0.5}},
      {"key": "bytes", "value": {"bytesValue": "AP8QIA=="}},
      {"key": "causes", "value": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}}}],
    "droppedAttributesCount": 3,
    "events": [{"timeUnixNano": "1700000000000000003", "name": "exception",
                "attributes": [{"key": "exception.type", "value": {"stringValue": "assertion"}}]}],
    "droppedEventsCount": 4,
    "links": [{"traceId": "00000000000000010000000000000002", "spanId": "0000000000000003"}],
    "status": {"message": "failed", "code": 2}})"));
}

TEST(JsonEncoding, HasNoMembersThatSayNothing) {
  Span span{.trace = {1, 2}, .id = 3};
  span.has_remote_parent = true;
  EXPECT_EQ(json::parse(json_encoding().encoded(span)), json::parse(R"({
    "traceId": "00000000000000010000000000000002", "spanId": "0000000000000003", "flags": 769, "name": "", "kind": 1,
    "startTimeUnixNano": "0", "endTimeUnixNano": "0"})"));
}

TEST(JsonEncoding, WritesBytesInBase64) {
  for (auto const& [bytes, expected] :
       {std::pair{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    Span span{.attributes = {{"b", Bytes{bytes}}}};
    json const encoded = json::parse(json_encoding().encoded(span));
    EXPECT_EQ(encoded["attributes"][0]["value"]["bytesValue"], expected);
  }
}

TEST(JsonEncoding, WritesNumbersThatAreNoneAsProtobufDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (auto const& [number, expected] :
       {std::pair{kInfinity, "Infinity"}, {-kInfinity, "-Infinity"}, {std::nan(""), "NaN"}}) {
    Span span{.attributes = {{"x", number}}};
    json const encoded = json::parse(json_encoding().encoded(span));
    EXPECT_EQ(encoded["attributes"][0]["value"]["doubleValue"], expected);
  }
}

TEST(JsonEncoding, PutsLogRecordsIntoARequest) {
  std::string const request = request_of(json_encoding(), Signal::logs, json_encoding().encoded(a_record()));
  EXPECT_EQ(request.find('\n'), request.npos) << "a request is one line";
  EXPECT_EQ(json::parse(request), json::parse(R"({"resourceLogs": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
    "scopeLogs": [{"scope": {"name": "testlog", "version": ")" TESTLOG_VERSION R"("}, "logRecords": [{
      "timeUnixNano": "1700000000000000003", "observedTimeUnixNano": "1700000000000000003", "severityNumber": 17,
      "severityText": "ERROR", "body": {"stringValue": "said"}, "attributes": [{"key": "n", "value": {"intValue": "1"}}],
      "traceId": "00000000000000010000000000000002", "spanId": "0000000000000003"}]}]}]})"));
}

TEST(ProtobufEncoding, HasTheFieldsOfTheSpecification) {
  std::string const request = request_of(protobuf_encoding(), Signal::traces, protobuf_encoding().encoded(a_span()));
  std::string const of_resource = only(request, 1).bytes;
  std::string const attribute = only(only(of_resource, 1).bytes, 1).bytes;
  EXPECT_EQ(only(attribute, 1).bytes, "service.name");
  EXPECT_EQ(only(only(attribute, 2).bytes, 1).bytes, "s");
  std::string const of_scope = only(of_resource, 2).bytes;
  EXPECT_EQ(only(only(of_scope, 1).bytes, 1).bytes, "testlog");
  std::string const span = only(of_scope, 2).bytes;
  EXPECT_EQ(only(span, 1).bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10");
  EXPECT_EQ(only(span, 2).bytes, "\x11\x12\x13\x14\x15\x16\x17\x18");
  EXPECT_EQ(only(span, 3).bytes, "a=1");
  EXPECT_EQ(only(span, 4).bytes, "\x21\x22\x23\x24\x25\x26\x27\x28");
  EXPECT_EQ(only(span, 5).bytes, "load \"a\"");
  EXPECT_EQ(only(span, 6).value, 1u);
  EXPECT_EQ(only(span, 7).value, 1'700'000'000'000'000'001u);
  EXPECT_EQ(only(span, 8).value, 1'700'000'000'000'000'002u);
  EXPECT_EQ(only(span, 10).value, 3u);
  EXPECT_EQ(only(only(span, 11).bytes, 1).value, 1'700'000'000'000'000'003u);
  EXPECT_EQ(only(only(span, 11).bytes, 2).bytes, "exception");
  EXPECT_EQ(only(span, 12).value, 4u);
  EXPECT_EQ(only(only(span, 13).bytes, 2).bytes, std::string("\0\0\0\0\0\0\0\3", 8));
  EXPECT_EQ(only(only(span, 15).bytes, 2).bytes, "failed");
  EXPECT_EQ(only(only(span, 15).bytes, 3).value, 2u);
  EXPECT_EQ(only(span, 16).value, 257u);
  auto const attributes = all(span, 9);
  ASSERT_THAT(attributes, SizeIs(6));
  std::vector<std::string> values;
  for (Field const& one : attributes) values.push_back(only(one.bytes, 2).bytes);
  EXPECT_EQ(only(values[0], 1).bytes, "x\n\xEF\xBF\xBD");
  EXPECT_EQ(only(values[1], 2).value, 1u);
  EXPECT_EQ(static_cast<std::int64_t>(only(values[2], 3).value), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::bit_cast<double>(only(values[3], 4).value), 0.5);
  EXPECT_EQ(only(values[4], 7).bytes, std::string("\0\xff\x10\x20", 4));
  auto const elements = all(only(values[5], 5).bytes, 1);
  ASSERT_THAT(elements, SizeIs(2));
  EXPECT_EQ(only(elements[1].bytes, 1).bytes, "b");
}

TEST(ProtobufEncoding, HasTheFieldsOfLogRecords) {
  std::string const record = protobuf_encoding().encoded(a_record());
  EXPECT_EQ(only(record, 1).value, 1'700'000'000'000'000'003u);
  EXPECT_EQ(only(record, 2).value, 17u);
  EXPECT_EQ(only(record, 3).bytes, "ERROR");
  EXPECT_EQ(only(only(record, 5).bytes, 1).bytes, "said");
  EXPECT_EQ(only(only(record, 6).bytes, 1).bytes, "n");
  EXPECT_EQ(only(record, 9).bytes, std::string("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2", 16));
  EXPECT_EQ(only(record, 10).bytes, std::string("\0\0\0\0\0\0\0\3", 8));
  EXPECT_EQ(only(record, 11).value, 1'700'000'000'000'000'003u);
}

// ---- requests ----

// Returns how many items each request has, after it has checked their sizes.
template <class Item>
std::vector<std::size_t> requests_of(Encoding const& encoding, std::vector<Item> items) {
  std::vector<std::size_t> counts;
  auto const count = [&counts](std::string_view request, std::size_t of_request) {
    EXPECT_LE(request.size(), RequestWriter::kMaxBytes);
    json const parsed = json::parse(request);
    counts.push_back(parsed.contains("resourceSpans") ? parsed["resourceSpans"][0]["scopeSpans"][0]["spans"].size()
                                                      : parsed["resourceLogs"][0]["scopeLogs"][0]["logRecords"].size());
    EXPECT_EQ(counts.back(), of_request);
  };
  RequestWriter writer({encoding, count}, {encoding, count});
  writer.begin_resource({{{"service.name", "s"}}});
  for (Item& item : items) writer.add(std::move(item));
  writer.flush();
  return counts;
}

TEST(RequestWriter, PutsAtMost512ItemsIntoARequest) {
  EXPECT_THAT(requests_of(json_encoding(), std::vector<Span>()), ElementsAre());
  EXPECT_THAT(requests_of(json_encoding(), std::vector<Span>(512)), ElementsAre(512));
  EXPECT_THAT(requests_of(json_encoding(), std::vector<Span>(1025)), ElementsAre(512, 512, 1));
  EXPECT_THAT(requests_of(json_encoding(), std::vector<LogRecord>(513)), ElementsAre(512, 1));
}

TEST(RequestWriter, PutsAtMost2MebibytesIntoARequest) {
  for (std::size_t const size : {std::size_t{5000}, std::size_t{700'000}, std::size_t{1} << 21}) {
    Span span;
    span.attributes = {{"a", 1.0}, {"b", std::string(size, 'x')}};
    std::size_t const count = 5'000'000 / size + 3;
    auto const counts = requests_of(json_encoding(), std::vector<Span>(count, span));
    EXPECT_EQ(counts.size() > 2, size < RequestWriter::kMaxBytes) << "of larger spans only the ids are left";
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), count) << size;
  }
}

TEST(RequestWriter, PutsManyProcessesIntoARequest) {
  for (std::size_t const text_bytes : {std::size_t{1}, std::size_t{20'000}}) {
    std::vector<std::size_t> counts;
    std::map<std::string, std::size_t> spans;  // by the name of their process
    RequestWriter writer({json_encoding(),
                          [&](std::string_view request, std::size_t items) {
                            EXPECT_LE(request.size(), RequestWriter::kMaxBytes);
                            counts.push_back(items);
                            json const parsed = json::parse(request);
                            for (json const& one : parsed["resourceSpans"])
                              spans[one["resource"]["attributes"][0]["value"]["stringValue"]] +=
                                  one["scopeSpans"][0]["spans"].size();
                          }},
                         {json_encoding(), nullptr});
    for (int process = 0; process < 300; ++process) {
      writer.begin_resource({{{"service.name", std::to_string(process)}, {"text", std::string(text_bytes, 'x')}}});
      for (int i = 0; i < process % 4; ++i) writer.add(Span());
    }
    writer.flush();
    if (text_bytes == 1) {
      EXPECT_THAT(counts, ElementsAre(450));
    }
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), 450u);
    EXPECT_EQ(spans["299"], 3u);
    EXPECT_EQ(spans["298"], 2u);
    EXPECT_THAT(spans, SizeIs(225)) << "the others have no spans";
  }
}

TEST(RequestWriter, CountsWhatMakesASpanTooLarge) {
  Span span;
  for (int i = 0; i < 8; ++i) {
    span.attributes.push_back({"a" + std::to_string(i), std::string(400'000, 'x')});
    span.events.push_back({{}, "e", {{"text", std::string(400'000, 'x')}}});
  }
  json written;
  RequestWriter writer(
      {json_encoding(), [&written](std::string_view request, std::size_t) { written = json::parse(request); }},
      {json_encoding(), nullptr});
  writer.begin_resource({});
  writer.add(std::move(span));
  writer.flush();
  json const& encoded = written["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(encoded["droppedEventsCount"], 8);
  EXPECT_EQ(encoded["droppedAttributesCount"], 4);
  EXPECT_EQ(encoded["attributes"].size(), 4u);
}

}}  // namespace testlog::cli::otlp
