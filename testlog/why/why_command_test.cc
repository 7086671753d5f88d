// `testlog why`: what it prints, and how it explains that it cannot compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tests/approval.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace testlog::why { namespace {

using nlohmann::json;
using testdata::Outcome;
using testdata::run_command;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A cache that is closed: the worker flushes in time, or does not.
void close_cache(TestRecorder& recorder, bool in_time, int id) {
  TRACE_SPAN(info, "session", id);
  auto const flush = [in_time] {
    TRACE_SPAN(debug, "flush");
    if (in_time) TRACE_DEBUG("flushed");
  };
  recorder.thread("flusher", flush).join();
  {
    TRACE_SPAN(debug, "wait");
    TRACE_DEBUG("waited", in_time);
  }
  TRACE_SPAN(info, "close", tracing::kv("pending", in_time ? 0 : 1));
}

class Why : public testing::Test {
 protected:
  std::string record(std::string const& name, bool in_time, std::string const& result = "") {
    TestRecorder recorder(folder_ / name);
    recorder.run("Cache.Closes", [&] {
      close_cache(recorder, in_time, ++id_);
      if (!in_time) recorder.fail();
      return !result.empty() ? result : std::string(in_time ? "passed" : "failed");
    });
    return folder_ / name;
  }
  std::vector<std::string> arguments(std::vector<std::string> more = {}) {
    std::vector<std::string> all{"--failing", record("red.rec", false), "--passing"};
    for (std::string const name : {"1.rec", "2.rec", "3.rec"}) all.push_back(record(name, true));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Outcome why(std::vector<std::string> const& arguments) { return run_command("why", arguments); }
  // Returns the text with times, paths and line numbers replaced.
  std::string stable(std::string text) const {
    text = std::regex_replace(text, std::regex(R"(\d+(\.\d+)? (ns|us|ms) before)"), "T before");
    text = std::regex_replace(text, std::regex(R"([^ (]*/why_command_test\.cc:\d+)"), "why_command_test.cc:L");
    return std::regex_replace(text, std::regex(folder_ / ""), "");
  }

  tracing_test::TemporaryFolder const folder_;
  int id_ = 1000;
};

TEST_F(Why, PrintsTheCauses) {
  Outcome const outcome = why(arguments());
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  tracing::testing::expect_approved("why.txt", stable(outcome.out));
  EXPECT_THAT(why(arguments({"--color=always"})).out, HasSubstr("\x1b[1m---- Cache.Closes: "));
}

TEST_F(Why, CountsWhatOnlyOtherThreadsRecord) {
  std::vector<std::string> arguments{"--failing", folder_ / "red.rec", "--passing"};
  for (std::string const name : {"red.rec", "1.rec", "2.rec"}) {
    bool const is_red = name == "red.rec";
    TestRecorder recorder(folder_ / name);
    recorder.run("Pool.HandsOutOnePlace", [&] {
      auto const take = [] { TRACE_DEBUG("a place is left"); };
      recorder.thread("first", take).join();
      if (is_red) recorder.thread("second", take).join();
      if (is_red) recorder.fail();
      return std::string(is_red ? "failed" : "passed");
    });
    if (!is_red) arguments.push_back(folder_ / name);
  }
  EXPECT_THAT(why(arguments).out,
              HasSubstr("\"a place is left\": recorded 2 times by then; once in 2 of 2 passing runs"));
}

TEST_F(Why, PrintsJson) {
  Outcome const outcome = why(arguments({"--json"}));
  EXPECT_EQ(outcome.exit_code, 0);
  json const all = json::parse(outcome.out).at("tests");
  ASSERT_EQ(all.size(), 1u);
  json const& test = all[0];
  EXPECT_EQ(test["test"], "Cache.Closes");
  EXPECT_EQ(test["failing"], 1);
  EXPECT_EQ(test["passing"], 3);
  EXPECT_EQ(test["ignored"], json({{"volatile_fields", 1}, {"overwritten_failing", 0}, {"overwritten_passing", 0}}));
  std::vector<std::string> kinds;
  for (json const& entry : test["entries"]) kinds.push_back(entry["kind"]);
  EXPECT_THAT(kinds, testing::ElementsAre("missing", "value", "value"));
  json const& waited = test["entries"][1];
  EXPECT_EQ(waited["site"]["path"], "session:wait");
  EXPECT_EQ(waited["site"]["message"], "waited");
  EXPECT_EQ(waited["site"]["field"], "in_time");
  EXPECT_EQ(waited["site"]["target"], "testlog::why");
  EXPECT_GT(waited["site"]["line"], 0);
  EXPECT_EQ(waited["here"], "false");
  EXPECT_EQ(waited["there"], "true");
  EXPECT_EQ(waited["share_failing"], 1.0);
  EXPECT_EQ(waited["share_passing"], 0.0);
  EXPECT_GT(waited["before_failure_ns"], 0);
  EXPECT_EQ(waited["thread"], "main");
}

TEST_F(Why, ReadsFoldersAndSelectsTests) {
  arguments();
  std::filesystem::create_directory(folder_ / "red");
  std::filesystem::rename(folder_ / "red.rec", folder_ / "red/red.rec");
  std::vector<std::string> const folders{"--passing", folder_ / "", "--failing", folder_ / "red", "--test"};
  auto with = [&folders](std::string const& test) {
    std::vector<std::string> all = folders;
    all.push_back(test);
    return all;
  };
  EXPECT_THAT(why(with("Cache.*")).out, HasSubstr("Cache.Closes: 1 failing run against 3 passing runs"));
  EXPECT_EQ(why(with("Pool.*")).exit_code, 1);
}

TEST_F(Why, SaysThatNothingDiffers) {
  std::vector<std::string> all{"--failing", record("red.rec", true, "failed"), "--passing", record("1.rec", true),
                               record("2.rec", true)};
  Outcome const outcome = why(all);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("no difference recorded before the failure\n"));
}

