// What ctest prints at its end, by the file that testlog_discover_tests() makes: the real cmake and ctest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/cli/otlp/otlp_server_test_support.h"
#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::content_of;
using testlog::testdata::ctest_program;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

class AfterCtest : public testing::Test {
 protected:
  // Configures a project with these tests of the scenarios.
  Outcome configure(std::string const& tests, std::string const& more = "", std::string const& folder = "build") {
    std::filesystem::create_directories(folder_ / "source");
    std::ofstream(folder_ / "source/CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.22)\nproject(scenarios NONE)\nenable_testing()\n"
        << "include(" << TESTLOG_SOURCE_DIR << "/cmake/TestlogAfterCtest.cmake)\n"
        << "include(" << TESTLOG_SOURCE_DIR << "/cmake/TestlogDiscoverTests.cmake)\n"
        << "add_executable(testlog::command IMPORTED)\n"
        << "set_target_properties(testlog::command PROPERTIES IMPORTED_LOCATION " << TESTLOG_COMMAND << ")\n"
        << "add_executable(scenarios IMPORTED)\n"
        << "set_target_properties(scenarios PROPERTIES IMPORTED_LOCATION " << TESTLOG_SCENARIOS << ")\n"
        << more << "testlog_discover_tests(scenarios TEST_FILTER " << tests << " DISCOVERY_MODE PRE_TEST)\n";
    build_ = folder_ / folder;
    return testlog::testdata::run(
        {testlog::testdata::cmake_program(), "-G", "Ninja", "-S", folder_ / "source", "-B", build_});
  }
  Outcome ctest(std::vector<std::string> const& arguments = {}, Variables variables = {}) const {
    std::vector<std::string> words{ctest_program(), "--test-dir", build_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    variables.emplace_back("SCENARIO_COUNTER", folder_ / "counter");
    return testlog::testdata::run(words, variables);
  }
  // Returns the lines of the summary.
  static std::string summary_in(std::string const& text) {
    std::size_t const begin = text.find("testlog: ");
    std::size_t const last = text.rfind("testlog: read on");
    return begin == text.npos ? "" : text.substr(begin, text.find('\n', last) + 1 - begin);
  }

  // Returns what ctest printed from the summary on, without times and folders.
  std::string log_in(std::string const& text) const {
    std::size_t const begin = text.find("testlog: ");
    return begin == text.npos ? "" : without_times(text.substr(begin));
  }
  std::string without_times(std::string text) const {
    for (std::size_t at = 0; (at = text.find(folder_ / "")) != text.npos;) text.replace(at, (folder_ / "").size(), "/");
    std::size_t const slowest = text.find("<details><summary>The slowest tests");
    if (slowest != text.npos) text.erase(slowest, text.find("</details>\n\n", slowest) + 12 - slowest);
    // A long time is a wider column.
    text = std::regex_replace(text, std::regex("\n +\\+[0-9]+\\.[0-9]+ (us|ms|s)"), "\n  +T");
    text = std::regex_replace(text, std::regex("\\([0-9]+ ms\\)"), "(T)");
    text = std::regex_replace(text, std::regex("[0-9]{8}-[0-9]{6}-[0-9]{3}"), "T");
    text = std::regex_replace(text, std::regex("[0-9]{10}"), "TIME");
    text = std::regex_replace(text, std::regex("(\n *)[^ \n]*/(testlog/testdata/)"), "$1$2");
    return std::regex_replace(text, std::regex(" time=\"[0-9.]+\"| duration='[0-9]+'"), "");
  }
  Outcome ctest_in_ci(Variables variables,
                      std::vector<std::string> const& arguments = {"--repeat", "until-pass:3"}) const {
    variables.emplace_back("TRACE_CI_ROOT", TESTLOG_SOURCE_DIR);
    return ctest(arguments, variables);
  }

  tracing_test::TemporaryFolder const folder_;
  std::string build_;
};

char const* const kRedTests = "Plain.Fails:Plain.Passes:Plain.Skips:Retried.FailsTwice:Dies.ByAbort:Dies.ByExit";

TEST_F(AfterCtest, SaysWhatFailedByCause) {
  ASSERT_EQ(configure("Plain.*:SpansOnly.Fails:Retried.FailsTwice:Dies.ByExit").exit_code, 0);
  Outcome const outcome = ctest({"--repeat", "until-pass:3"});
  EXPECT_EQ(outcome.exit_code, 8);
  tracing::testing::expect_approved("after_ctest.txt", summary_in(outcome.out));
}

TEST_F(AfterCtest, PrintsNothingIfNoTestRanOrFailed) {
  ASSERT_EQ(configure("Plain.*").exit_code, 0);
  ctest();
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {"-N"}, {"--show-only=json-v1"}, {"--print-labels"}, {"-R", "no such test"}, {"-R", "^Plain.Passes$"}}) {
    Outcome const outcome = ctest(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments[0];
    EXPECT_EQ(summary_in(outcome.out), "") << arguments[0];
  }
}

TEST_F(AfterCtest, KeepsTheFileOfTheProject) {
  std::string const own =
      "file(WRITE \"${CMAKE_BINARY_DIR}/CTestCustom.cmake\" \"set(CTEST_CUSTOM_POST_TEST \\\"echo own "
      "command\\\")\\n\")\n";
  ASSERT_EQ(configure("Plain.Fails", own).exit_code, 0);
  ASSERT_EQ(configure("Plain.Fails", own).exit_code, 0);
  Outcome const outcome = ctest();
  EXPECT_THAT(outcome.out, HasSubstr("own command\n"));
  EXPECT_EQ(testlog::testdata::count(outcome.out, "testlog: 1 of 1 test failed"), 1);
}

TEST_F(AfterCtest, KeepsAFileWithoutALastEndOfLine) {
  std::string const own =
      "file(WRITE \"${CMAKE_BINARY_DIR}/CTestCustom.cmake\" \"set(CTEST_CUSTOM_POST_TEST \\\"echo own "
      "command\\\")\")\n";
  ASSERT_EQ(configure("Plain.Fails", own).exit_code, 0);
  Outcome const outcome = ctest();
  EXPECT_THAT(outcome.out, HasSubstr("own command\n"));
  EXPECT_THAT(outcome.out, HasSubstr("testlog: 1 of 1 test failed"));
}

TEST_F(AfterCtest, LeavesTheSourceAloneIfTheFileIsALinkToIt) {
  std::filesystem::create_directories(folder_ / "source");
  std::ofstream(folder_ / "source/CTestCustom.cmake") << "# own\n";
  std::string const link =
      "file(CREATE_LINK ${CMAKE_SOURCE_DIR}/CTestCustom.cmake ${CMAKE_BINARY_DIR}/CTestCustom.cmake SYMBOLIC)\n";
  ASSERT_EQ(configure("Plain.Fails", link).exit_code, 0);
  EXPECT_EQ(content_of(folder_ / "source/CTestCustom.cmake"), "# own\n");
  EXPECT_THAT(ctest().out, HasSubstr("testlog: 1 of 1 test failed"));
}

TEST_F(AfterCtest, IsSwitchedOff) {
  ASSERT_EQ(configure("Plain.Fails", "set(TESTLOG_AFTER_CTEST OFF)\n").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(build_ + "/CTestCustom.cmake"));
}

TEST_F(AfterCtest, IsSwitchedOffLater) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  ASSERT_EQ(configure("Plain.Fails", "set(TESTLOG_AFTER_CTEST OFF)\n").exit_code, 0);
  EXPECT_EQ(summary_in(ctest().out), "");
}

