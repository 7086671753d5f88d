// ClickHouse reads what `testlog export --otlp` and `--otlp-http` write as the recording has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/cli/otlp/clickhouse_test_support.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/otlp_server_test_support.h"
#include "testlog/cli/otlp/run_facts.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/tests.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::otlp { namespace {

using nlohmann::json;
using testing::SizeIs;
using tracing::Value;
using tracing::ValueKind;
using tracing::environment::hex_of;
using tracing::environment::TraceIds;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

// Returns a value as the Collector writes it into its tables, and its type in OTLP.
std::pair<std::string, char const*> text_and_type(Value const& value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  switch (value.kind()) {
    case ValueKind::boolean: return {value.as_bool() ? "true" : "false", "boolValue"};
    case ValueKind::i64: return {std::to_string(value.as_i64()), "intValue"};
    case ValueKind::u64: return {std::to_string(value.as_u64()), value.as_u64() > kMax ? "stringValue" : "intValue"};
    case ValueKind::f64:
    case ValueKind::f32: return {json(value.as_double()).dump(), "doubleValue"};
    case ValueKind::text:
    case ValueKind::verbatim: return {std::string(value.as_text()), "stringValue"};
    default: break;
  }
  tracing::InlineTextBuffer<128> text;
  value.kind() == ValueKind::message ? append_message(text, value) : append_debug(text, value);
  return {std::string(text.view()), "stringValue"};
}

// The rows that the tables must have, from the entries of a recording.
class Expected {
 public:
  explicit Expected(std::string const& path) {
    std::string error;
    recording_ = Recording::read_file(path, error);
    ids_ = std::make_unique<TraceIds>(facts_of(*recording_, path).identity);
    recording_->for_each([this](Entry const& entry) { add(entry); });
    for (auto const& [id, span] : spans_) {
      spans.push_back(span);
      types.push_back({{"SpanId", id}, {"Types", types_[id]}});
    }
  }

  std::vector<json> spans, types;  // by SpanId
  std::vector<json> events;        // by time
  std::vector<json> failures;

 private:
  void add(Entry const& entry) {
    std::string const id = hex_of(ids_->span(entry.span));
    if (begins_span(entry.type)) {
      std::uint64_t const parent = entry.parent == 0 ? ids_->around(entry.tag) : ids_->span(entry.parent);
      spans_[id] = {{"SpanId", id},
                    {"TraceId", hex_of(ids_->trace_of(entry.tag))},
                    {"ParentSpanId", hex_of(parent)},
                    {"SpanName", entry.metadata->name()},
                    {"Begin", entry.time.ns},
                    {"Links", json::array()}};
      add_place(spans_[id], entry);
    }
    if (begins_span(entry.type) || entry.type == EntryType::values) {
      add_fields(spans_[id], entry);
      types_[id].update(types_of(entry));
    }
    if (ends_span(entry.type)) spans_[id]["Duration"] = entry.time.ns - spans_[id]["Begin"].get<std::int64_t>();
    if (entry.type == EntryType::follows_from) {
      std::string const trace = hex_of(ids_->trace_of(entry.tag));
      spans_[id]["Links"].push_back(trace + " " + hex_of(ids_->span(entry.cause)));
    }
    if (entry.type == EntryType::event) add_event(entry, id);
    if (entry.type == EntryType::mark && entry.metadata->name() == "failure")
      failures.push_back({{"Time", entry.time.ns}, {"Message", text_of_field(entry, "message")}});
  }
  void add_event(Entry const& entry, std::string const& span) {
    json row{{"TraceId", hex_of(ids_->trace_of(entry.tag))}, {"SpanId", span}, {"Time", entry.time.ns}};
    row["SeverityText"] = name(entry.metadata->level());
    add_place(row, entry);
    add_fields(row, entry);
    row["Body"] = row["Fields"]["message"];
    row["Fields"].erase("message");
    events.push_back(row);
  }
  void add_place(json& row, Entry const& entry) const {
    row["Thread"] = recording_->thread(entry.track).name;
    row["Line"] = std::to_string(entry.metadata->line());
  }
  static void add_fields(json& row, Entry const& entry) {
    for (std::size_t i = 0; i < entry.fields().size(); ++i) {
      if (!entry.fields().value(i).is_empty())
        row["Fields"][std::string(entry.fields().name(i))] = text_and_type(entry.fields().value(i)).first;
    }
  }
  static json types_of(Entry const& entry) {
    json types = json::object();
    for (std::size_t i = 0; i < entry.fields().size(); ++i) {
      if (!entry.fields().value(i).is_empty())
        types[std::string(entry.fields().name(i))] = text_and_type(entry.fields().value(i)).second;
    }
    return types;
  }

  std::unique_ptr<Recording> recording_;
  std::unique_ptr<TraceIds> ids_;
  std::map<std::string, json> spans_, types_;
};

class Clickhouse : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_packages()) GTEST_SKIP() << kNoPackages;
  }

  tracing_test::TemporaryFolder const folder_;
};

