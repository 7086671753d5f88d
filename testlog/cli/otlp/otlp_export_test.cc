// `testlog export --otlp` of runs of tests, compared with what their recordings say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recordings.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/record/tests.h"

namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using tracing_test::TemporaryFolder;

constexpr char kTraceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// A span or log record, and the resource of its request.
struct Item {
  json item, resource;
};

json value_of(json const& any) { return any.empty() ? json() : any.begin().value(); }

// Returns the value of an attribute; null if there is none.
json attribute(json const& of, std::string const& key) {
  json const attributes = of.is_object() ? of.value("attributes", json::array()) : json::array();
  for (json const& one : attributes)
    if (one["key"] == key) return value_of(one["value"]);
  return {};
}

std::vector<Item> read_items(std::string const& path, char const* resources, char const* scopes, char const* items) {
  std::vector<Item> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    json const request = json::parse(line);
    for (json const& of_resource : request.at(resources)) {
      for (json const& of_scope : of_resource.at(scopes))
        for (json const& item : of_scope.at(items)) all.push_back({item, of_resource["resource"]});
    }
  }
  return all;
}

// The spans and log records that `testlog export` makes of scenarios.
struct Export {
  explicit Export(std::string const& filter, Variables variables = {}, std::vector<std::string> more = {}) {
    variables.insert(variables.begin(), {{"TRACE_RECORD", folder / "recordings/"}, {"TRACE_SHOW", "none"}});
    for (char const* const name : {"GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "BUILDKITE", "TEAMCITY_VERSION",
                                   "JENKINS_URL", "TEST_TARGET", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"}) {
      if (std::none_of(variables.begin(), variables.end(), [name](auto const& one) { return one.first == name; }))
        variables.emplace_back(name, "");
    }
    std::filesystem::create_directory(folder / "recordings");
    (void)run_scenarios(filter, variables);
    std::vector<std::string> words{TESTLOG_COMMAND,        "export",      folder / "recordings", "--otlp",
                                   folder / "spans.jsonl", "--otlp-logs", folder / "logs.jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    outcome = run(words, variables);
    spans = read_items(folder / "spans.jsonl", "resourceSpans", "scopeSpans", "spans");
    logs = read_items(folder / "logs.jsonl", "resourceLogs", "scopeLogs", "logRecords");
  }

  // Returns the spans with this name, by their beginnings.
  std::vector<json> named(std::string const& name) const {
    std::vector<json> found;
    for (Item const& one : spans)
      if (one.item["name"] == name) found.push_back(one.item);
    std::stable_sort(found.begin(), found.end(), [](json const& a, json const& b) {
      return a["startTimeUnixNano"].get<std::string>() < b["startTimeUnixNano"].get<std::string>();
    });
    return found;
  }
  json only(std::string const& name) const {
    auto const found = named(name);
    EXPECT_THAT(found, SizeIs(1)) << name;
    return found.empty() ? json() : found[0];
  }
  json by_id(json const& id) const {
    for (Item const& one : spans)
      if (one.item["spanId"] == id) return one.item;
    return {};
  }
  // Returns the test's span in the trace of the run, and its inner span.
  std::pair<json, json> test(std::string const& name) const {
    json in_run, inner;
    for (json const& one : named(name)) (one.contains("parentSpanId") ? in_run : inner) = one;
    return {in_run, inner};
  }

  TemporaryFolder folder;
  Outcome outcome;
  std::vector<Item> spans, logs;
};

TEST(OtlpExport, HasARunItsTestsAndTheirSpans) {
  Export const made("Plain.Passes:Plain.Fails:Plain.Skips");
  EXPECT_EQ(made.outcome.exit_code, 0);
  EXPECT_EQ(made.outcome.err, "");
  json const root = made.only("test run");
  EXPECT_FALSE(root.contains("parentSpanId"));
  EXPECT_EQ(attribute(root, "test.suite.run.status"), "failure");
  EXPECT_EQ(attribute(root, "testlog.tests"), "3");
  EXPECT_EQ(attribute(root, "testlog.failed"), "1");
  EXPECT_EQ(root["status"]["code"], 2);
  struct {
    char const* name;
    json status, result;
  } const cases[] = {{"Plain.Passes", "pass", {}}, {"Plain.Fails", "fail", {}}, {"Plain.Skips", {}, "skipped"}};
  for (auto const& one : cases) {
    auto const [test, inner] = made.test(one.name);
    EXPECT_EQ(test["parentSpanId"], root["spanId"]);
    EXPECT_EQ(test["traceId"], root["traceId"]);
    EXPECT_EQ(test["kind"], 1);
    EXPECT_EQ(attribute(test, "test.case.name"), one.name);
    EXPECT_EQ(attribute(test, "test.suite.name"), "Plain");
    EXPECT_EQ(attribute(test, "test.case.result.status"), one.status);
    EXPECT_EQ(attribute(test, "testlog.result"), one.result);
    EXPECT_THAT(attribute(test, "code.file.path").get<std::string>(), testing::EndsWith("testdata/scenarios.cc"));
    // Links lead both ways, between two traces.
    EXPECT_NE(test["traceId"], inner["traceId"]);
    EXPECT_EQ(test["links"][0]["spanId"], inner["spanId"]);
    EXPECT_EQ(test["links"][0]["traceId"], inner["traceId"]);
    EXPECT_EQ(inner["links"][0]["spanId"], test["spanId"]);
    EXPECT_EQ(inner["links"][0]["traceId"], test["traceId"]);
  }
}

TEST(OtlpExport, SaysWhyATestFailed) {
  Export const made("Plain.FailsTwice");
  json const test = made.test("Plain.FailsTwice").first;
  EXPECT_THAT(attribute(test, "testlog.cause").get<std::string>(),
              testing::StartsWith("first: failed at scenarios.cc:"));
  EXPECT_EQ(test["status"]["code"], 2);
  EXPECT_THAT(test["status"]["message"].get<std::string>(), HasSubstr("Failed"));
  ASSERT_THAT(test["events"], SizeIs(2));
  for (json const& event : test["events"]) {
    EXPECT_EQ(event["name"], "exception");
    EXPECT_EQ(attribute(event, "exception.type"), "assertion");
    EXPECT_THAT(attribute(event, "exception.message").get<std::string>(), HasSubstr("Failed"));
    EXPECT_THAT(attribute(event, "code.file.path").get<std::string>(), testing::EndsWith("testdata/scenarios.cc"));
  }
  EXPECT_EQ(std::stoi(attribute(test["events"][0], "code.line.number").get<std::string>()) + 3,
            std::stoi(attribute(test["events"][1], "code.line.number").get<std::string>()));
}

// Returns a value of a recording as OTLP/JSON has it.
json json_of(tracing::Value const& value) {
  using tracing::ValueKind;
  if (value.kind() == ValueKind::boolean) return value.as_bool();
  if (value.kind() == ValueKind::i64) return std::to_string(value.as_i64());
  if (value.kind() == ValueKind::u64) return std::to_string(value.as_u64());
  if (value.kind() == ValueKind::f64) return value.as_double();
  if (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim) return std::string(value.as_text());
  tracing::InlineTextBuffer<128> text;
  append_debug(text, value);
  return std::string(text.view());
}

TEST(OtlpExport, HasEachSpanOfTheRecordingFieldByField) {
  Export const made("Plain.Passes:Plain.Fails:Plain.FailsTwice:Report.OfFailuresInThreeThreads");
  auto const recordings = tracing::recording::Recordings::open({made.folder / "recordings"});
  ASSERT_THAT(recordings.files(), SizeIs(1));
  auto& recording = *recordings.files()[0].recording;
  auto const tests = tracing::recording::tests_of(recording);
  tracing::recording::Spans spans;
  std::size_t count = 0;
  recording.for_each([&](tracing::recording::Entry const& entry) {
    spans.follow(entry);
    if (!begins_span(entry.type)) return;
    ++count;
    json exported;
    for (json const& one : made.named(std::string(entry.metadata->name())))
      if (one["startTimeUnixNano"] == std::to_string(entry.time.ns)) exported = one;
    ASSERT_FALSE(exported.is_null()) << entry.metadata->name();
    for (std::size_t i = 0; i < entry.fields().size(); ++i)
      EXPECT_EQ(attribute(exported, std::string(entry.fields().name(i))), json_of(entry.fields().value(i)));
    EXPECT_EQ(attribute(exported, "code.line.number"), std::to_string(entry.metadata->line()));
    EXPECT_EQ(attribute(exported, "code.file.path"), entry.metadata->file());
    EXPECT_EQ(attribute(exported, "thread.id"), std::to_string(recording.thread(entry.track).os_thread));
    json const parent = made.by_id(exported["parentSpanId"]);
    EXPECT_EQ(parent["traceId"], exported["traceId"]);
    auto const* const span = spans.current();
    EXPECT_EQ(parent["name"],
              span->parent != nullptr ? std::string(span->parent->metadata->name()) : tests.at(entry.tag).name);
  });
  EXPECT_GT(count, 6u);
  EXPECT_EQ(made.spans.size(), 1 + 2 * tests.size() + count);
}

TEST(OtlpExport, HasEachEventAsALogRecord) {
  Export const made("Plain.Fails");
  auto const recordings = tracing::recording::Recordings::open({made.folder / "recordings"});
  std::vector<std::string> expected, found;
  recordings.files()[0].recording->for_each([&](tracing::recording::Entry const& entry) {
    if (entry.type != tracing::recording::EntryType::event) return;
    tracing::InlineTextBuffer<128> message;
    append_message(message, entry.fields().value(0));
    expected.push_back(std::to_string(entry.time.ns) + " " + std::string(name(entry.metadata->level())) + " " +
                       std::string(message.view()));
  });
  for (auto const& [record, resource] : made.logs) {
    found.push_back(record["timeUnixNano"].get<std::string>() + " " + record["severityText"].get<std::string>() + " " +
                    value_of(record["body"]).get<std::string>());
    json const span = made.by_id(record["spanId"]);
    EXPECT_EQ(span["traceId"], record["traceId"]);
    EXPECT_EQ(span["name"], expected.size() == found.size() ? "inner" : "compile");
  }
  EXPECT_EQ(found, expected);
}

TEST(OtlpExport, HasTheSameBytesASecondTime) {
  Export const made("Plain.Fails:Plain.Passes");
  for (char const* const name : {"spans", "logs"}) {
    std::string const option = std::string("--otlp") + (name == std::string("logs") ? "-logs" : "");
    Outcome const again = run({TESTLOG_COMMAND, "export", made.folder / "recordings", option});
    EXPECT_EQ(again.out, content_of(made.folder / (std::string(name) + ".jsonl")));
    EXPECT_NE(again.out, "");
  }
}

TEST(OtlpExport, MayHaveEventsInSpans) {
  Export const made("Plain.Fails", {}, {"--otlp-events", "span"});
  EXPECT_THAT(made.logs, IsEmpty());
  json const compile = made.only("compile");
  ASSERT_THAT(compile["events"], SizeIs(5));
  EXPECT_EQ(compile["events"][1]["name"], "spoken");
  EXPECT_EQ(attribute(compile["events"][1], "level"), "WARN");
}

TEST(OtlpExport, FiltersAsOtherExports) {
  Export const made("Plain.Fails", {}, {"--filter", "info"});
  EXPECT_THAT(made.named("compile"), IsEmpty());
  EXPECT_THAT(made.named("launch"), SizeIs(1));
  EXPECT_THAT(made.logs, SizeIs(3));
}

TEST(OtlpExport, BelongsToTheTraceOfTheParentAndTheJobInCi) {
  Export const made("Plain.Passes", {{"TRACEPARENT", kTraceparent},
                                     {"TRACESTATE", "a=1"},
                                     {"GITHUB_ACTIONS", "true"},
                                     {"GITHUB_SHA", "abc123"},
                                     {"GITHUB_JOB", "linux"},
                                     {"GITHUB_WORKFLOW", ""},
                                     {"GITHUB_RUN_ID", "77"},
                                     {"GITHUB_HEAD_REF", ""},
                                     {"GITHUB_REF_NAME", "main"},
                                     {"OTEL_RESOURCE_ATTRIBUTES", "team=core"}});
  json const root = made.only("test run");
  EXPECT_EQ(root["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(root["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(root["traceState"], "a=1");
  EXPECT_EQ(root["flags"], 0x301);
  json const& resource = made.spans[0].resource;
  EXPECT_EQ(attribute(resource, "vcs.ref.head.revision"), "abc123");
  EXPECT_EQ(attribute(resource, "cicd.pipeline.task.name"), "linux");
  EXPECT_EQ(attribute(resource, "cicd.pipeline.run.id"), "77");
  EXPECT_EQ(attribute(resource, "vcs.ref.head.name"), "main");
  EXPECT_EQ(attribute(resource, "team"), "core");
  EXPECT_EQ(attribute(resource, "service.name"), "testlog_scenarios");
}

TEST(OtlpExport, SaysHowATestEndedThatDidNotEndByItself) {
  Export const crashed("Dies.ByAbort");
  auto const [test, inner] = crashed.test("Dies.ByAbort");
  EXPECT_EQ(attribute(test, "test.case.result.status"), "fail");
  EXPECT_EQ(attribute(test, "testlog.result"), "crashed");
  EXPECT_EQ(attribute(test["events"][0], "exception.type"), "SIGABRT");
  EXPECT_EQ(inner["status"]["code"], 2);
}

// ---- programs that tests start ----

TEST(OtlpExport, ShowsAProgramBelowTheSpanThatStartedIt) {
  Export const made("Child.IsStartedInASpan");
  json const start = made.only("start");
  auto const [test, inner] = made.test("Child.IsStartedInASpan");
  EXPECT_EQ(start["parentSpanId"], inner["spanId"]);
  json run_of_child;
  for (json const& one : made.named("test run"))
    if (one.contains("parentSpanId")) run_of_child = one;
  EXPECT_EQ(run_of_child["parentSpanId"], start["spanId"]);
  EXPECT_EQ(run_of_child["traceId"], start["traceId"]);
  EXPECT_EQ(run_of_child["flags"], 0x301);
  auto const [test_of_child, inner_of_child] = made.test("Plain.Passes");
  EXPECT_EQ(test_of_child["parentSpanId"], run_of_child["spanId"]);
  EXPECT_EQ(test_of_child["traceId"], start["traceId"]);
  EXPECT_NE(inner_of_child["traceId"], start["traceId"]);
}

TEST(OtlpExport, ShowsAProgramBelowTheTestIfNoSpanStartedIt) {
  Export const made("Child.IsStartedOutsideOfSpans", {{"TRACEPARENT", kTraceparent}});
  json const inner = made.test("Child.IsStartedOutsideOfSpans").second;
  std::vector<std::string> parents;
  for (json const& one : made.named("test run")) parents.push_back(one["parentSpanId"]);
  EXPECT_THAT(parents, ElementsAre("00f067aa0ba902b7", inner["spanId"]));
}

// ---- mistakes ----

TEST(OtlpExport, RefusesOptionsThatDoNotFit) {
  TemporaryFolder const folder;
  std::ofstream(folder / "x.rec");
  auto const said = [&folder](std::vector<std::string> const& options) {
    std::vector<std::string> words{TESTLOG_COMMAND, "export", folder / "x.rec"};
    words.insert(words.end(), options.begin(), options.end());
    Outcome const outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(said({"--otlp", "--otlp-logs"}), HasSubstr("--otlp and --otlp-logs need two files"));
  EXPECT_THAT(said({"--otlp", "a", "--otlp-logs", "a"}), HasSubstr("--otlp and --otlp-logs need two files"));
  EXPECT_THAT(said({"--otlp-logs", "a", "--otlp-events", "span"}), HasSubstr("--otlp-events is about the spans"));
  EXPECT_THAT(said({"--otlp", "a", "--json", "b"}), HasSubstr("expected one of --perfetto"));
  EXPECT_THAT(said({"--otlp", "a", "--otlp-events", "both"}), HasSubstr("--otlp-events"));
}

// ---- the whole text ----

// Replaces what differs from run to run by constants, and numbers the ids.
std::string stable(std::string const& lines, std::map<std::string, std::string>& ids) {
  std::istringstream from(lines);
  std::string all;
  for (std::string line; std::getline(from, line);) all += json::parse(line).dump(1) + "\n";
  static std::regex const id("\"([0-9a-f]{16}|[0-9a-f]{32})\"");
  for (std::sregex_iterator at(all.begin(), all.end(), id), end; at != end; ++at)
    ids.try_emplace((*at)[1].str(), "id " + std::to_string(ids.size() + 1));
  for (auto const& [from_id, to] : ids) all = std::regex_replace(all, std::regex(from_id), to);
  all = std::regex_replace(all, std::regex("UnixNano\": \"[0-9]+\""), "UnixNano\": \"TIME\"");
  all = std::regex_replace(all, std::regex("\"[^\"]*/(testlog/testdata/[^\"]*)\""), "\"$1\"");
  for (char const* const key : {"host.name", "process.command_line", "process.working_directory", "testlog.recording"})
    all = std::regex_replace(
        all, std::regex("(\"key\": \"" + std::string(key) + "\",\n *\"value\": \\{\n *\"stringValue\": )\"[^\"]*\""),
        "$1\"TEXT\"");
  return std::regex_replace(
      all, std::regex("(\"key\": \"(process.pid|thread.id)\",\n *\"value\": \\{\n *\"intValue\": )\"[0-9]+\""),
      "$1\"NUMBER\"");
}

TEST(OtlpExport, LooksAsApproved) {
  Export const made("Plain.Fails");
  std::map<std::string, std::string> ids;
  std::string const spans = stable(content_of(made.folder / "spans.jsonl"), ids);
  std::string const logs = stable(content_of(made.folder / "logs.jsonl"), ids);
  tracing::testing::expect_approved("otlp.txt", spans + logs);
}

}  // namespace
