// `testlog diff`: one tree of two runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/why/alignment.h"
#include "testlog/why/test_recorder_test_support.h"
#include "testlog/why/value_texts.h"
#include "tests/approval.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace testlog::why { namespace {

using nlohmann::json;
using testdata::Outcome;
using testdata::run_command;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// What a test of a cache does.
struct Work {
  int rows = 8;
  int spins = 1;        // varies
  bool in_time = true;  // otherwise it does not flush
  int extra_steps = 0;
  int stuck_spin = -1;  // this spin has another value
  std::chrono::milliseconds wait{0};
  std::string_view test = "Cache.Closes";
};

// Simulates the time.
void pass_time(std::chrono::nanoseconds time) {
  tracing::support::simulate_time(tracing::support::simulated_ns + static_cast<std::uint64_t>(time.count()));
}

class DiffCommand : public testing::Test {
 protected:
  DiffCommand() { tracing::support::simulate_time(1'767'916'569'977'977'000); }
  ~DiffCommand() override { tracing::support::simulate_time(0); }

  std::string record(std::string const& name, Work const& work) {
    TestRecorder recorder(folder_ / name);
    recorder.run(work.test, [&] {
      close_cache(recorder, work);
      return std::string(work.in_time ? "passed" : "failed");
    });
    return folder_ / name;
  }
  // Returns arguments for three runs that passed.
  std::vector<std::string> passing() {
    return {"--passing", record("1.rec", {.spins = 1}), record("2.rec", {.spins = 2}), record("3.rec", {.spins = 3})};
  }
  static Outcome diff(std::vector<std::string> arguments, std::vector<std::string> const& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command("diff", arguments);
  }
  // Returns the text without the path of the folder.
  std::string stable(std::string const& text) const { return std::regex_replace(text, std::regex(folder_ / ""), ""); }

  tracing_test::TemporaryFolder const folder_;

 private:
  void close_cache(TestRecorder& recorder, Work const& work) {
    pass_time(std::chrono::microseconds(1));
    TRACE_SPAN(info, "session", tracing::kv("id", ++id_), tracing::kv("rows", work.rows));
    for (int i = 0; i < 20; ++i) TRACE_DEBUG("loaded", i);
    for (int i = 0; i < work.extra_steps; ++i) TRACE_DEBUG("retried", i);
    auto const flush = [&work] {
      TRACE_SPAN(debug, "flush");
      for (int i = 0; i < work.spins; ++i) TRACE_TRACE("spun", tracing::kv("stuck", i == work.stuck_spin));
      if (work.in_time) TRACE_DEBUG("flushed");
    };
    recorder.thread("flusher-" + std::to_string(id_), flush).join();
    {
      TRACE_SPAN(debug, "wait");
      pass_time(work.wait);
      TRACE_DEBUG("waited {}", work.in_time ? "enough" : "in vain");
    }
    TRACE_SPAN(info, "close", tracing::kv("pending", work.in_time ? 0 : 1));
    pass_time(std::chrono::microseconds(1));
  }
  int id_ = 1000;
};

TEST_F(DiffCommand, PrintsOneTree) {
  std::vector<std::string> const arguments{
      record("red.rec", {.spins = 9, .in_time = false, .extra_steps = 5, .wait = std::chrono::milliseconds(60)}),
      record("green.rec", {})};
  Outcome const outcome = diff(arguments, passing());
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  tracing::testing::expect_approved("diff.txt", stable(outcome.out));
  EXPECT_THAT(diff(arguments, {"--color=always"}).out, HasSubstr("\x1b[32m+     \"flushed\"\x1b[0m\n"));
  EXPECT_THAT(diff(arguments, {"--lines", "2"}).out, HasSubstr(" more lines (--lines 0)\n"));
}

TEST_F(DiffCommand, ShowsANewValueInWhatVaries) {
  std::vector<std::string> const arguments{record("red.rec", {.spins = 9, .stuck_spin = 4}),
                                           record("green.rec", {.spins = 2})};
  EXPECT_THAT(diff(arguments, passing()).out, HasSubstr("\n-     \"spun\" stuck=true\n"));
}

TEST_F(DiffCommand, MasksWhatVariesInRunsThatPassed) {
  std::vector<std::string> const arguments{record("a.rec", {.spins = 4}), record("b.rec", {.spins = 7})};
  EXPECT_THAT(diff(arguments, passing()).out, HasSubstr("no difference in 30 spans and events, thread by thread\n"));
  Outcome const without = diff(arguments);
  EXPECT_THAT(without.err, HasSubstr("without two further runs that passed (--passing), values that look the same"));
  EXPECT_THAT(without.out, AllOf(HasSubstr("  [flusher-#]\n    flush\n"), HasSubstr("+     \"spun\" stuck=false\n"),
                                 Not(HasSubstr("session"))));
}

TEST_F(DiffCommand, ComparesTwoTests) {
  Outcome const outcome =
      diff({record("a.rec", {.test = "Cache.Old"}), record("b.rec", {.rows = 9, .test = "Cache.New"})});
  EXPECT_THAT(stable(outcome.out),
              HasSubstr("--- Cache.Old passed (a.rec)\n+++ Cache.New passed (b.rec)\n  ... 3 equal\n"
                        "- session{id=* rows=8}\n+ session{id=* rows=9}\n    ... 23 equal\n"));
}