constexpr char kSpans[] = R"(
  SELECT SpanId, TraceId, ParentSpanId, SpanName, toUnixTimestamp64Nano(Timestamp) AS Begin, Duration,
    SpanAttributes['thread.name'] AS Thread, SpanAttributes['code.line.number'] AS Line,
    mapFilter((key, value) -> NOT match(key, '^(thread|code|testlog)[.]'), SpanAttributes) AS Fields,
    arrayMap((trace, span) -> concat(trace, ' ', span), Links.TraceId, Links.SpanId) AS Links
  FROM otel_traces WHERE mapContains(SpanAttributes, 'testlog.target') ORDER BY SpanId)";
constexpr char kEvents[] = R"(
  SELECT TraceId, SpanId, toUnixTimestamp64Nano(Timestamp) AS Time, SeverityText, Body,
    LogAttributes['thread.name'] AS Thread, LogAttributes['code.line.number'] AS Line,
    mapFilter((key, value) -> NOT match(key, '^(thread|code|testlog)[.]'), LogAttributes) AS Fields
  FROM otel_logs ORDER BY Timestamp)";
constexpr char kFailures[] = R"(
  SELECT toUnixTimestamp64Nano(Events.Timestamp) AS Time, Events.Attributes['exception.message'] AS Message
  FROM otel_traces ARRAY JOIN Events)";

TEST_F(Clickhouse, HasEachRecordFieldByField) {
  record_typed(folder_ / "run.rec");
  Expected const expected(folder_ / "run.rec");
  ClickHouse const database;
  database.load(folder_ / "run.rec");
  EXPECT_EQ(json(database.ask(kSpans)), json(expected.spans));
  EXPECT_EQ(json(database.ask(kEvents)), json(expected.events));
  EXPECT_EQ(json(database.ask(kFailures)), json(expected.failures));
  EXPECT_THAT(expected.spans, SizeIs(3));
  EXPECT_THAT(expected.events, SizeIs(2));
}

// Replaces each `name` in a text.
std::string with(std::string text, std::string const& name, std::string const& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

// Reads a request in protobuf, by the few lines of testdata/otlp.proto, into a table with the columns of otel_traces.
std::string read_protobuf(std::string const& path) {
  std::string const attributes =
      "Array(Tuple(key String, value Tuple(stringValue Nullable(String), boolValue Nullable(Bool), "
      "intValue Nullable(Int64), doubleValue Nullable(Float64))))";
  std::string sql = R"(
    SET format_schema = 'SOURCES/testlog/testdata/otlp.proto:ExportTraceServiceRequest';
    CREATE TABLE protobuf_spans ENGINE = Memory AS
    WITH arrayJoin(resourceSpans) AS of_resource, arrayJoin(of_resource.scopeSpans) AS of_scope
    SELECT of_resource.resource AS resource, of_scope.scope AS scope, arrayJoin(of_scope.spans) AS span
    FROM file('PATH', ProtobufSingle, 'resourceSpans Array(Tuple(resource Tuple(attributes ATTRIBUTES), scopeSpans Array(Tuple(
      scope Tuple(name String, version String), spans Array(Tuple(
        traceId String, spanId String, parentSpanId String, name String, kind UInt8, startTimeUnixNano UInt64,
        endTimeUnixNano UInt64, attributes ATTRIBUTES, status Tuple(message String, code UInt8),
        events Array(Tuple(timeUnixNano UInt64, name String, attributes ATTRIBUTES)),
        links Array(Tuple(traceId String, spanId String))))))))');
    CREATE FUNCTION protobuf_attributes AS (attributes) -> CAST(arrayMap(one -> (one.key, coalesce(
      one.value.stringValue, toString(one.value.boolValue), toString(one.value.intValue), toString(one.value.doubleValue), '')),
      attributes), 'Map(LowCardinality(String), String)');
    CREATE TABLE protobuf_traces AS otel_traces;
    INSERT INTO protobuf_traces SELECT
      fromUnixTimestamp64Nano(span.startTimeUnixNano::Int64), lower(hex(span.traceId)), lower(hex(span.spanId)),
      lower(hex(span.parentSpanId)), '', span.name, if(span.kind = 1, 'Internal', 'unexpected'),
      protobuf_attributes(resource.attributes)['service.name'], protobuf_attributes(resource.attributes), scope.name,
      scope.version, protobuf_attributes(span.attributes), span.endTimeUnixNano - span.startTimeUnixNano,
      ['Unset', 'Ok', 'Error'][span.status.code + 1], span.status.message,
      arrayMap(event -> fromUnixTimestamp64Nano(event.timeUnixNano::Int64), span.events),
      arrayMap(event -> event.name, span.events), arrayMap(event -> protobuf_attributes(event.attributes), span.events),
      arrayMap(link -> lower(hex(link.traceId)), span.links), arrayMap(link -> lower(hex(link.spanId)), span.links),
      arrayMap(link -> '', span.links), arrayMap(link -> map(), span.links)
    FROM protobuf_spans;)";
  return with(with(with(sql, "SOURCES", TESTLOG_SOURCE_DIR), "PATH", path), "ATTRIBUTES", attributes);
}

