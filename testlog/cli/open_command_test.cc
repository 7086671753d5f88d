// `testlog open`: recordings and traces, served to a client that asks as ui.perfetto.dev does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/approval.h"
#include "tests/support/link_client.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing_test::ask_link;
using tracing_test::body_of;
using tracing_test::LinkPort;

class Open : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string const why = LinkPort::why_not(); !why.empty()) GTEST_SKIP() << why;
    fs::create_directory(folder_ / "tmp");
  }
  std::string record(std::string_view name, int events = 1) const {
    return tracing_test::record_to({.path = folder_ / name}, [events] {
      TRACE_SPAN(info, "outer");
      for (int i = 0; i < events; ++i) TRACE_DEBUG("event");
    });
  }
  Outcome open(std::vector<std::string> const& arguments, std::string const& ci = "") const {
    std::vector<std::string> words{TESTLOG_COMMAND, "open"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return testlog::testdata::run(words, variables(ci));
  }
  testlog::testdata::Variables variables(std::string const& ci) const {
    return {{"CI", ci},      {"SSH_CONNECTION", ""},     {"SSH_TTY", ""}, {"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""},
            {"BROWSER", ""}, {"TMPDIR", folder_ / "tmp"}};
  }
  // Starts the command, which runs meanwhile. Its output is in a file, so that link() sees it.
  std::future<Outcome> start(std::vector<std::string> const& arguments) const {
    return std::async(std::launch::async, [this, arguments] {
      std::vector<std::string> words{"/bin/sh",       "-c",  "exec \"$@\" >\"$0\"", folder_ / "printed",
                                     TESTLOG_COMMAND, "open"};
      words.insert(words.end(), arguments.begin(), arguments.end());
      Outcome outcome = testlog::testdata::run(words, variables(""));
      outcome.out = testlog::testdata::content_of(folder_ / "printed");
      return outcome;
    });
  }
  // Waits for the printed link. Returns its path.
  std::string link() const {
    for (int i = 0; i < 1000; ++i, usleep(10'000)) {
      std::string const printed = testlog::testdata::content_of(folder_ / "printed");
      std::string const path = tracing_test::path_of_link(printed);
      if (!path.empty() && printed.find('\n') != printed.npos) return path;
    }
    return "no link";
  }
  std::vector<fs::path> left_over() const {
    std::vector<fs::path> files;
    for (auto const& entry : fs::recursive_directory_iterator(folder_ / "tmp")) files.push_back(entry.path());
    return files;
  }

  LinkPort const port_;
  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Open, ServesTheTraceOfARecording) {
  std::string const file = record("run.rec");
  auto opened = start({file});
  std::string const path = link(), trace = body_of(ask_link("GET " + path));
  EXPECT_THAT(path, EndsWith("/run.pftrace"));
  Outcome const outcome = opened.get();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Open in a browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001" +
                                      path + "\nNo browser was found here.\n"));
  EXPECT_EQ(trace, run_command("export", {file, "--perfetto", "-"}).out);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Open, ServesTheTraceOfAFolderOfRecordings) {
  record("a.rec"), record("b.rec");
  auto opened = start({folder_ / "", "--filter=info"});
  std::string const trace = body_of(ask_link("GET " + link()));
  EXPECT_EQ(opened.get().exit_code, 0);
  EXPECT_EQ(trace, run_command("export", {folder_ / "", "--filter=info", "--perfetto", "-"}).out);
}

TEST_F(Open, ServesAnyOtherFileAsItIs) {
  std::string const file = folder_.write("trace.json", "[]");
  auto opened = start({file, "--no-browser", "--origin=http://localhost:10000", "--origin", "https://traces.example"});
  std::string const path = link();
  EXPECT_EQ(body_of(ask_link("GET " + path)), "[]");
  EXPECT_EQ(opened.get().out, "Open in a browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001" + path +
                                  "\nOr: http://localhost:10000/#!/?url=http://127.0.0.1:9001" + path +
                                  "\nOr: https://traces.example/#!/?url=http://127.0.0.1:9001" + path +
                                  "\nThe link works once, within 300 s. Ctrl-C ends it.\nThe browser has fetched " +
                                  file + "\n");
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(Open, ServesATimelineAsItIs) {
  std::string const file = folder_ / "timeline.tar";
  ASSERT_EQ(run_command("export", {record("run.rec"), "--perfetto", file}).exit_code, 0);
  auto opened = start({file});
  EXPECT_EQ(body_of(ask_link("GET " + link())), testlog::testdata::content_of(file));
  EXPECT_EQ(opened.get().exit_code, 0);
}

// Returns the .pftrace file that the text names.
std::string file_in(std::string const& text) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("/[^ \n]*\\.pftrace")) ? found[0].str() : "";
}

