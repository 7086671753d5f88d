// `testlog export --otlp-http`: what is sent, and what is said of receivers that do not take it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/cli/otlp/http_sender.h"
#include "testlog/cli/otlp/otel_variables.h"
#include "testlog/cli/otlp/otlp_server_test_support.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::otlp { namespace {

using testdata::Outcome;
using testdata::Variables;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Clock = std::chrono::steady_clock;

class OtlpHttp : public testing::Test {
 protected:
  void SetUp() override {
    if (!HttpSender::is_available()) GTEST_SKIP() << "there is no cpp-httplib";
    path_ = tracing_test::record_to({.path = folder_ / "run.rec"}, [] { TRACE_SPAN(info, "request"); });
  }
  // Sends the recording. Each request has half a second, unless the variables say otherwise.
  Outcome send(std::string const& url, Variables variables = {}) const {
    variables.emplace_back("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "500");
    std::vector<std::string> words{TESTLOG_COMMAND, "export", path_, "--otlp-http"};
    if (!url.empty()) words.push_back(url);
    return testdata::run(words, variables);
  }
  // Sends the recording to a server with these answers. Returns what is printed, without the server's name.
  std::string said_of(std::vector<std::string> answers) const {
    Server server(std::move(answers));
    Outcome const outcome = send(server.url());
    EXPECT_EQ(outcome.exit_code, outcome.err.empty() ? 0 : 1);
    std::string text = outcome.err;
    for (std::size_t at; (at = text.find(server.url())) != text.npos;) text.replace(at, server.url().size(), "URL");
    return text;
  }

  tracing_test::TemporaryFolder const folder_;
  std::string path_;
};

TEST_F(OtlpHttp, SendsProtobufToTheStandardPath) {
  Server server({kTaken});
  Outcome const outcome = send(server.url());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  auto const requests = server.requests();
  ASSERT_THAT(requests, Not(IsEmpty()));
  EXPECT_THAT(requests[0], testing::StartsWith("POST /v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("Content-Type: application/x-protobuf\r\n"));
  EXPECT_THAT(body_of(requests[0]), HasSubstr("request"));
}

TEST_F(OtlpHttp, ObeysTheVariables) {
  Server server({kTaken});
  Outcome const outcome = send("", {{"OTEL_EXPORTER_OTLP_ENDPOINT", server.url() + "/base/"},
                                    {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x = y"},
                                    {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                                    {"OTEL_SERVICE_NAME", "mine"}});
  EXPECT_EQ(outcome.err, "");
  auto const requests = server.requests();
  ASSERT_THAT(requests, Not(IsEmpty()));
  EXPECT_THAT(requests[0], testing::StartsWith("POST /base/v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("api-key: a b\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("x: y\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("Content-Type: application/json\r\n"));
  auto const sent = nlohmann::json::parse(body_of(requests[0]));
  EXPECT_EQ(sent["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"], "mine");
}

TEST_F(OtlpHttp, TakesAnEndpointOfTracesAsItIs) {
  Server server({kTaken});
  EXPECT_EQ(send("", {{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.url() + "/traces"}}).err, "");
  EXPECT_THAT(server.requests()[0], testing::StartsWith("POST /traces HTTP/1.1\r\n"));
}

TEST_F(OtlpHttp, CompressesByGzip) {
  Server server({kTaken});
  EXPECT_EQ(send(server.url(), {{"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"}}).err, "");
  std::string const request = server.requests()[0];
  EXPECT_THAT(request, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_EQ(body_of(request).substr(0, 2), "\x1f\x8b");
}

TEST_F(OtlpHttp, SendsNothingIfTheSdkIsDisabled) {
  Server server({kTaken});
  Outcome const outcome = send(server.url(), {{"OTEL_SDK_DISABLED", "TRUE"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "testlog export: nothing was sent, since OTEL_SDK_DISABLED is true\n");
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(OtlpHttp, RepeatsARequestIfTheReceiverIsBusy) {
  for (char const* const status :
       {"429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"})
    EXPECT_EQ(said_of({answer(status, "", "Retry-After: 0\r\n"), kTaken}), "") << status;
  EXPECT_EQ(said_of({kReset, kTaken}), "");
  EXPECT_EQ(said_of({"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", kTaken}), "");
}

TEST_F(OtlpHttp, GivesUpAfterTheTimeout) {
  auto const begin = Clock::now();
  EXPECT_EQ(said_of({answer("503 Service Unavailable")}),
            "testlog export: URL/v1/traces is busy: 503 Service Unavailable\n");
  EXPECT_EQ(said_of({answer("429 Too Many Requests", "", "Retry-After: 3600\r\n")}),
            "testlog export: URL/v1/traces is busy: 429 Too Many Requests\n");
  EXPECT_EQ(said_of({kNone}), "testlog export: URL/v1/traces does not answer\n");
  EXPECT_EQ(said_of({kDrip}), "testlog export: URL/v1/traces does not answer\n");
  EXPECT_THAT(said_of({kReset}), HasSubstr("URL/v1/traces "));
  EXPECT_THAT(said_of({"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"}), HasSubstr("URL/v1/traces "));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(9));
}

TEST_F(OtlpHttp, ReportsARefusal) {
  EXPECT_EQ(said_of({answer("400 Bad Request", R"({"code": 3, "message": "bad \"span\""})",
                            "Content-Type: application/json\r\n")}),
            "testlog export: URL/v1/traces refused the spans: 400 Bad Request: bad \"span\"\n");
  EXPECT_EQ(said_of({answer("400 Bad Request",
                            "\x12\x03"
                            "bad",
                            "Content-Type: application/x-protobuf\r\n")}),
            "testlog export: URL/v1/traces refused the spans: 400 Bad Request: bad\n");
  EXPECT_EQ(said_of({answer("413 Content Too Large", "too much", "Content-Type: text/plain\r\n")}),
            "testlog export: URL/v1/traces refused the spans: 413 Content Too Large: too much\n");
  EXPECT_EQ(
      said_of({answer("302 Found", "", "Location: http://other/\r\n")}),
      "testlog export: URL/v1/traces redirects to http://other/ (302 Found), which is not followed; name that URL\n");
}

TEST_F(OtlpHttp, ReportsWhatAReceiverRejected) {
  std::string const json = R"({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}})";
  EXPECT_THAT(said_of({answer("200 OK", json, "Content-Type: application/json\r\n"), kTaken}),
              HasSubstr("testlog export: URL/v1/traces rejected 1 spans: too old\n"));
  std::string const protobuf(
      "\x0a\x07\x08\x02\x12\x03"
      "old",
      9);
  EXPECT_THAT(said_of({answer("200 OK", protobuf, "Content-Type: application/x-protobuf\r\n"), kTaken}),
              HasSubstr("rejected 2 spans: old\n"));
}

TEST_F(OtlpHttp, ReportsThatNobodyListens) {
  std::string url;
  {
    Server server({kTaken});
    url = server.url();
  }
  auto const begin = Clock::now();
  Outcome const outcome = send(url, {{"OTEL_EXPORTER_OTLP_TIMEOUT", "10000"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog export: " + url + "/v1/traces cannot be reached\n");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(OtlpHttp, SendsEventsToTheirOwnEndpoint) {
  path_ = tracing_test::record_to({.path = folder_ / "events.rec"}, [] { TRACE_INFO("said"); });
  Server server({kTaken});
  EXPECT_EQ(send(server.url(), {{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", server.url() + "/logs"}}).err, "");
  auto const requests = server.requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(requests[1], testing::StartsWith("POST /logs HTTP/1.1\r\n"));
  EXPECT_THAT(body_of(requests[1]), HasSubstr("said"));
}

TEST_F(OtlpHttp, EncodesEachSignalAsItsEndpointAsks) {
  path_ = tracing_test::record_to({.path = folder_ / "events.rec"}, [] {
    TRACE_SPAN(info, "around");
    TRACE_INFO("said");
  });
  Server server({kTaken, kTaken});
  EXPECT_EQ(send(server.url(), {{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", server.url() + "/logs"},
                                {"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json"}})
                .err,
            "");
  for (std::string const& request : server.requests()) {
    bool const is_json = request.find("Content-Type: application/json\r\n") != request.npos;
    EXPECT_EQ(is_json, request.starts_with("POST /logs ")) << request;
    EXPECT_EQ(body_of(request).starts_with("{"), is_json) << request;
  }
}

TEST_F(OtlpHttp, RefusesATextThatIsNoUrl) {
  for (char const* const url : {"127.0.0.1:4318", "grpc://host:4317", "http://", "http://user@host", "http:///v1"}) {
    Outcome const outcome = send(url);
    EXPECT_EQ(outcome.exit_code, 2) << url;
    EXPECT_EQ(outcome.err,
              "testlog: --otlp-http=" + std::string(url) + ": not a URL; expected one such as http://127.0.0.1:4318\n");
  }
}

// ---- the variables ----

TEST(Endpoint, ReportsBadValuesAndUsesTheDefaults) {
  std::string reports;
  auto const get = [](char const* name) -> char const* {
    std::string_view const variable = name;
    if (variable == "OTEL_EXPORTER_OTLP_TIMEOUT") return "10s";
    if (variable == "OTEL_EXPORTER_OTLP_COMPRESSION") return "zstd";
    if (variable == "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") return "grpc";
    return variable == "OTEL_EXPORTER_OTLP_HEADERS" ? "secret" : nullptr;
  };
  auto const endpoint = read_endpoint(Signal::traces, "", get, reports);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->server + endpoint->path, "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(endpoint->timeout.count(), 10'000);
  EXPECT_FALSE(endpoint->is_compressed || endpoint->is_json);
  EXPECT_THAT(endpoint->headers, IsEmpty());
  EXPECT_EQ(
      reports,
      "testlog: OTEL_EXPORTER_OTLP_HEADERS=...: not a list of headers; expected name=value,name=value\n"
      "testlog: OTEL_EXPORTER_OTLP_TIMEOUT=10s: not a valid time; expected milliseconds\n"
      "testlog: OTEL_EXPORTER_OTLP_COMPRESSION=zstd: unknown value; expected one of gzip, none\n"
      "testlog: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc: unknown value; expected one of http/json, http/protobuf\n");
}

TEST(HttpAnswer, MayHaveAnyForm) {
  std::string const protobuf(
      "\x0a\x07\x08\x02\x12\x03"
      "old",
      9);
  for (std::size_t size = 0; size < protobuf.size(); ++size)
    EXPECT_EQ(read_partial_success(protobuf.substr(0, size), false).rejected, 0u) << size;
  EXPECT_EQ(read_partial_success(protobuf, false).rejected, 2u);
  EXPECT_EQ(read_partial_success("{\"partialSuccess\":{\"rejectedLogRecords\":3}}", true).rejected, 3u);
  EXPECT_EQ(read_partial_success("{\"rejectedSpans\":", true).rejected, 0u);
  EXPECT_EQ(read_error(std::string(1000, 'x'), "text/plain").size(), 300u);
}

}}  // namespace testlog::cli::otlp
