// What services read in the log, by parsers that follow the documents of each service.
#include "testlog/cli/ci/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/ci/ci_test_support.h"

namespace testlog::cli { namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

struct Command {
  std::string name;
  std::map<std::string, std::string> properties{};
  std::string text{};
};

std::string replaced(std::string text, std::vector<std::pair<std::string, std::string>> const& pairs) {
  for (auto const& [from, to] : pairs)
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands: `::name key=value,key=value::text`
// at the beginning of a line, after blanks. The runner also takes `##[name]` anywhere in a line.
std::vector<Command> github_commands(std::string const& log) {
  std::vector<Command> commands;
  for (std::string line : lines_of(replaced(log, {{"\r", "\n"}}))) {
    line.erase(0, line.find_first_not_of(" \t"));
    std::size_t const end = line.starts_with("::") ? line.find("::", 2) : line.npos;
    if (end == line.npos) {
      if (line.find("##[") != line.npos) commands.push_back({"##["});
      continue;
    }
    Command command{line.substr(2, std::min(line.find(' ', 2), end) - 2)};
    std::size_t at = 2 + command.name.size();
    while (at < end) {
      std::size_t const next = std::min(line.find(',', at + 1), end), equals = line.find('=', at);
      command.properties[line.substr(at + 1, equals - at - 1)] =
          replaced(line.substr(equals + 1, next - equals - 1),
                   {{"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}, {"%25", "%"}});
      at = next;
    }
    command.text = replaced(line.substr(end + 2), {{"%0D", "\r"}, {"%0A", "\n"}, {"%25", "%"}});
    commands.push_back(command);
  }
  return commands;
}

// https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands: `##vso[area.action key=value;]text`,
// anywhere in a line; `##[command]` formats.
std::vector<Command> azure_commands(std::string const& log) {
  std::vector<Command> commands;
  for (std::string const& line : lines_of(replaced(log, {{"\r", "\n"}}))) {
    if (line.find("##[") != line.npos) commands.push_back({"##["});
    std::size_t const begin = line.find("##vso[");
    std::size_t const end = begin == line.npos ? line.npos : line.find(']', begin);
    if (end == line.npos) continue;
    std::string const inside = line.substr(begin + 6, end - begin - 6);
    Command command{inside.substr(0, inside.find(' '))};
    for (std::size_t at = command.name.size(); at + 1 < inside.size();) {
      std::size_t const equals = inside.find('=', at), next = std::min(inside.find(';', at + 1), inside.size());
      command.properties[inside.substr(at + 1, equals - at - 1)] =
          replaced(inside.substr(equals + 1, next - equals - 1),
                   {{"%3B", ";"}, {"%5D", "]"}, {"%0A", "\n"}, {"%0D", "\r"}, {"%AZP25", "%"}});
      at = next;
    }
    command.text = replaced(line.substr(end + 1), {{"%0A", "\n"}, {"%0D", "\r"}, {"%AZP25", "%"}});
    commands.push_back(command);
    EXPECT_EQ(line.find("##vso[", end), line.npos) << line;
  }
  return commands;
}

// https://www.jetbrains.com/help/teamcity/service-messages.html: `##teamcity[name key='value']`. Returns nothing if a
// line that has the words is not of this form to its end.
std::optional<std::vector<Command>> teamcity_messages(std::string const& log) {
  std::vector<Command> messages;
  for (std::string const& line : lines_of(replaced(log, {{"\r", "\n"}}))) {
    constexpr std::string_view kBegin = "##teamcity[";
    if (!line.starts_with(kBegin)) return std::nullopt;
    std::size_t at = std::min(line.find(' '), line.size());
    Command message{line.substr(kBegin.size(), at - kBegin.size())};
    while (at < line.size() && line[at] == ' ') {
      std::size_t const equals = line.find('=', at);
      std::string const key = line.substr(at + 1, equals - at - 1);
      std::string& value = message.properties[key];
      if (equals + 1 >= line.size() || line[equals + 1] != '\'') return std::nullopt;
      for (at = equals + 2; at < line.size() && line[at] != '\''; ++at) {
        if (line[at] == '[' || line[at] == ']') return std::nullopt;
        if (line[at] == '|' && ++at < line.size())
          value += line[at] == 'n' ? '\n' : line[at];
        else
          value += line[at];
      }
      ++at;
    }
    if (line.substr(std::min(at, line.size())) != "]") return std::nullopt;
    messages.push_back(message);
  }
  return messages;
}

// https://docs.gitlab.com/ci/jobs/job_logs: sections that begin and end in turn. Returns their headers.
std::optional<std::vector<std::string>> gitlab_sections(std::string const& log) {
  std::vector<std::string> headers;
  std::string open;
  for (std::string const& line : lines_of(log)) {
    constexpr std::string_view kStart = "\x1b[0Ksection_start:", kEnd = "\x1b[0Ksection_end:", kClear = "\r\x1b[0K";
    std::size_t const clear = line.find(kClear);
    bool const is_marker = line.starts_with(kStart) || line.starts_with(kEnd);
    if (!is_marker && line.find('\x1b') != line.npos) return std::nullopt;
    if (!is_marker) continue;
    if (clear == line.npos || line.find('\x1b', clear + 2) != line.npos) return std::nullopt;
    bool const starts = line.starts_with(kStart);
    std::string name =
        line.substr(starts ? kStart.size() : kEnd.size(), clear - (starts ? kStart.size() : kEnd.size()));
    name = name.substr(0, name.find('['));
    if (starts != open.empty() || (!starts && name != open)) return std::nullopt;
    open = starts ? name : "";
    if (starts) headers.push_back(line.substr(clear + kClear.size()));
  }
  return open.empty() ? std::optional(headers) : std::nullopt;
}

std::string log_of(summary::RunSummary const& run, CiService service, ReportOf const& report_of = no_report) {
  return annotations_of(run, {.service = service, .root = "/repository"}, report_of, 1'700'000'000);
}

TEST(Annotations, NameThePlaceTheSpansAndTheDifference) {
  summary::TestOutcome test = failed_test("Pool.Grows", "Expected: 50%, a:b\n  actual: 49%");
  summary::set_span_path(test, "request{id=7}:load");
  summary::RunSummary run = run_of({test});
  run.causes[0].why = {"request \"found\": is_stale is true"};
  auto const commands = github_commands(log_of(run, CiService::github));
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands[0].name, "error");
  EXPECT_EQ(commands[0].properties, (std::map<std::string, std::string>{
                                        {"file", "pool_test.cc"}, {"line", "7"}, {"title", "Pool.Grows failed"}}));
  std::string const text =
      "Expected: 50%, a:b actual: 49%\nin request{id=7}:load\nwhy: request \"found\": is_stale is true";
  EXPECT_EQ(commands[0].text, text);
  auto const azure = azure_commands(log_of(run, CiService::azure));
  ASSERT_THAT(azure, SizeIs(1));
  EXPECT_EQ(azure[0].properties, (std::map<std::string, std::string>{
                                     {"type", "error"}, {"sourcepath", "pool_test.cc"}, {"linenumber", "7"}}));
  EXPECT_EQ(azure[0].text, "Pool.Grows failed\n" + text);
}

TEST(Annotations, NameTheRecordingOfWhatFailedOutsideOfTests) {
  summary::TestOutcome outside = failed_test("", "no database");
  outside.key = "pool_test.Pool.Grows";
  auto const commands = github_commands(log_of(run_of({outside}), CiService::github));
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands[0].properties.at("title"), "pool_test.Pool.Grows (outside any test) failed");
}

TEST(Annotations, AreOneForFortyTestsOfOneCause) {
  std::vector<summary::TestOutcome> tests;
  for (int i = 0; i < 40; ++i) tests.push_back(failed_test("Pool.Test" + std::to_string(i)));
  for (CiService const service : {CiService::github, CiService::azure}) {
    std::string const log = log_of(run_of(tests), service);
    EXPECT_THAT(lines_of(log), SizeIs(1));
    EXPECT_THAT(log, HasSubstr("40 tests failed"));
  }
  EXPECT_THAT(gitlab_sections(log_of(run_of(tests), CiService::gitlab)).value(),
              testing::ElementsAre(StartsWith("40 tests failed: Pool.Test0, ")));
}

TEST(Annotations, SayInTheTenthHowManyMoreThereAre) {
  for (std::size_t const count : {9u, 10u, 11u, 10'000u}) {
    auto const commands = github_commands(log_of(run_with_failures(count), CiService::github));
    ASSERT_THAT(commands, SizeIs(std::min<std::size_t>(count, 10))) << count;
    EXPECT_EQ(commands.back().text.find("\nand ") != std::string::npos, count > 10) << commands.back().text;
    EXPECT_THAT(azure_commands(log_of(run_with_failures(count), CiService::azure)), SizeIs(commands.size()));
  }
  EXPECT_THAT(github_commands(log_of(run_with_failures(11), CiService::github)).back().text,
              EndsWith("\nand 1 more cause"));
}

TEST(Annotations, WarnOfFlakyTests) {
  std::vector<summary::TestOutcome> tests;
  for (int i = 0; i < 12; ++i) tests.push_back(flaky_test("Pool.Test" + std::to_string(i)));
  auto const commands = github_commands(log_of(run_of(tests), CiService::github));
  ASSERT_THAT(commands, SizeIs(10));
  for (Command const& command : commands) EXPECT_EQ(command.name, "warning");
  EXPECT_EQ(commands[0].properties.at("title"), "Pool.Test0 is flaky: attempt 1 failed, attempt 2 passed");
  EXPECT_THAT(commands.back().text, EndsWith("\nand 2 more flaky tests"));
}

TEST(Annotations, AreTestsOfTeamcity) {
  auto const messages =
      teamcity_messages(log_of(run_of({failed_test("Pool.Grows", "it's [1|2]\nnext"), flaky_test("Pool.Drains")}),
                               CiService::teamcity))
          .value();
  std::vector<std::string> names;
  for (Command const& message : messages) names.push_back(message.name);
  EXPECT_THAT(names, testing::ElementsAre("testStarted", "testFailed", "testFinished", "testStarted", "testFailed",
                                          "testFinished", "testStarted", "testFinished"));
  EXPECT_EQ(messages[1].properties.at("message"), "it's [1|2] next");
  EXPECT_EQ(messages[1].properties.at("name"), "pool_test: Pool.Grows");
  EXPECT_EQ(messages[2].properties.at("duration"), "1500");
  auto const many = teamcity_messages(log_of(run_with_failures(1001), CiService::teamcity)).value();
  EXPECT_THAT(many, SizeIs(3001));
  EXPECT_EQ(many.back().properties.at("text"), "testlog: 1 more test failed");
}

TEST(Annotations, AreSectionsOfGitlab) {
  auto const report = [](summary::TestOutcome const&) { return std::vector<std::string>{"a", "b"}; };
  std::string const log = log_of(run_of({failed_test("Pool.Grows")}), CiService::gitlab, report);
  EXPECT_EQ(log,
            "\x1b[0Ksection_start:1700000000:testlog_1700000000_1[collapsed=true]\r\x1b[0KPool.Grows failed\n"
            "Value of: false\n  a\n  b\n\x1b[0Ksection_end:1700000000:testlog_1700000000_1\r\x1b[0K\n");
  std::string const many = log_of(run_with_failures(10'000), CiService::gitlab, report);
  EXPECT_LE(many.size(), (256u << 10) + 100);
  EXPECT_TRUE(gitlab_sections(many).has_value());
  EXPECT_THAT(many, EndsWith(" more causes not in the log\n"));
}

TEST(Annotations, CannotBeMadeByValues) {
  summary::RunSummary const run = hostile_run();
  for (Command const& command : github_commands(log_of(run, CiService::github, hostile_report)))
    EXPECT_TRUE(command.name == "error" || command.name == "warning") << command.name;
  EXPECT_THAT(github_commands(log_of(run, CiService::github)), SizeIs(20));
  for (Command const& command : azure_commands(log_of(run, CiService::azure, hostile_report)))
    EXPECT_EQ(command.name, "task.logissue");
  EXPECT_THAT(azure_commands(log_of(run, CiService::azure)), SizeIs(20));
  auto const messages = teamcity_messages(log_of(run, CiService::teamcity, hostile_report));
  ASSERT_TRUE(messages.has_value());
  EXPECT_THAT(*messages, SizeIs(hostile_texts().size() * (3 + 5)));
  auto const sections = gitlab_sections(log_of(run, CiService::gitlab, hostile_report));
  ASSERT_TRUE(sections.has_value());
  EXPECT_THAT(*sections, SizeIs(run.causes.size()));
  for (CiService const service : {CiService::github, CiService::azure, CiService::teamcity, CiService::gitlab})
    for (std::string const& line : lines_of(log_of(run, service, hostile_report)))
      EXPECT_LE(line.size(), 16'384u) << line.substr(0, 100);
}

TEST(Annotations, CutTextsAtTheirLimit) {
  for (CiValue const kind : {CiValue::github_message, CiValue::github_property, CiValue::azure_message,
                             CiValue::azure_property, CiValue::teamcity}) {
    for (std::size_t const size : {4095u, 4096u, 4097u}) {
      std::string const text(size, 'x');
      std::string const value = escaped(text, kind, 4096);
      EXPECT_EQ(value.size(), std::min<std::size_t>(size, 4096));
      EXPECT_EQ(value == text, size <= 4096) << size;
      EXPECT_EQ(value.ends_with("..."), size > 4096) << size;
    }
    for (std::string_view const character : {"%", "\n", "|", "]", ";", ":", "\xc3\xa4", "\x1b", "\xff"}) {
      for (std::size_t before = 0; before < 12; ++before) {
        std::string text(before, 'x');
        while (text.size() < 100) text += character;
        std::string const value = escaped(text, kind, 64);
        EXPECT_LE(value.size(), 64u);
        EXPECT_THAT(value, EndsWith("..."));
        EXPECT_GE(value.size(), 64u - 16) << "it uses the room";
        std::string const whole = escaped(text, kind, 4096);
        EXPECT_THAT(whole, StartsWith(value.substr(0, value.size() - 3)));
      }
    }
  }
}

TEST(Annotations, AreRelativeToTheRepository) {
  EXPECT_EQ(path_in_repository("/repository/a/b.cc", "/repository"), "a/b.cc");
  EXPECT_EQ(path_in_repository("/repository/build/../a/b.cc", "/repository/"), "a/b.cc");
  EXPECT_EQ(path_in_repository("/elsewhere/b.cc", "/repository"), "");
  EXPECT_EQ(path_in_repository("/repository2/b.cc", "/repository"), "");
  EXPECT_EQ(path_in_repository("", "/repository"), "");
  EXPECT_EQ(path_in_repository("/repository/b.cc", ""), "");
  EXPECT_EQ(path_in_repository("../../testlog/testlog.h", TESTLOG_SOURCE_DIR), "testlog/testlog.h");
  EXPECT_EQ(path_in_repository("../../testlog/no such file", TESTLOG_SOURCE_DIR), "");
}

TEST(Annotations, AreNoneInAGreenRun) {
  summary::TestOutcome test = failed_test("Pool.Grows");
  test.result = summary::Result::passed;
  for (CiService const service :
       {CiService::github, CiService::azure, CiService::teamcity, CiService::gitlab, CiService::buildkite})
    EXPECT_EQ(log_of(run_of({test}), service), "");
}

TEST(Annotations, LeaveNoCommandInTheSummary) {
  EXPECT_EQ(without_commands("a ##[error] ##vso[x] ###[ #[ # #"), "a #\\x23[error] #\\x23vso[x] #\\x23#[ #[ # #");
}

}}  // namespace testlog::cli
