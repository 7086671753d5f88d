#include "tracing_core/perf/perf_json.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "tests/approval.h"
#include "tests/support/temporary_file.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/perf/perf_test_support.h"

namespace tracing::perf_test { namespace {

TEST(PerfJson, IsTheLineInTheDocumentation) {
  std::string json;
  Collected collected({.json = to_text(json)});
  OpenSpan const span = program_span().open({Value::of_i64(3), Value::of_i64(1), Value::of_i64(1)});
  program_span().close(span, 83'999, 83'999);
  std::regex const time("20[-0-9]+T[:.0-9]+Z");
  tracing::testing::expect_approved("perf_json.txt", std::regex_replace(json, time, "2026-01-08T23:56:09.977977Z"));
}

TEST(PerfJson, IsOneValidObjectPerLineForAnyField) {
  std::string json;
  Collected collected({.json = to_text(json)});
  std::string const large(1 << 20, 'x');
  {
    TRACE_PERF("odd \"name\"\n", kv("name", "mine"), kv("a b", "line\nend \xFF \x1b"), kv("none", nullptr),
               kv("large", large));
  }
  std::istringstream lines(json);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  auto const object = nlohmann::json::parse(line);
  EXPECT_EQ(object["fields"]["name"], "odd \"name\"\n");
  EXPECT_EQ(object["fields"]["fields.name"], "mine");
  EXPECT_EQ(object["fields"]["large"], large);
  EXPECT_FALSE(object["fields"].contains("none"));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(PerfJson, IsNotWrittenByAForkedChild) {
  tracing_test::TemporaryFile const file;
  std::error_code error;
  Collected collected({.json = to_sink(FdSink::append_to(file.path(), error))});
  load(1);
  std::string const before = file.text();
  pid_t const child = fork();
  if (child == 0) {
    load(2);
    std::string const text = collected.take();
    _exit(text.find("duration_us") != text.npos && collected.summary().find("cpu_ldg")->count == 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(file.text(), before);
  load(3);
  EXPECT_NE(file.text(), before);
}

}}  // namespace tracing::perf_test