TEST_F(AfterCtest, WorksInAFolderWithASpace) {
  ASSERT_EQ(configure("Plain.Fails", "", "a build").exit_code, 0);
  EXPECT_THAT(ctest().out, HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
  Outcome const inside = testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && exec \"$1\"", build_, ctest_program()});
  EXPECT_THAT(inside.out, HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
}

TEST_F(AfterCtest, SaysOnceThatAFolderWithASemicolonIsLeftAlone) {
  Outcome const outcome = configure("Plain.Fails", "testlog_after_ctest(another)\n", "a;build");
  ASSERT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(testlog::testdata::count(outcome.out,
                                     "-- ctest will not sum up failed tests: the path of the build folder "
                                     "has a semicolon; `testlog summary` does\n"),
            1)
      << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(build_ + "/CTestCustom.cmake"));
}

TEST_F(AfterCtest, IsRunByTheEmulatorOfAnotherSystem) {
  Outcome const alone = configure("Plain.Fails", "set(CMAKE_CROSSCOMPILING ON)\n");
  EXPECT_THAT(alone.out, HasSubstr("need CMAKE_CROSSCOMPILING_EMULATOR here; `testlog summary` does\n"));
  EXPECT_FALSE(std::filesystem::exists(build_ + "/CTestCustom.cmake"));
  ASSERT_EQ(configure("Plain.Fails",
                      "set(CMAKE_CROSSCOMPILING ON)\nset(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env;EMULATED=1)\n")
                .exit_code,
            0);
  std::string scripts;
  for (auto const& entry : std::filesystem::directory_iterator(build_ + "/Testing/after_ctest"))
    if (entry.path().extension() == ".sh") scripts += content_of(entry.path());
  EXPECT_THAT(scripts, HasSubstr("  '/usr/bin/env' 'EMULATED=1' '"));
  EXPECT_THAT(ctest().out, HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
}

TEST_F(AfterCtest, IsOfTheCtestThatRunsTheCommand) {
  ASSERT_EQ(configure("Plain.*").exit_code, 0);
  ctest();
  std::string const folder = build_ + "/Testing/Temporary/testlog";
  EXPECT_EQ(testlog::testdata::run({TESTLOG_COMMAND, "summary", "--after-ctest", folder}).out, "")
      << "no ctest runs it";
  Outcome const again =
      testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && exec \"$1\" summary", build_, TESTLOG_COMMAND});
  EXPECT_THAT(again.out, HasSubstr("testlog: 5 of 8 tests failed"));
}