TEST_F(Open, KeepsTheTraceThatNobodyFetched) {
  std::string const file = record("run.rec");
  Outcome const outcome = open({file, "--no-browser", "--time-limit=0.05"});
  EXPECT_EQ(outcome.exit_code, 1);
  std::string const last = outcome.out.substr(outcome.out.find("No browser fetched"));
  EXPECT_THAT(last, StartsWith("No browser fetched the trace within 0.05 s. Open " + folder_ / "tmp/testlog-"));
  EXPECT_EQ(testlog::testdata::content_of(file_in(last)), run_command("export", {file, "--perfetto", "-"}).out);
}

TEST_F(Open, SaysInCiWhereTheTraceIs) {
  Outcome const outcome = open({record("run.rec")}, "true");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("In CI no link is served. The trace is " + folder_ / "tmp/testlog-"),
                                 EndsWith("/run.pftrace\n")));
  EXPECT_TRUE(fs::exists(file_in(outcome.out)));
}

TEST_F(Open, EndsByCtrlC) {
  std::string const file = folder_.write("trace.json", "[]");
  Outcome const outcome =
      testlog::testdata::run({"/bin/sh", "-c",
                              std::string("CI= SSH_CONNECTION= SSH_TTY= exec timeout --preserve-status -s INT 1 ") +
                                  TESTLOG_COMMAND + " open --no-browser " + file});
  EXPECT_THAT(outcome.out, EndsWith("Interrupted before a browser fetched the trace. Open " + file +
                                    " on https://ui.perfetto.dev instead.\n"));
  EXPECT_EQ(outcome.exit_code, 1);
}

// Runs `words` in a shell, in the folder to which a process in the background, `$opened`, writes its output. That
// process opens the recording.
Outcome in_shell(std::string const& words, std::string const& folder, std::string const& recording) {
  std::string const start =
      "cd \"$0\"; TMPDIR=$0/tmp CI= SSH_CONNECTION= SSH_TTY= \"$1\" open --no-browser \"$2\" > out 2>&1 & opened=$!; ";
  return testlog::testdata::run({"/bin/sh", "-c", start + words, folder, TESTLOG_COMMAND, recording});
}

TEST_F(Open, LeavesNoTraceIfASignalEndsIt) {
  std::string const file = record("run.rec", 300'000);
  for (std::string const moment : {"ls tmp/testlog-*/*", "grep -q 'Open in a browser' out"}) {
    for (std::string const signal : {"TERM", "HUP"}) {
      Outcome const outcome = in_shell("until " + moment + " > found 2>&1; do :; done; kill -" + signal +
                                           " $opened; wait $opened; echo $?; cat found",
                                       folder_ / "", file);
      EXPECT_THAT(outcome.out, StartsWith(signal == "TERM" ? "143\n" : "129\n")) << moment;
      EXPECT_THAT(left_over(), IsEmpty()) << moment << ", SIG" << signal << ": " << outcome.out;
      fs::remove(folder_ / "out");
    }
  }
}

TEST_F(Open, KeepsTheTraceIfCtrlCEndsTheWait) {
  std::string const file = record("run.rec");
  std::string const words =
      std::string("CI= SSH_CONNECTION= SSH_TTY= TMPDIR=\"$0\" exec timeout --preserve-status -s INT 1 ") +
      TESTLOG_COMMAND;
  std::string const said =
      testlog::testdata::run({"/bin/sh", "-c", words + " open --no-browser \"$1\"", folder_ / "tmp", file}).out;
  EXPECT_THAT(said, HasSubstr("Interrupted before a browser fetched the trace. Open " + folder_ / "tmp/testlog-"));
  EXPECT_TRUE(fs::exists(file_in(said.substr(said.find("Interrupted"))))) << said;
}

TEST_F(Open, ExplainsMistakes) {
  std::string const trace = folder_.write("trace.json", "[]"), file = record("run.rec");
  fs::create_directory(folder_ / "empty");
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {trace, "--filter=info"},
           {folder_.write("run.xplane.pb", "")},
           {file, trace},
           {file, "--filter=a=b=c"},
           {file, "--time-limit=0"},
           {file, "--time-limit=nan"},
           {trace, "--origin=localhost:10000"},
           {trace, "--origin=http://localhost:10000/"},
           {trace, "--origin=*"},
           {""},
           {file, "--port=9002"},
           {folder_ / "empty"},
           {folder_ / "missing.pftrace"},
       }) {
    Outcome const outcome = open(arguments);
    std::string message = "testlog open";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    message += " -> " + std::to_string(outcome.exit_code) + "\n" + outcome.out + outcome.err + "\n";
    messages += std::regex_replace(message, std::regex(folder_ / ""), "");
  }
  tracing::testing::expect_approved("open_mistakes.txt", messages);
  EXPECT_THAT(left_over(), IsEmpty());
  int const other = LinkPort::listen();
  EXPECT_THAT(open({trace}).out, HasSubstr("accepts a file: Address already in use. Open " + trace));
  ::close(other);
}

}  // namespace