TEST_F(DiffCommand, ComparesTheTestsOfFolders) {
  for (std::string const side : {"a", "b"}) {
    std::filesystem::create_directories(folder_ / side);
    record(side + "/same.rec", {.test = "Cache.Same"});
    record(side + "/other.rec", {.rows = side == "a" ? 1 : 2, .test = "Cache.Other"});
  }
  record("a/more.rec", {.test = "Cache.More"});
  std::string const text = diff({folder_ / "a", folder_ / "b"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("--- Cache.Other passed"), HasSubstr("\n1 test has no difference\n"),
                          Not(HasSubstr("Cache.Same")), Not(HasSubstr("Cache.More"))));
  EXPECT_THAT(diff({folder_ / "a", folder_ / "b", "--test", "*.Same"}).out, HasSubstr("no difference in 27 "));
}

TEST_F(DiffCommand, PairsThreadsThatDidTheSame) {
  auto const work = [this](std::string const& name, std::vector<int> const& order) {
    TestRecorder recorder(folder_ / name);
    recorder.run("Pool.Works", [&] {
      for (int const task : order) {
        pass_time(std::chrono::microseconds(1));
        recorder.thread("worker-" + std::to_string(100 - task), [task] { TRACE_SPAN(info, "task", task); }).join();
      }
      pass_time(std::chrono::microseconds(1));
      return std::string("passed");
    });
    return folder_ / name;
  };
  EXPECT_THAT(diff({work("a.rec", {1, 2, 3, 4}), work("b.rec", {3, 1, 4, 2})}).out, HasSubstr("no difference in 4 "));
  EXPECT_THAT(diff({work("a.rec", {1, 2, 3, 4}), work("b.rec", {3, 1, 5, 2})}).out,
              HasSubstr("  ... 3 equal\n  [worker-#]\n-   task{task=4}\n+   task{task=5}\n"));
}

TEST_F(DiffCommand, PrintsJson) {
  Outcome const outcome = diff({record("red.rec", {.in_time = false}), record("green.rec", {}), "--json"}, passing());
  json const test = json::parse(outcome.out).at("tests").at(0);
  EXPECT_EQ(test["a"]["result"], "failed");
  EXPECT_EQ(test["b"]["result"], "passed");
  EXPECT_EQ(test["b"]["test"], "Cache.Closes");
  EXPECT_EQ(test["passing"], 3);
  EXPECT_EQ(test["differences"], 3);
  std::vector<std::string> marks;
  for (json const& line : test["lines"]) marks.push_back(line["mark"]);
  EXPECT_THAT(marks,
              ElementsAre("context", "context", "equal", "added", "context", "equal", "context", "changed", "changed"));
  json const& close = test["lines"].back();
  EXPECT_EQ(close["site"]["path"], "session:close");
  EXPECT_EQ(close["a"]["fields"]["pending"], "1");
  EXPECT_EQ(close["b"]["fields"]["pending"], "0");
  EXPECT_EQ(close["b"]["is_open"], false);
  EXPECT_EQ(test["lines"][0]["thread"], "flusher-#");
  EXPECT_EQ(test["lines"][4]["a"]["fields"]["id"], "*");
}

TEST_F(DiffCommand, ComparesProgramsWithoutTests) {
  auto const work = [this](std::string const& name, int status) {
    return tracing_test::record_to({.path = folder_ / name}, [status] { TRACE_INFO("done", status); });
  };
  EXPECT_THAT(stable(diff({work("a.rec", 1), work("b.rec", 0)}).out),
              "--- the program (a.rec)\n+++ the program (b.rec)\n- \"done\" status=1\n+ \"done\" status=0\n");
}

TEST_F(DiffCommand, ExplainsMistakes) {
  std::string const a = record("a.rec", {});
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {a},
           {a, folder_ / "missing.rec"},
           {a, a, "--test", "Pool.*"},
           {a, a, "--color=red"},
       }) {
    Outcome const outcome = diff(arguments);
    EXPECT_EQ(outcome.out, "");
    std::string message = "testlog diff";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    messages += stable(message + " -> " + std::to_string(outcome.exit_code) + "\n" + outcome.err + "\n");
  }
  tracing::testing::expect_approved("diff_mistakes.txt", messages);
}

std::vector<Aligned> letters(std::string_view text) {
  std::vector<Aligned> all;  // capitals are like their small letters
  for (char const c : text)
    all.push_back({static_cast<std::uint64_t>(c), static_cast<std::uint64_t>(std::tolower(c)), 1});
  return all;
}

TEST(Align, PairsEqualAndThenAlikeElements) {
  EXPECT_THAT(align(letters(""), letters("a")), ElementsAre());
  EXPECT_THAT(align(letters("abc"), letters("abc")), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(align(letters("abc"), letters("ac")), ElementsAre(Pair(0, 0), Pair(2, 1)));
  EXPECT_THAT(align(letters("axb"), letters("yaXzb")), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 4)));
  EXPECT_THAT(align(letters("aaa"), letters("aaaa")), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(align(letters("pqrs"), letters("spqr")), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
  std::vector<Aligned> heavy = letters("pqrs");
  heavy[3].weight = 9;
  EXPECT_THAT(align(heavy, letters("spqr")), ElementsAre(Pair(3, 0)));
}

TEST(ShapeOf, ReplacesLongNumbers) {
  for (auto const& [text, shape] : std::vector<std::pair<std::string, std::string>>{
           {"8", "8"},
           {"999", "999"},
           {"1001", "####"},
           {"-4194304", "-#######"},
           {"12582912", "########"},
           {"3598010107", "#########"},
           {"\"job 7f3a09-1\"", "\"job ######-1\""},
           {"\"added\"", "\"added\""},
           {"127.0.0.1:43210", "127.0.0.1:#####"},
           {"", ""},
       })
    EXPECT_EQ(shape_of(text), shape) << text;
}

}}  // namespace testlog::why