// An IDE starts a ctest for each test, which the other commands read as one run.
TEST_F(AfterCtest, LeavesOutWhatAnotherCtestRan) {
  ASSERT_EQ(configure("Plain.*").exit_code, 0);
  EXPECT_THAT(ctest({"-R", "^Plain.Fails$"}).out, HasSubstr("testlog: 1 of 1 test failed"));
  EXPECT_EQ(summary_in(ctest({"-R", "^Plain.Passes$"}).out), "");
  EXPECT_THAT(ctest({"-R", "^Plain.Throws$"}).out, HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
}

TEST_F(AfterCtest, NeverMakesCtestFail) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  EXPECT_EQ(testlog::testdata::run({TESTLOG_COMMAND, "summary", "--after-ctest", "/nowhere"}).exit_code, 0);
  std::string const program = folder_ / "a program";  // that is for another machine
  ASSERT_EQ(configure("Plain.Passes",
                      "set_target_properties(testlog::command PROPERTIES IMPORTED_LOCATION \"" + program + "\")\n")
                .exit_code,
            0);
  std::ofstream(program) << "\177ELF";
  EXPECT_EQ(ctest().exit_code, 0) << "it cannot be executed";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(ctest().exit_code, 0) << "it is no program of this machine";
}

TEST_F(AfterCtest, ReportsToGithub) {
  ASSERT_EQ(configure(kRedTests).exit_code, 0);
  Outcome const outcome = ctest_in_ci({{"GITHUB_ACTIONS", "true"}, {"GITHUB_STEP_SUMMARY", folder_ / "summary.md"}});
  EXPECT_EQ(outcome.exit_code, 8);
  tracing::testing::expect_approved("after_ctest_github.txt", log_in(outcome.out));
  tracing::testing::expect_approved("after_ctest_github.md", without_times(content_of(folder_ / "summary.md")));
}

TEST_F(AfterCtest, ReportsToGitlab) {
  ASSERT_EQ(configure(kRedTests).exit_code, 0);
  Outcome const outcome = ctest_in_ci({{"GITLAB_CI", "true"}, {"TRACE_JUNIT", folder_ / "junit.xml"}});
  EXPECT_EQ(outcome.exit_code, 8);
  tracing::testing::expect_approved("after_ctest_gitlab.txt", log_in(outcome.out));
  tracing::testing::expect_approved("after_ctest_junit.xml", without_times(content_of(folder_ / "junit.xml")));
}

