#include "testlog/cli/otlp/run_facts.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "testlog/cli/otlp/otel_variables.h"
#include "testlog/summary/recorded_tests.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/tests.h"

namespace testlog::cli::otlp {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;
using tracing::recording::text_of_field;

// Reads the marks of a recording, and the time of its last record.
class Marks {
 public:
  explicit Marks(RunFacts& facts) : facts_(facts) {}

  void add(Entry const& entry) {
    facts_.end = std::max(facts_.end, entry.time);
    if (entry.type != EntryType::mark || entry.metadata == nullptr) return;
    std::string_view const name = entry.metadata->name();
    if (name == "process") return add_process(entry);
    if (name == "ci") return add_ci(entry);
    if (tracing::recording::is_test_begin(entry)) return begin_test(entry);
    TestFacts& test = test_of(entry);
    if (tracing::recording::is_test_end(entry)) test.end = entry.time;
    if (name == "failure") add_failure(test, entry, "assertion");
    if (name == "signal") add_failure(test, entry, text_of_field(entry, "signal"));
  }

 private:
  void add_process(Entry const& mark) {
    facts_.host = text_of_field(mark, "host");
    facts_.boot = text_of_field(mark, "boot");
    facts_.directory = text_of_field(mark, "directory");
    facts_.command = text_of_field(mark, "command");
    facts_.tracestate = text_of_field(mark, "tracestate");
    facts_.identity.run = text_of_field(mark, "run");
    if (!facts_.identity.run.empty()) facts_.identity.host = facts_.host;
    facts_.identity.traceparent = text_of_field(mark, "traceparent");
  }
  void add_ci(Entry const& mark) {
    facts_.ci_service = text_of_field(mark, "service");
    facts_.ci_revision = text_of_field(mark, "revision");
    facts_.ci_url = text_of_field(mark, "url");
    facts_.ci_job = text_of_field(mark, "job");
    facts_.ci_run = text_of_field(mark, "run");
    facts_.ci_branch = text_of_field(mark, "branch");
  }
  void begin_test(Entry const& mark) {
    TestFacts& test = facts_.tests[mark.tag];
    test.begin = mark.time;
    test.file = text_of_field(mark, "file");
    test.line = std::atoll(text_of_field(mark, "line").c_str());
    tags_[text_of_field(mark, "test")] = mark.tag;
  }
  TestFacts& test_of(Entry const& mark) {
    auto const found = tags_.find(text_of_field(mark, "test"));
    return facts_.tests[found == tags_.end() ? 0 : found->second];
  }
  static void add_failure(TestFacts& test, Entry const& mark, std::string type) {
    if (test.failures.size() == TestFacts::kMaxFailures) {
      ++test.dropped_failures;
      return;
    }
    test.failures.push_back({mark.time, std::move(type), text_of_field(mark, "message"), text_of_field(mark, "file"),
                             std::atoll(text_of_field(mark, "line").c_str())});
  }

  RunFacts& facts_;
  std::map<std::string, std::uint32_t> tags_;  // of the last test of each name
};

// Returns `mylib_test` for `./build/mylib_test --gtest_filter=*`.
std::string program_of(std::string const& command, std::string const& path) {
  std::string_view const word = std::string_view(command).substr(0, command.find(' '));
  std::string_view const name = word.substr(word.rfind('/') + 1);
  return name.empty() ? tracing::recording::name_of_recording(path) : std::string(name);
}

}  // namespace

RunFacts facts_of(Recording& recording, std::string const& path) {
  RunFacts facts;
  facts.path = path;
  facts.process = recording.process();
  facts.begin = recording.start();
  facts.identity.process = recording.process();
  facts.identity.start_ns = recording.start().ns;
  Marks marks(facts);
  recording.for_each([&marks](Entry const& entry) { marks.add(entry); });
  facts.end = std::max({facts.begin, facts.end, recording.end()});
  facts.program = program_of(facts.command, path);
  for (summary::TestOutcome& outcome : summary::tests_in(recording, path)) {
    TestFacts& test = facts.tests[outcome.tag];
    test.outcome = std::move(outcome);
    if (!test.begin) test.begin = facts.begin;
  }
  // What happens outside of tests counts only if it failed.
  if (auto const outside = facts.tests.find(0); outside != facts.tests.end() && outside->second.failures.empty())
    facts.tests.erase(outside);
  for (auto& [tag, test] : facts.tests) {
    if (!test.end) test.end = facts.end;
  }
  return facts;
}

Resource resource_of(RunFacts const& facts, char const* (*get)(char const* name), std::string& reports) {
  auto const variable = [get](char const* name) { return get(name) == nullptr ? "" : get(name); };
  Resource resource;
  auto const add = [&resource](char const* key, Any value) {
    auto const* const text = std::get_if<std::string>(&value.value);
    bool const is_there = std::any_of(resource.attributes.begin(), resource.attributes.end(),
                                      [key](Attribute const& one) { return one.key == key; });
    if (!is_there && (text == nullptr || !text->empty())) resource.attributes.push_back({key, std::move(value)});
  };
  auto const given = read_list("OTEL_RESOURCE_ATTRIBUTES", variable("OTEL_RESOURCE_ATTRIBUTES"), reports);
  add("service.name", variable("OTEL_SERVICE_NAME"));
  for (KeyValue const& one : given) add(one.key.c_str(), one.value);
  add("service.name", facts.program);
  add("host.name", facts.host);
  add("process.pid", static_cast<std::int64_t>(facts.process));
  add("process.command_line", facts.command);
  add("process.working_directory", facts.directory);
  add("cicd.pipeline.run.id", facts.ci_run);
  add("cicd.pipeline.run.url.full", facts.ci_url);
  add("cicd.pipeline.task.name", facts.ci_job);
  add("vcs.ref.head.revision", facts.ci_revision);
  add("vcs.ref.head.name", facts.ci_branch);
  add("testlog.ci.service", facts.ci_service);
  add("testlog.recording", facts.path);
  add("telemetry.sdk.name", "testlog");
  add("telemetry.sdk.language", "cpp");
  add("telemetry.sdk.version", TESTLOG_VERSION);
  return resource;
}

}  // namespace testlog::cli::otlp