constexpr char kTypesInProtobuf[] = R"(
  SELECT lower(hex(span.spanId)) AS SpanId, CAST(arrayFilter(one -> NOT match(one.1, '^(thread|code|testlog)[.]'),
    arrayMap(one -> (one.key, multiIf(
      one.value.stringValue IS NOT NULL, 'stringValue', one.value.boolValue IS NOT NULL, 'boolValue',
      one.value.intValue IS NOT NULL, 'intValue', one.value.doubleValue IS NOT NULL, 'doubleValue', 'none')),
      span.attributes)), 'Map(String, String)') AS Types
  FROM protobuf_spans WHERE arrayExists(one -> one.key = 'testlog.target', span.attributes) ORDER BY SpanId)";
constexpr char kTypesInJson[] = R"(
  SELECT span.spanId AS SpanId, CAST(arrayFilter(one -> NOT match(one.1, '^(thread|code|testlog)[.]'),
    arrayMap(one -> (one.key, mapKeys(one.value)[1]), span.attributes)), 'Map(String, String)') AS Types
  FROM (SELECT arrayJoin(arrayJoin(arrayJoin(resourceSpans).scopeSpans).spans) AS span FROM lines)
  WHERE arrayExists(one -> one.key = 'testlog.target', span.attributes) ORDER BY SpanId)";

TEST_F(Clickhouse, HasTheSameInProtobufAndTypes) {
  if (!HttpSender::is_available()) GTEST_SKIP() << "there is no cpp-httplib";
  record_typed(folder_ / "run.rec");
  Expected const expected(folder_ / "run.rec");
  Server server({kTaken});
  ASSERT_EQ(testdata::run_command("export", {folder_ / "run.rec", "--otlp-http", server.url()}).err, "");
  ClickHouse const database;
  database.load(folder_ / "run.rec");
  // Each request is a file of its own.
  auto const requests = server.requests();
  for (std::size_t i = 0; i < requests.size(); ++i)
    (void)folder_.write(std::to_string(i) + ".pb", body_of(requests[i]));
  EXPECT_EQ(json(database.ask(read_protobuf(folder_ / "*.pb") + kTypesInProtobuf)), json(expected.types));
  auto const different = database.ask(
      "SELECT * FROM otel_traces EXCEPT DISTINCT SELECT * FROM protobuf_traces;"
      "SELECT * FROM protobuf_traces EXCEPT DISTINCT SELECT * FROM otel_traces;"
      "SELECT count() AS Count FROM protobuf_traces");
  EXPECT_EQ(json(different), json::parse(R"([{"Count": 8}])"));
  std::string const lines =
      "CREATE TABLE lines AS otlp_requests ENGINE = Memory; INSERT INTO lines SELECT * FROM file('" +
      database.file("spans.jsonl") + "', JSONEachRow);";
  EXPECT_EQ(json(database.ask(lines + kTypesInJson)), json(expected.types));
}

TEST_F(Clickhouse, TakesAHundredThousandSpans) {
  constexpr int kTests = 20, kSpansOfTest = 5'000;
  {
    why::TestRecorder recorder(folder_ / "run.rec");
    for (int test = 0; test < kTests; ++test) {
      recorder.run("Many.Spans/" + std::to_string(test), [test] {
        for (int i = 0; i < kSpansOfTest; ++i) {
          TRACE_SPAN(info, "step", tracing::kv("number", test * kSpansOfTest + i));
        }
        return "passed";
      });
    }
  }
  std::uint64_t duration = 0, begins = 0;
  std::string error;
  Recording::read_file(folder_ / "run.rec", error)->for_each([&](Entry const& entry) {
    if (begins_span(entry.type)) begins += static_cast<std::uint64_t>(entry.time.ns);
    if (begins_span(entry.type)) duration -= static_cast<std::uint64_t>(entry.time.ns);
    if (ends_span(entry.type)) duration += static_cast<std::uint64_t>(entry.time.ns);
  });
  ClickHouse const database;
  database.load(folder_ / "run.rec");
  constexpr std::uint64_t kAll = std::uint64_t{kTests} * kSpansOfTest;
  EXPECT_EQ(json(database.ask("SELECT count() AS Count, uniqExact(SpanId) AS Ids, uniqExact(TraceId) AS Traces, "
                              "sum(toUInt64(SpanAttributes['number'])) AS Numbers, sum(Duration) AS Duration, "
                              "sum(toUnixTimestamp64Nano(Timestamp)::UInt64) AS Begins "
                              "FROM otel_traces WHERE SpanName = 'step'")),
            json::array({{{"Count", kAll},
                          {"Ids", kAll},
                          {"Traces", kTests},
                          {"Numbers", kAll * (kAll - 1) / 2},
                          {"Duration", duration},
                          {"Begins", begins}}}));
}

}}  // namespace testlog::cli::otlp