TEST_F(AfterCtest, ReportsToAzure) {
  ASSERT_EQ(configure(kRedTests).exit_code, 0);
  Outcome const outcome = ctest_in_ci({{"TF_BUILD", "True"}});
  EXPECT_EQ(outcome.exit_code, 8);
  tracing::testing::expect_approved("after_ctest_azure.txt", log_in(outcome.out));
  EXPECT_THAT(content_of(build_ + "/Testing/Temporary/testlog/ci_summary.md"), HasSubstr("### testlog: "));
}

TEST_F(AfterCtest, IsReportedByTheHookAlone) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  Outcome const verbose = ctest_in_ci({{"GITHUB_ACTIONS", "true"}}, {"-V"});
  EXPECT_EQ(testlog::testdata::count(verbose.out, "::error "), 1);
  EXPECT_EQ(testlog::testdata::count(verbose.out, "\n::error "), 1) << "it begins a line";
  EXPECT_THAT(ctest_in_ci({{"GITHUB_ACTIONS", "true"}, {"TRACE_CI", "off"}}).out, Not(HasSubstr("::error")));
  EXPECT_THAT(ctest_in_ci({{"TRACE_CI", "teamcity"}}).out, HasSubstr("\n##teamcity[testFailed "));
}

TEST_F(AfterCtest, StaysGreenIfNothingCanBeReported) {
  ASSERT_EQ(configure("Plain.Passes:Retried.FailsTwice").exit_code, 0);
  Outcome const outcome = ctest_in_ci({{"GITHUB_ACTIONS", "true"},
                                       {"GITHUB_STEP_SUMMARY", "/no such folder/summary.md"},
                                       {"TRACE_JUNIT", "/no such folder/junit.xml"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  std::string const text = outcome.out + outcome.err;
  EXPECT_THAT(text, HasSubstr("testlog summary: cannot write /no such folder/summary.md: No such file or directory\n"));
  EXPECT_THAT(text, HasSubstr("testlog summary: cannot write /no such folder/junit.xml: No such file or directory\n"));
  Outcome const wrong = ctest_in_ci({{"TRACE_CI", "jenkins"}});
  EXPECT_EQ(wrong.exit_code, 0);
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("testlog summary: TRACE_CI=jenkins: no such service; expected one of "));
}

TEST_F(AfterCtest, IsReportedAgain) {
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes").exit_code, 0);
  ctest();
  auto const testlog = [this](std::string const& arguments, Variables const& variables = {}) {
    return testlog::testdata::run(
        {"/bin/sh", "-c", "cd \"$0\" && exec \"$1\" " + arguments + " 2>&1", build_, TESTLOG_COMMAND}, variables);
  };
  EXPECT_THAT(testlog("ci --as github").out, testing::StartsWith("::error "));
  EXPECT_THAT(testlog("ci", {{"GITLAB_CI", "true"}}).out, HasSubstr("section_start"));
  EXPECT_EQ(testlog("ci").exit_code, 1);
  EXPECT_THAT(testlog("ci").out, HasSubstr("no CI service that it reports to is found; expected --as"));
  EXPECT_EQ(testlog("ci --as jenkins").exit_code, 1);
  EXPECT_THAT(testlog("export --junit").out, HasSubstr("<testsuites name=\"testlog\" tests=\"2\" failures=\"1\""));
  EXPECT_THAT(testlog("export --junit - Testing/Temporary/testlog").out, HasSubstr(" tests=\"1\" failures=\"1\""));
  ctest({"--repeat", "until-pass:3"});
  testlog("pack -o ../run.tar");
  std::string const packed = testlog("export --junit - ../run.tar").out;
  EXPECT_THAT(packed, HasSubstr(" tests=\"1\" failures=\"1\""));
  EXPECT_EQ(testlog::testdata::count(packed, "<rerunFailure "), 2) << packed;
  EXPECT_EQ(testlog("export --junit - --run ../run.tar").out, packed);
  EXPECT_THAT(testlog("export --junit - ../no.rec").out, HasSubstr("no.rec: "));
  EXPECT_EQ(testlog("export --junit - ../no.rec").exit_code, 1);
}

TEST_F(AfterCtest, WritesOneJunitFileForAllFolders) {
  std::string const more =
      "add_executable(others IMPORTED)\n"
      "set_target_properties(others PROPERTIES IMPORTED_LOCATION " TESTLOG_OWN_MAIN
      ")\n"
      "testlog_discover_tests(others RECORD \"it's others\" DISCOVERY_MODE PRE_TEST)\n";
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes", more).exit_code, 0);
  Outcome const outcome = ctest({}, {{"TRACE_JUNIT", folder_ / "junit.xml"}});
  EXPECT_EQ(testlog::testdata::count(outcome.out, "testlog: 1 of "), 1) << outcome.out;
  Outcome const read = testlog::testdata::run({"/usr/bin/env", "python3", TESTLOG_JUNIT_READER, folder_ / "junit.xml"});
  EXPECT_EQ(read.exit_code, 0) << read.err;
  EXPECT_THAT(read.out, HasSubstr("\"name\": \"testlog_own_main\""));
  EXPECT_THAT(read.out, HasSubstr("\"name\": \"testlog_scenarios\""));
  EXPECT_THAT(read.out, HasSubstr("\"failures\": \"1\""));
}

TEST_F(AfterCtest, HasRecordingsInWhatCdashGets) {
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes", "include(CTest)\n").exit_code, 0);
  std::string const file = folder_ / "R&D.%p.rec";
  Outcome const outcome = ctest({"-T", "Test"}, {{"TRACE_CI", "cdash"}, {"TRACE_RECORD", file}});
  std::string text;
  for (auto const& entry : std::filesystem::directory_iterator(build_ + "/Testing"))
    if (exists(entry.path() / "Test.xml")) text += content_of(entry.path() / "Test.xml");
  EXPECT_THAT(text, ContainsRegex("<NamedMeasurement type=\"numeric/double\" name=\"failed tests\">[[:space:]]*"
                                  "<Value>1</Value>"));
  EXPECT_THAT(text, ContainsRegex("<NamedMeasurement type=\"text/string\" name=\"spans\">[[:space:]]*"
                                  "<Value>outer[{]id=7[}]:inner</Value>"));
  EXPECT_THAT(text, ContainsRegex("<NamedMeasurement name=\"recording\" encoding=\"base64\" compression=\"tar/gzip\" "
                                  "filename=\"R&amp;D.[0-9]+.rec\" type=\"file\">[[:space:]]*<Value>H4sI"));
  EXPECT_EQ(testlog::testdata::count(text, "name=\"recording\""), 1);
  EXPECT_THAT(text, Not(HasSubstr("CTestMeasurement"))) << "the output has none of it";
}

// ---- what is sent by OTLP ----

using testlog::cli::otlp::answer;
using testlog::cli::otlp::Server;

class OtlpAfterCtest : public AfterCtest {
 protected:
  void SetUp() override {
    Outcome const outcome = testlog::testdata::run({TESTLOG_COMMAND, "export", "/nowhere", "--otlp-http"});
    if (outcome.err.find("built without cpp-httplib") != outcome.err.npos) GTEST_SKIP() << outcome.err;
  }
  // Runs ctest, which is to send to `url`. Each request has half a second, unless the variables say otherwise.
  Outcome ctest_to(std::string const& url, Variables variables = {},
                   std::vector<std::string> const& arguments = {}) const {
    auto const add = [&variables](char const* name, std::string const& value) {
      if (std::none_of(variables.begin(), variables.end(), [name](auto const& one) { return one.first == name; }))
        variables.emplace_back(name, value);
    };
    add("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    add("OTEL_EXPORTER_OTLP_TIMEOUT", "500");
    add("TRACE_OTLP", "failed");
    return ctest(arguments, variables);
  }
  // Returns the lines about what was sent, without the numbers of spans.
  static std::string said_in(Outcome const& outcome, std::string const& url) {
    std::istringstream from(outcome.out + outcome.err);
    std::string lines;
    for (std::string line; std::getline(from, line);) {
      std::size_t const at = line.find(url);
      if (at == line.npos && line.find("OTLP") == line.npos) continue;
      lines += (at == line.npos ? line : line.replace(at, url.size(), "URL")) + "\n";
    }
    return std::regex_replace(lines, std::regex("sent [1-9][0-9]* (span|log record)s"), "sent N $1s");
  }
};

constexpr char kSent[] = "testlog: sent N spans to URL/v1/traces, of 1 recording\n";

TEST_F(OtlpAfterCtest, SendsTheTestsThatFailedOrAll) {
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes:Plain.Skips:Retried.FailsTwice").exit_code, 0);
  Server failed({testlog::cli::otlp::kTaken}), all({testlog::cli::otlp::kTaken});
  Outcome const red = ctest_to(failed.url());
  EXPECT_EQ(red.exit_code, 8);
  EXPECT_EQ(said_in(red, failed.url()), "testlog: sent N spans to URL/v1/traces, of 2 recordings\n");
  ASSERT_EQ(failed.requests().size(), 1u);
  EXPECT_THAT(failed.requests()[0], HasSubstr("Plain.Fails"));
  EXPECT_THAT(failed.requests()[0], Not(HasSubstr("Plain.Passes")));
  Outcome const repeated = ctest_to(all.url(), {{"TRACE_OTLP", "all"}}, {"--repeat", "until-pass:3"});
  EXPECT_EQ(said_in(repeated, all.url()), "testlog: sent N spans to URL/v1/traces, of 7 recordings\n")
      << "three attempts of one test, two of another";
  for (char const* const name : {"Plain.Fails", "Plain.Passes", "Plain.Skips", "Retried.FailsTwice"})
    EXPECT_THAT(all.requests()[0], HasSubstr(name));
}

TEST_F(OtlpAfterCtest, SendsEachRecordingOnceIfAllAreKept) {
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes").exit_code, 0);
  Server server({testlog::cli::otlp::kTaken});
  Outcome const outcome = ctest_to(server.url(), {{"TRACE_OTLP", "all"}, {"TRACE_RECORD_KEEP", "all"}});
  EXPECT_EQ(said_in(outcome, server.url()), "testlog: sent N spans to URL/v1/traces, of 2 recordings\n");
  Outcome const failed = ctest_to(server.url(), {{"TRACE_RECORD_KEEP", "all"}});
  EXPECT_EQ(said_in(failed, server.url()), kSent);
}

TEST_F(OtlpAfterCtest, SendsEventsToTheirEndpoint) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  Server server({testlog::cli::otlp::kTaken});
  Outcome const both = ctest_to(server.url(), {{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", server.url() + "/logs"}});
  EXPECT_THAT(said_in(both, server.url()), HasSubstr(" and 6 log records to "));
  Outcome const logs = ctest_to(server.url(), {{"OTEL_EXPORTER_OTLP_ENDPOINT", ""},
                                               {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", server.url() + "/logs"}});
  EXPECT_EQ(said_in(logs, server.url()), "testlog: sent N log records to URL/logs, of 1 recording\n");
}

TEST_F(OtlpAfterCtest, SaysWhyNothingIsSent) {
  ASSERT_EQ(configure("Plain.Fails:Plain.Passes").exit_code, 0);
  Server server({testlog::cli::otlp::kTaken});
  std::string const url = server.url(), nothing = "testlog: nothing was sent by OTLP, since ";
  EXPECT_EQ(said_in(ctest_to(url, {{"OTEL_SDK_DISABLED", "true"}}), url), nothing + "OTEL_SDK_DISABLED is true\n");
  EXPECT_EQ(said_in(ctest_to(url, {{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}}), url),
            nothing + "OTEL_EXPORTER_OTLP_ENDPOINT is not set\n");
  EXPECT_THAT(said_in(ctest_to("localhost:4318"), url),
              HasSubstr("OTLP_ENDPOINT=localhost:4318: not a URL; expected "));
  EXPECT_EQ(said_in(ctest_to(url, {}, {"-R", "Passes"}), url), nothing + "no test that failed left a recording\n");
  EXPECT_EQ(said_in(ctest_to(url, {{"TRACE_OTLP", "all"}, {"TRACE_CAPTURE", "off"}}), url),
            nothing + "no test left a recording\n");
  EXPECT_EQ(said_in(ctest_to(url, {}, {"-N"}), url), "") << "no test ran";
  EXPECT_EQ(said_in(ctest_to(url, {{"TRACE_OTLP", "off"}}), url), "");
  Outcome const wrong = ctest_to(url, {{"TRACE_OTLP", "yes"}}, {"-R", "Passes"});
  EXPECT_EQ(wrong.exit_code, 0);
  EXPECT_EQ(said_in(wrong, url), "testlog summary: TRACE_OTLP=yes: unknown value; expected one of off, failed, all\n");
  EXPECT_EQ(server.requests().size(), 0u);
}

TEST_F(OtlpAfterCtest, SaysInASentenceWhatAReceiverDoes) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  struct {
    std::string first;
    char const* said;
  } const cases[] = {
      {testlog::cli::otlp::kNone, "URL/v1/traces does not answer"},
      {testlog::cli::otlp::kDrip, "URL/v1/traces does not answer"},
      {answer("400 Bad Request", "bad"), "URL/v1/traces refused the spans: 400 Bad Request: bad"},
      {answer("413 Content Too Large"), "URL/v1/traces refused the spans: 413 Content Too Large"},
      {answer("429 Too Many Requests"), "URL/v1/traces is busy: 429 Too Many Requests"},
      {answer("503 Service Unavailable"), "URL/v1/traces is busy: 503 Service Unavailable"},
      {answer("302 Found", "", "Location: http://other/\r\n"),
       "URL/v1/traces redirects to http://other/ (302 Found), which is not followed; name that URL"},
      {answer("400 Bad Request", "two\nlines \x1b[31m"),
       "URL/v1/traces refused the spans: 400 Bad Request: two\\nlines \\x1b[31m"},
  };
  for (auto const& one : cases) {
    Server server({one.first});
    Outcome const outcome = ctest_to(server.url());
    EXPECT_EQ(outcome.exit_code, 8);
    EXPECT_EQ(said_in(outcome, server.url()), std::string("testlog: ") + one.said + "\n");
  }
  Server half({"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"});
  EXPECT_THAT(said_in(ctest_to(half.url()), half.url()), testing::MatchesRegex("testlog: URL/v1/traces [^\n]*\n"));
  std::string url;
  {
    Server server({testlog::cli::otlp::kTaken});
    url = server.url();
  }
  Outcome const green = ctest_to(url, {{"TRACE_OTLP", "all"}}, {"--repeat", "until-fail:1"});
  EXPECT_EQ(said_in(green, url), "testlog: URL/v1/traces cannot be reached\n");
}

TEST_F(OtlpAfterCtest, TakesAtMostTenSeconds) {
  ASSERT_EQ(configure("Plain.Fails").exit_code, 0);
  Server server({testlog::cli::otlp::kDrip});
  auto const begin = std::chrono::steady_clock::now();
  Outcome const outcome = ctest_to(server.url(), {{"OTEL_EXPORTER_OTLP_TIMEOUT", "60000"}});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15)) << "with the tests themselves";
  EXPECT_EQ(said_in(outcome, server.url()), "testlog: URL/v1/traces does not answer\n");
}

// The project's own file lets ctest call the hook once more.
TEST_F(OtlpAfterCtest, SendsNothingTwice) {
  std::string const twice =
      "file(WRITE \"${CMAKE_BINARY_DIR}/CTestCustom.cmake\" \"set(CTEST_CUSTOM_POST_TEST \\\"/bin/sh "
      "Testing/after_ctest/summary-.sh\\\")\\n\")\n";
  ASSERT_EQ(configure("Plain.Fails", twice).exit_code, 0);
  Server server({testlog::cli::otlp::kTaken});
  EXPECT_EQ(said_in(ctest_to(server.url()), server.url()),
            kSent + std::string("testlog: nothing was sent by OTLP, since this run was sent before\n"));
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(said_in(ctest_to(server.url()), server.url()), testing::StartsWith(kSent)) << "another run";
  EXPECT_EQ(server.requests().size(), 2u);
  Server busy({answer("413 Content Too Large"), testlog::cli::otlp::kTaken});
  EXPECT_EQ(said_in(ctest_to(busy.url()), busy.url()),
            std::string("testlog: URL/v1/traces refused the spans: 413 Content Too Large\n") + kSent);
}

}  // namespace