TEST_F(Why, FindsWhereATestHangs) {
  auto const wait = [this](std::string const& name) {
    TestRecorder recorder(folder_ / name);
    recorder.run("Cache.Waits", [&] {
      TRACE_SPAN(info, "session", tracing::kv("id", ++id_));
      {
        TRACE_SPAN(info, "wait");
        if (name == "whole.rec") std::filesystem::copy_file(folder_ / name, folder_ / "red.rec");  // as if it hung here
      }
      TRACE_INFO("woken");
      return std::string("passed");
    });
    return folder_ / name;
  };
  (void)wait("whole.rec");
  Outcome const outcome = why({"--failing", folder_ / "red.rec", "--passing", wait("1.rec"), wait("2.rec")});
  EXPECT_THAT(outcome.out, HasSubstr("1. session:wait: had not ended; ended in 2 of 2 passing runs ("));
  EXPECT_THAT(outcome.out, Not(HasSubstr("2. ")));
}

TEST_F(Why, SaysWhatWasOverwritten) {
  auto const fill = [this](std::string const& name, bool fails) {
    TestRecorder recorder(folder_ / name, 1);
    recorder.run("Cache.Fills", [&] {
      for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i);
      if (fails) recorder.fail();
      return std::string(fails ? "failed" : "passed");
    });
    return folder_ / name;
  };
  Outcome const outcome =
      why({"--failing", fill("red.rec", true), "--passing", fill("1.rec", false), fill("2.rec", false)});
  EXPECT_THAT(outcome.err, HasSubstr("records were overwritten in 1 failing and 2 passing runs"));
  EXPECT_THAT(outcome.out, HasSubstr("no difference"));
}

TEST_F(Why, ComparesProgramsWithoutTests) {
  auto const work = [this](std::string const& name, int status) {
    return tracing_test::record_to({.path = folder_ / name}, [status] { TRACE_INFO("done", status); });
  };
  Outcome const outcome = why({"--failing", work("red.rec", 1), "--passing", work("1.rec", 0), work("2.rec", 0)});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("---- the run: "), HasSubstr("\"done\": status is 1; 0 in 2 of 2")));
}

// The names need quotes in a shell, and one of them more than GoogleTest's filter takes.
TEST_F(Why, AdvisesOnceWhatAShellRuns) {
  std::vector<std::string> const names{"All/It's $HOME.Fails/a-b", "Cache.Closes \"all\""};
  std::string const red = folder_ / "some red.rec";
  {
    TestRecorder recorder(red);
    for (std::string const& name : names) {
      recorder.run(name, [&] {
        recorder.fail();
        return std::string("failed");
      });
    }
  }
  Outcome const outcome = why({"--failing", red});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(testlog::testdata::count(outcome.err, "testlog why: "), 1) << outcome.err;
  tracing::testing::expect_approved("why_advice.txt", stable(outcome.err));

  std::filesystem::create_directories(folder_ / "build");
  std::string const program = folder_ / "build/pool_test";
  std::ofstream(program) << "#!/bin/sh\necho \"$TRACE_RECORD\" \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::string advice = outcome.err.substr(outcome.err.find('\n') + 1);
  advice.insert(advice.find("testlog why"), "echo ");
  Outcome const run = testlog::testdata::run({"/bin/sh", "-c", "cd \"$0\" && eval \"$1\"", folder_ / "", advice});
  std::string const line =
      "passing --gtest_filter=All/It's $HOME.Fails/a?b\npassing --gtest_filter=Cache.Closes \"all\"\n";
  EXPECT_EQ(run.out, line + line + line + "testlog why --failing " + red + " --passing passing\n") << run.err;
}

TEST_F(Why, ExplainsMistakes) {
  std::string const red = record("red.rec", false), green = record("green.rec", true);
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {"--failing", red},
           {"--failing", red, "--passing", green},
           {"--failing", red, "--passing", red},
           {"--failing", green, "--passing", green},
           {"--failing", red, "--passing", green, "--test", "Pool.*"},
           {"--failing", folder_ / "missing.rec", "--passing", green},
           {"--failing", red, "--passing", green, green, "--color=red"},
       }) {
    Outcome const outcome = why(arguments);
    EXPECT_EQ(outcome.out, "");
    std::string message = "testlog why";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    messages += stable(message + " -> " + std::to_string(outcome.exit_code) + "\n" + outcome.err + "\n");
  }
  tracing::testing::expect_approved("why_mistakes.txt", messages);
}

}}  // namespace testlog::why
