-- Test runs in ClickHouse: tables as the OpenTelemetry Collector's ClickHouse exporter makes them, a table that takes the lines of
-- `testlog export --otlp`, and views that answer questions. May be run again: tables stay, views are replaced. See docs/farm.md.

-- ---- tables: nothing happens if the Collector has made them ----

CREATE TABLE IF NOT EXISTS otel_traces (
  Timestamp DateTime64(9) CODEC(Delta, ZSTD(1)),
  TraceId String CODEC(ZSTD(1)),
  SpanId String CODEC(ZSTD(1)),
  ParentSpanId String CODEC(ZSTD(1)),
  TraceState String CODEC(ZSTD(1)),
  SpanName LowCardinality(String) CODEC(ZSTD(1)),
  SpanKind LowCardinality(String) CODEC(ZSTD(1)),
  ServiceName LowCardinality(String) CODEC(ZSTD(1)),
  ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  ScopeName String CODEC(ZSTD(1)),
  ScopeVersion String CODEC(ZSTD(1)),
  SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  Duration UInt64 CODEC(ZSTD(1)),
  StatusCode LowCardinality(String) CODEC(ZSTD(1)),
  StatusMessage String CODEC(ZSTD(1)),
  Events Nested (
    Timestamp DateTime64(9),
    Name LowCardinality(String),
    Attributes Map(LowCardinality(String), String)
  ) CODEC(ZSTD(1)),
  Links Nested (
    TraceId String,
    SpanId String,
    TraceState String,
    Attributes Map(LowCardinality(String), String)
  ) CODEC(ZSTD(1)),
  INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX idx_res_attr_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_span_attr_value mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_duration Duration TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS otel_logs (
  Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
  TimestampTime DateTime DEFAULT toDateTime(Timestamp),
  TraceId String CODEC(ZSTD(1)),
  SpanId String CODEC(ZSTD(1)),
  TraceFlags UInt8,
  SeverityText LowCardinality(String) CODEC(ZSTD(1)),
  SeverityNumber UInt8,
  ServiceName LowCardinality(String) CODEC(ZSTD(1)),
  Body String CODEC(ZSTD(1)),
  ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
  ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
  ScopeName String CODEC(ZSTD(1)),
  ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
  ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX idx_res_attr_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_scope_attr_key mapKeys(ScopeAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_scope_attr_value mapValues(ScopeAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_log_attr_key mapKeys(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_log_attr_value mapValues(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX idx_body Body TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 8
) ENGINE = MergeTree
PARTITION BY toDate(TimestampTime)
PRIMARY KEY (ServiceName, TimestampTime)
ORDER BY (ServiceName, TimestampTime, Timestamp)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1;

-- ---- loading: INSERT INTO otlp_requests FORMAT JSONEachRow, with lines of `testlog export --otlp` and `--otlp-logs` ----

-- A line of OTLP/JSON. The table keeps nothing: the views below it write into the tables above. The value of an attribute has one
-- entry, such as {'intValue': '42'}.
CREATE TABLE IF NOT EXISTS otlp_requests (
  resourceSpans Array(Tuple(
    resource Tuple(attributes Array(Tuple(key String, value Map(String, String)))),
    scopeSpans Array(Tuple(
      scope Tuple(name String, version String),
      spans Array(Tuple(
        traceId String, spanId String, parentSpanId String, traceState String, name String, kind UInt8,
        startTimeUnixNano UInt64, endTimeUnixNano UInt64,
        attributes Array(Tuple(key String, value Map(String, String))),
        events Array(Tuple(
          timeUnixNano UInt64, name String, attributes Array(Tuple(key String, value Map(String, String))))),
        links Array(Tuple(
          traceId String, spanId String, traceState String,
          attributes Array(Tuple(key String, value Map(String, String))))),
        status Tuple(message String, code UInt8))))))),
  resourceLogs Array(Tuple(
    resource Tuple(attributes Array(Tuple(key String, value Map(String, String)))),
    scopeLogs Array(Tuple(
      scope Tuple(name String, version String),
      logRecords Array(Tuple(
        timeUnixNano UInt64, severityNumber UInt8, severityText String, body Map(String, String),
        attributes Array(Tuple(key String, value Map(String, String))),
        traceId String, spanId String))))))
) ENGINE = Null;

-- Returns a value as the Collector writes it into its tables: a list is JSON, all else is plain text.
CREATE FUNCTION IF NOT EXISTS otlp_text AS (value) ->
  if(mapContains(value, 'arrayValue'),
     toJSONString(arrayMap(x -> JSONExtractString(x, 'stringValue'), JSONExtractArrayRaw(value['arrayValue'], 'values'))),
     mapValues(value)[1]);
CREATE FUNCTION IF NOT EXISTS otlp_attributes AS (attributes) ->
  CAST(arrayMap(one -> (one.key, otlp_text(one.value)), attributes), 'Map(LowCardinality(String), String)');

CREATE MATERIALIZED VIEW IF NOT EXISTS otlp_requests_to_traces TO otel_traces AS
WITH
  arrayJoin(resourceSpans) AS of_resource,
  arrayJoin(of_resource.scopeSpans) AS of_scope,
  arrayJoin(of_scope.spans) AS span
SELECT
  fromUnixTimestamp64Nano(toInt64(span.startTimeUnixNano)) AS Timestamp,
  span.traceId AS TraceId,
  span.spanId AS SpanId,
  span.parentSpanId AS ParentSpanId,
  span.traceState AS TraceState,
  span.name AS SpanName,
  ['Unspecified', 'Internal', 'Server', 'Client', 'Producer', 'Consumer'][span.kind + 1] AS SpanKind,
  ResourceAttributes['service.name'] AS ServiceName,
  otlp_attributes(of_resource.resource.attributes) AS ResourceAttributes,
  of_scope.scope.name AS ScopeName,
  of_scope.scope.version AS ScopeVersion,
  otlp_attributes(span.attributes) AS SpanAttributes,
  span.endTimeUnixNano - span.startTimeUnixNano AS Duration,
  ['Unset', 'Ok', 'Error'][span.status.code + 1] AS StatusCode,
  span.status.message AS StatusMessage,
  arrayMap(event -> fromUnixTimestamp64Nano(toInt64(event.timeUnixNano)), span.events) AS `Events.Timestamp`,
  arrayMap(event -> event.name, span.events) AS `Events.Name`,
  arrayMap(event -> otlp_attributes(event.attributes), span.events) AS `Events.Attributes`,
  arrayMap(link -> link.traceId, span.links) AS `Links.TraceId`,
  arrayMap(link -> link.spanId, span.links) AS `Links.SpanId`,
  arrayMap(link -> link.traceState, span.links) AS `Links.TraceState`,
  arrayMap(link -> otlp_attributes(link.attributes), span.links) AS `Links.Attributes`
FROM otlp_requests;

CREATE MATERIALIZED VIEW IF NOT EXISTS otlp_requests_to_logs TO otel_logs AS
WITH
  arrayJoin(resourceLogs) AS of_resource,
  arrayJoin(of_resource.scopeLogs) AS of_scope,
  arrayJoin(of_scope.logRecords) AS record
SELECT
  fromUnixTimestamp64Nano(toInt64(record.timeUnixNano)) AS Timestamp,
  record.traceId AS TraceId,
  record.spanId AS SpanId,
  record.severityText AS SeverityText,
  record.severityNumber AS SeverityNumber,
  ResourceAttributes['service.name'] AS ServiceName,
  otlp_text(record.body) AS Body,
  otlp_attributes(of_resource.resource.attributes) AS ResourceAttributes,
  of_scope.scope.name AS ScopeName,
  of_scope.scope.version AS ScopeVersion,
  otlp_attributes(record.attributes) AS LogAttributes
FROM otlp_requests;

-- ---- questions: SELECT * FROM testlog_causes(days = 30) ----

-- The results of tests. A recording that was loaded twice counts once.
CREATE OR REPLACE VIEW testlog_tests AS
SELECT
  Timestamp,
  Duration,
  toString(ServiceName) AS Program,
  toString(SpanName) AS Test,
  SpanAttributes['test.case.result.status'] = 'fail' AS IsFailed,
  multiIf(SpanAttributes['testlog.result'] != '', SpanAttributes['testlog.result'], IsFailed, 'failed', 'passed') AS Result,
  if(IsFailed, if(SpanAttributes['testlog.cause'] != '', SpanAttributes['testlog.cause'], StatusMessage), '') AS Cause,
  StatusMessage AS Message,
  ResourceAttributes['vcs.ref.head.revision'] AS Revision,
  ResourceAttributes['vcs.ref.head.name'] AS Branch,
  ResourceAttributes['cicd.pipeline.run.id'] AS Run,
  ResourceAttributes['host.name'] AS Host,
  Links.TraceId[1] AS Inside,  -- the trace of what happened in the test
  if(notEmpty(Events.Timestamp), Events.Timestamp[1], addNanoseconds(Timestamp, Duration)) AS FailedAt
FROM otel_traces
WHERE ScopeName = 'testlog' AND mapContains(SpanAttributes, 'test.case.name') AND ParentSpanId != ''
  AND Timestamp > now() - toIntervalDay({days:UInt32})
LIMIT 1 BY SpanId;

-- Tests that failed, by cause: failures have one cause if its text differs at most in numbers.
CREATE OR REPLACE VIEW testlog_causes AS
SELECT
  argMax(tests.Cause, tests.Timestamp) AS Cause,
  uniqExact(tests.Program, tests.Test) AS Tests,
  count() AS Failures,
  uniqExact(tests.Revision) AS Revisions,
  min(tests.Timestamp) AS First,
  max(tests.Timestamp) AS Last,
  arraySort(groupUniqArray(5)(tests.Test)) AS Examples
FROM testlog_tests(days = {days:UInt32}) AS tests
WHERE tests.IsFailed
GROUP BY replaceRegexpAll(tests.Cause, '[0-9]+', '0')
ORDER BY Failures DESC, Cause;

-- Tests that both passed and failed at one revision, with the first such revision and the last before it at which the test never
-- failed. Runs whose revision is not known do not count.
CREATE OR REPLACE VIEW testlog_flaky AS
SELECT
  of.Program AS Program,
  of.Test AS Test,
  sum(of.Failures) AS Failures,
  sum(of.Passes) AS Passes,
  argMinIf(of.Revision, of.Begin, of.IsMixed) AS FirstBadRevision,
  minIf(of.Begin, of.IsMixed) AS Since,
  arraySort(arrayFilter(one -> one.1 < Since, groupArrayIf((of.Begin, of.Revision), of.Failures = 0)))[-1].2
    AS LastGoodRevision
FROM (
  SELECT
    Program, Test, Revision, min(Timestamp) AS Begin, countIf(IsFailed) AS Failures,
    countIf(Result = 'passed') AS Passes, Failures > 0 AND Passes > 0 AS IsMixed
  FROM testlog_tests(days = {days:UInt32})
  WHERE Revision != ''
  GROUP BY Program, Test, Revision) AS of
GROUP BY of.Program, of.Test
HAVING max(of.IsMixed)
ORDER BY Failures DESC, Program, Test;

-- What runs of a test that failed have before their failure and runs that passed have not, as `testlog why` does it, without its
-- rules for orders, threads and durations. A site is a span, or the message of an event without its numbers. A value counts if all
-- passing runs have the same values there, so ids and addresses drop out. Score is the share of failing runs less the share of
-- passing runs, with one run added to each that counts half. At least two passing runs are needed.
CREATE OR REPLACE VIEW testlog_why AS
WITH
  runs AS (
    SELECT Inside, IsFailed, FailedAt FROM testlog_tests(days = {days:UInt32})
    WHERE Test = {test:String} AND (IsFailed OR Result = 'passed')),
  records AS (
    SELECT TraceId, Timestamp, SpanAttributes AS Fields, toString(SpanName) AS Name FROM otel_traces
    WHERE TraceId IN (SELECT Inside FROM runs) AND ParentSpanId != ''
    UNION ALL
    SELECT TraceId, Timestamp, LogAttributes AS Fields, concat('"', replaceRegexpAll(Body, '[0-9]+', '0'), '"') AS Name
    FROM otel_logs
    WHERE TraceId IN (SELECT Inside FROM runs)),
  -- With an empty field: that the site occurs.
  features AS (
    SELECT
      records.TraceId AS Run, concat(records.Fields['testlog.target'], ' ', records.Name) AS Site,
      field.1 AS Field, field.2 AS Value, any(runs.IsFailed) AS IsFailed,
      max(toUnixTimestamp64Nano(runs.FailedAt) - toUnixTimestamp64Nano(records.Timestamp)) AS Before
    FROM records
    INNER JOIN runs ON runs.Inside = records.TraceId
    ARRAY JOIN arrayConcat([('', '')], arrayFilter(one -> NOT match(one.1, '^(thread|code|testlog)[.]'),
                                                   CAST(records.Fields, 'Array(Tuple(String, String))'))) AS field
    WHERE NOT runs.IsFailed OR records.Timestamp <= runs.FailedAt
    GROUP BY Run, Site, Field, Value),
  counted AS (
    SELECT
      Site, Field, Value, countIf(IsFailed) AS Failing, countIf(NOT IsFailed) AS Passing,
      quantileExactIf(0.5)(Before, IsFailed) AS BeforeFailureNs
    FROM features
    GROUP BY Site, Field, Value),
  places AS (
    SELECT
      Site, Field, uniqExactIf(Run, NOT IsFailed) AS PassingHere,
      arrayStringConcat(arraySort(groupUniqArrayIf(10)(Value, NOT IsFailed)), ', ') AS There
    FROM features
    GROUP BY Site, Field),
  totals AS (SELECT countIf(IsFailed) AS Failing, countIf(NOT IsFailed) AS Passing FROM runs),
  scored AS (
    SELECT
      counted.Site AS Site, counted.Field AS Field, counted.Value AS Value, places.There AS There,
      places.PassingHere AS PassingHere, counted.Failing AS Failing, counted.Passing AS Passing,
      counted.BeforeFailureNs AS BeforeFailureNs, totals.Failing AS FailingRuns, totals.Passing AS PassingRuns,
      (counted.Failing + 0.5) / (FailingRuns + 1) - (counted.Passing + 0.5) / (PassingRuns + 1) AS Difference,
      minIf(counted.Passing, counted.Passing > 0) OVER (PARTITION BY counted.Site, counted.Field) AS FewestPassing
    FROM counted
    INNER JOIN places ON places.Site = counted.Site AND places.Field = counted.Field
    CROSS JOIN totals)
SELECT
  multiIf(Field != '', 'value', Difference > 0, 'occurs', 'missing') AS Kind,
  Site, Field, Value AS Here, There, Failing, FailingRuns, Passing, PassingRuns,
  if(Failing = 0, NULL, BeforeFailureNs) AS BeforeFailureNs,
  round(abs(Difference), 3) AS Score
FROM scored
WHERE PassingRuns >= 2 AND FailingRuns >= 1
  AND if(Field = '', abs(Difference), Difference) >= 0.5
  AND (Field = '' OR (PassingHere > 0 AND FewestPassing = PassingHere))
ORDER BY Score DESC, BeforeFailureNs DESC, Site, Field, Here;

-- Spans inside tests whose median duration in the last days is at least a quarter larger than in the days before, the largest cost
-- first. Both times need three spans.
CREATE OR REPLACE VIEW testlog_slower AS
WITH
  tests AS (
    SELECT Inside, Program, Test, Timestamp > now() - toIntervalDay({days:UInt32}) AS IsNew
    FROM testlog_tests(days = {days:UInt32} + {before:UInt32})
    WHERE Result = 'passed'),
  spans AS (
    SELECT TraceId, toString(SpanName) AS Span, Duration FROM otel_traces
    WHERE TraceId IN (SELECT Inside FROM tests) AND ParentSpanId != '' AND NOT mapContains(SpanAttributes, 'testlog.is_open')
    LIMIT 1 BY SpanId)
SELECT
  tests.Program AS Program, tests.Test AS Test, spans.Span AS Span,
  countIf(tests.IsNew) AS Count,
  quantileExactIf(0.5)(spans.Duration, NOT tests.IsNew) AS MedianBeforeNs,
  quantileExactIf(0.5)(spans.Duration, tests.IsNew) AS MedianNs,
  round(MedianNs / MedianBeforeNs, 2) AS Growth
FROM spans
INNER JOIN tests ON tests.Inside = spans.TraceId
GROUP BY Program, Test, Span
HAVING Count >= 3 AND countIf(NOT tests.IsNew) >= 3 AND MedianNs >= 1.25 * MedianBeforeNs
ORDER BY (MedianNs - MedianBeforeNs) * Count DESC, Program, Test, Span;
