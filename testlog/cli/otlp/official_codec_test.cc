// OpenTelemetry's own codec of OTLP makes our bytes of our JSON, and our JSON of our bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/otel_test_support.h"
#include "testlog/cli/otlp/otlp_encoding.h"
#include "testlog/cli/otlp/otlp_server_test_support.h"
#include "tests/support/temporary_folder.h"

namespace testlog::cli::otlp { namespace {

using nlohmann::json;
using testing::SizeIs;
using tracing_test::TemporaryFolder;

class OfficialCodec : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_packages()) GTEST_SKIP() << kNoPackages;
  }
  // Both are a request of the signal.
  void expect_equal(std::string const& signal, std::string const& in_json, std::string const& in_protobuf) const {
    EXPECT_EQ(run_script("recode_otlp.js", {"encode", signal, folder_.write("request.json", in_json)}), in_protobuf);
    std::string const decoded =
        run_script("recode_otlp.js", {"decode", signal, folder_.write("request.pb", in_protobuf)});
    EXPECT_EQ(json::parse(decoded), json::parse(in_json));
  }

  TemporaryFolder const folder_;
};

// The lines of a text.
std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(OfficialCodec, AgreesAboutARecording) {
  if (!HttpSender::is_available()) GTEST_SKIP() << "there is no cpp-httplib";
  record_typed(folder_ / "run.rec");
  Server traces({kTaken}), logs({kTaken});
  auto const sent = testdata::run({TESTLOG_COMMAND, "export", folder_ / "run.rec", "--otlp-http", traces.url()},
                                  {{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", logs.url() + "/v1/logs"}});
  ASSERT_EQ(sent.exit_code, 0) << sent.err;
  auto const span_lines = lines_of(testdata::run_command("export", {folder_ / "run.rec", "--otlp"}).out);
  auto const log_lines = lines_of(testdata::run_command("export", {folder_ / "run.rec", "--otlp-logs"}).out);
  auto const span_requests = traces.requests(), log_requests = logs.requests();
  ASSERT_THAT(span_requests, SizeIs(span_lines.size()));
  ASSERT_THAT(log_requests, SizeIs(1));
  for (std::size_t i = 0; i < span_lines.size(); ++i) expect_equal("traces", span_lines[i], body_of(span_requests[i]));
  expect_equal("logs", log_lines.at(0), body_of(log_requests[0]));
}

// Has what no recording of a test has: a remote parent, a trace state, bytes, lists, numbers that are none, dropped
// parts.
TEST_F(OfficialCodec, AgreesAboutEachMember) {
  Span span{.trace = {~std::uint64_t{0}, 1}, .id = 2, .parent = 3, .trace_state = "a=1", .has_remote_parent = true};
  span.name = "load";
  span.begin = {1'700'000'000'000'000'001};
  span.end = {1'700'000'000'000'000'002};
  span.attributes = {{"bytes", Bytes{std::string("\0\xff\x10", 3)}},
                     {"causes", std::vector<std::string>{"a", ""}},
                     {"infinite", std::numeric_limits<double>::infinity()},
                     {"none", std::numeric_limits<double>::quiet_NaN()},
                     {"", ""}};
  span.dropped_attributes = 300;
  span.events = {{{}, "", {}}, {span.begin, "exception", {{"line", std::int64_t{-1}}}}};
  span.dropped_events = 4;
  span.links = {{{1, 2}, 3, {{"why", true}}}};
  span.status = StatusCode::error;
  LogRecord record{.time = span.begin, .severity = 17, .severity_text = "ERROR", .body = 0.1, .dropped_attributes = 1};
  Resource const resource{{{"service.name", "s"}}};
  auto const request = [&resource](Encoding const& encoding, Signal signal, auto const& item) {
    std::string const process =
        encoding.of_resource(signal, resource, {encoding.encoded(item), encoding.encoded(item)});
    return encoding.request(signal, {process, process});
  };
  expect_equal("traces", request(json_encoding(), Signal::traces, span),
               request(protobuf_encoding(), Signal::traces, span));
  expect_equal("logs", request(json_encoding(), Signal::logs, record),
               request(protobuf_encoding(), Signal::logs, record));
}

}}  // namespace testlog::cli::otlp
