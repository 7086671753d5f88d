// `testlog export --otlp` of many recordings.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/support/record_to.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/setup.h"
#include "tracing_core/tracing.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;

// Exports the recordings in a folder to nowhere. Returns the most memory that the command took, in KiB.
long memory_of_export(std::string const& recordings) {
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
    execl(TESTLOG_COMMAND, TESTLOG_COMMAND, "export", recordings.c_str(), "--otlp", "-", nullptr);
    _exit(127);
  }
  int status = -1;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
  return used.ru_maxrss;
}

TEST(OtlpFiles, TakeTheMemoryOfOneRecording) {
#if TESTLOG_ASAN || TESTLOG_TSAN
  GTEST_SKIP() << "sanitizers keep memory that was freed";
#endif
  constexpr int kCopies = 40;
  tracing_test::TemporaryFolder const folder;
  auto const path = tracing_test::record_to({.path = folder / "run.rec"}, [] {
    std::string const text(4000, 'x');
    for (int i = 0; i < 250; ++i) {
      TRACE_SPAN(info, "step", i, text);
    }
  });
  for (std::string const name : {"one", "many"}) fs::create_directory(folder / name);
  fs::copy_file(path, folder / "one/run.rec");
  for (int i = 0; i < kCopies; ++i) fs::copy_file(path, folder / ("many/" + std::to_string(i) + ".rec"));
  long const one = memory_of_export(folder / "one"), many = memory_of_export(folder / "many");
  EXPECT_LT(many, one + kCopies * 1000 / 2) << "each recording has 1000 KB";
}

TEST(OtlpFiles, LeaveOutARecordingThatCannotBeRead) {
  tracing_test::TemporaryFolder const folder;
  tracing_test::record_to({.path = folder / "a.rec"}, [] { TRACE_SPAN(info, "first"); });
  std::ofstream(folder / "b.rec") << "no recording";
  tracing_test::record_to({.path = folder / "c.rec"}, [] { TRACE_SPAN(info, "last"); });
  Outcome const outcome = run_command("export", {folder / "", "--otlp", folder / "spans.jsonl"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("b.rec: "));
  EXPECT_THAT(content_of(folder / "spans.jsonl"), HasSubstr("\"first\""));
  EXPECT_THAT(content_of(folder / "spans.jsonl"), HasSubstr("\"last\""));
}

// ---- a program that is no test ----

using nlohmann::json;

// Returns the spans in lines of OTLP/JSON.
std::vector<json> spans_in(std::string const& lines) {
  std::vector<json> spans;
  std::istringstream from(lines);
  for (std::string line; std::getline(from, line);) {
    json const request = json::parse(line);
    for (json const& of_resource : request["resourceSpans"]) {
      for (json span : of_resource["scopeSpans"][0]["spans"]) {
        span["resource"] = of_resource["resource"];
        spans.push_back(std::move(span));
      }
    }
  }
  return spans;
}

json attribute(json const& of, std::string const& key) {
  json const attributes = of.value("attributes", json::array());
  for (json const& one : attributes)
    if (one["key"] == key) return one["value"].begin().value();
  return {};
}

std::vector<json> named(std::vector<json> const& spans, std::string const& name) {
  std::vector<json> found;
  for (json const& one : spans)
    if (one["name"] == name) found.push_back(one);
  return found;
}

// A process that serves some requests and then is in another one until it is killed.
class Service {
 public:
  Service(std::string const& recording, int requests, char const* limit = "1048576") {
    int ready[2];
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    std::fflush(nullptr);
    process_ = fork();
    if (process_ == 0) {
      setenv("TRACE_RECORD", recording.c_str(), 1);
      setenv("TRACE_RECORD_LIMIT", limit, 1);
      auto const guard = tracing::init_from_env({.filter = "off"});
      for (int id = 0; id < requests; ++id) {
        TRACE_SPAN(info, "request", id);
        TRACE_INFO("served");
      }
      TRACE_SPAN(info, "last request");
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~Service() { end(); }
  Service(Service const&) = delete;
  Service& operator=(Service const&) = delete;

  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, 0), nullptr, 0);
  }

 private:
  pid_t process_ = 0;
};

TEST(OtlpOfAService, IsTheSameWhileItRunsAndOnceItWasKilled) {
  tracing_test::TemporaryFolder const folder;
  Service service(folder / "4711.rec", 5);
  auto const running = spans_in(run_command("export", {folder / "4711.rec", "--otlp"}).out);
  service.end();
  Outcome const outcome = run_command("export", {folder / "4711.rec", "--otlp", "-", "--otlp-logs", folder / "logs"});
  auto const ended = spans_in(outcome.out);
  ASSERT_THAT(running, SizeIs(7));
  ASSERT_THAT(ended, SizeIs(7));
  json const& root = ended.back();
  EXPECT_EQ(root["name"], "testlog_cli_test");
  EXPECT_FALSE(root.contains("parentSpanId"));
  EXPECT_EQ(attribute(root["resource"], "service.name"), "testlog_cli_test") << "whatever the file is called";
  EXPECT_EQ(attribute(root["resource"], "host.name"), tracing::environment::host_name());
  EXPECT_EQ(attribute(root, "test.suite.run.status"), json());
  EXPECT_THAT(named(ended, "request"), SizeIs(5));
  EXPECT_EQ(attribute(named(ended, "last request").at(0), "testlog.is_open"), true);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    for (char const* const id : {"spanId", "traceId"}) EXPECT_EQ(ended[i][id], running[i][id]);
    EXPECT_TRUE(&ended[i] == &root || ended[i]["parentSpanId"] == root["spanId"]);
    EXPECT_EQ(ended[i]["startTimeUnixNano"], running[i]["startTimeUnixNano"]);
  }
  EXPECT_EQ(testlog::testdata::count(content_of(folder / "logs"), "\"served\""), 5);
}

TEST(OtlpOfAService, HasNoTestsForOtherCommands) {
  tracing_test::TemporaryFolder const folder;
  for (std::string const name : {"a.rec", "b.rec"}) Service(folder / name, 5);
  std::string const shown = run_command("show", {folder / "a.rec"}).out;
  EXPECT_THAT(shown, HasSubstr("---- process "));
  EXPECT_THAT(shown, HasSubstr("served"));
  EXPECT_THAT(shown, Not(HasSubstr("outside any test")));
  Outcome const differences = run_command("diff", {folder / "a.rec", folder / "b.rec"});
  EXPECT_EQ(differences.exit_code, 0) << differences.err;
  EXPECT_THAT(differences.err, Not(HasSubstr("no test")));
}

TEST(OtlpOfAService, SaysWhatItHasLost) {
  tracing_test::TemporaryFolder const folder;
  Service service(folder / "long.rec", 100'000);
  service.end();
  auto const spans = spans_in(run_command("export", {folder / "long.rec", "--otlp"}).out);
  json const& root = spans.back();
  auto const requests = named(spans, "request");
  ASSERT_THAT(requests, Not(IsEmpty()));
  std::uint64_t const dropped = std::stoull(attribute(root, "testlog.dropped_spans").get<std::string>());
  std::uint64_t const overwritten = std::stoull(attribute(root, "testlog.overwritten_records").get<std::string>());
  EXPECT_GT(dropped, 0u);
  // A request has at least three records: its beginning, its event and its end.
  EXPECT_GE(overwritten + 3 * (dropped + requests.size()), 3u * 100'000);
}

}  // namespace
