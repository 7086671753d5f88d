// `testlog show` on recordings of processes that ended, or were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <latch>
#include <map>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/campaign.h"
#include "tests/support/record_to.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/record/follower.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using tracing_test::record_in_child;
using tracing_test::record_to;

class Show : public testing::Test {
 protected:
  // Records what `f` does. Returns the path.
  template <class F>
  std::string record(std::string_view name, F f) const {
    return record_to({.path = folder_ / name}, f);
  }
  Outcome show(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {TESTLOG_COMMAND, "show"});
    return run(arguments);
  }

  tracing_test::TemporaryFolder const folder_;
};

void work(int id) {
  TRACE_SPAN(info, "request", id);
  TRACE_DEBUG("preparing");
  TRACE_INFO("done", tracing::kv("status", 200));
}

TEST_F(Show, PrintsEverything) {
  std::string const file = record("a.rec", [] { work(7); });
  Outcome const shown = show({file, "--time=none"});
  EXPECT_EQ(shown.out,
            "DEBUG request{id=7}: show_command_test: preparing\n"
            " INFO request{id=7}: show_command_test: done status=200\n");
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(shown.exit_code, 0);
}

TEST_F(Show, FiltersAndFormats) {
  std::string const file = record("a.rec", [] {
    work(7);
    work(8);
  });
  EXPECT_EQ(show({file, "--time=none", "--filter=[request{id=8}]=info"}).out,
            " INFO request{id=8}: show_command_test: done status=200\n");
  EXPECT_THAT(show({file, "--format=json", "--filter=info"}).out,
              HasSubstr(R"("fields":{"message":"done","status":200})"));
  EXPECT_EQ(show({file, "--json"}).out, show({file, "--format=json"}).out);
  EXPECT_THAT(show({file, "--color=always"}).out, HasSubstr("\x1b[34mDEBUG"));
}

TEST_F(Show, SaysHowToShowATest) {
  EXPECT_EQ(show({"Pool.Grows"}).err,
            "testlog show: Pool.Grows: could not be opened: No such file or directory; to show a test: testlog show "
            "--test Pool.Grows\n");
  for (std::string const file : {"a.rec", "Pool.Grows.rec", "Testing/pool_test.Pool.Grows.rec.gz"})
    EXPECT_EQ(show({file}).err, "testlog show: " + file + ": could not be opened: No such file or directory\n");
}

void load(std::string const& path) {
  TRACE_SPAN(info, "load", path);
  TRACE_INFO("opens");
  TRACE_INFO("reads");
}

TEST_F(Show, LeavesOutLongFieldsOfSpans) {
  std::string const path(60, 'x');
  std::string const file = record("a.rec", [&path] { load(path); });
  EXPECT_EQ(show({file, "--time=none"}).out, "   in load{path=\"" + path +
                                                 "\"}\n"
                                                 " INFO load: show_command_test: opens\n"
                                                 " INFO load: show_command_test: reads\n");
  std::string const whole = " INFO load{path=\"" + path + "\"}: show_command_test: ";
  EXPECT_EQ(show({file, "--time=none", "--report=lines"}).out, whole + "opens\n" + whole + "reads\n");
  EXPECT_EQ(show({file, "--time=none", "--grep=xx.*reads"}).out, whole + "reads\n");
}

// The first batch ends in records in which nothing is selected, and which are not decoded.
TEST_F(Show, NumbersNoSpanAfterASpanThatHasEnded) {
  std::string const file = folder_ / "a.rec";
  {
    auto [layer, error] = tracing::record_layer({.path = file});
    std::shared_ptr<tracing::Registry> const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    auto const make_many = [] {
      for (int i = 0; i < 3000; ++i) TRACE_DEBUG("of many", i);
    };
    auto const handle = [&] {
      std::string const path(60, 'x');
      tracing::with_default(registry, [&] {
        TRACE_SPAN(info, "batch", tracing::kv("size", 1000), tracing::kv("path", path));
        {
          TRACE_SPAN(info, "request", tracing::kv("id", 9));
          TRACE_INFO("slow");
        }
        make_many();
      });
      tracing::with_default(registry, make_many);
    };
    handle();
    std::thread(handle).join();
    tracing::with_default(registry, make_many);
  }
  std::string const line = " INFO batch:request{id=9}: show_command_test: slow\n";
  std::string const above = "   in batch{size=1000 path=\"" + std::string(60, 'x') + "\"}\n";
  std::string const text = show({file, "--time=none", "--filter=[batch{size=9}]=info,[request{id=9}]=info"}).out;
  // Threads are numbered in the whole process, which may have run other tests before.
  EXPECT_EQ(std::regex_replace(text, std::regex("\\[thread [0-9]+\\]"), "[thread N]"),
            above + line + "[thread N] " + above + "[thread N] " + line);
}

TEST_F(Show, NamesTheRecordingInLinesAboutSpansToo) {
  auto [first, error] = tracing::record_layer({.path = folder_ / "first"});
  auto [second, other_error] = tracing::record_layer({.path = folder_ / "second"});
  auto const one = tracing::RegistryBuilder().with(std::move(first)).build();
  auto const two = tracing::RegistryBuilder().with(std::move(second)).build();
  std::string const path(60, 'x');
  tracing::with_default(one, [] { TRACE_INFO("1"); });
  tracing::with_default(two, [&path] { load(path + "\ny"); });
  tracing::with_default(one, [] { TRACE_INFO("3"); });
  EXPECT_EQ(show({folder_ / "second", folder_ / "first", "--time=none"}).out,
            " INFO show_command_test: 1\n"
            "[second]    in load{path=\"" +
                path +
                "\\ny\"}\n"
                "[second]  INFO load: show_command_test: opens\n"
                "[second]  INFO load: show_command_test: reads\n"
                "[first]  INFO show_command_test: 3\n");
}

TEST_F(Show, PrintsSeveralInTheOrderOfTime) {
  auto [first, error] = tracing::record_layer({.path = folder_ / "first"});
  auto [second, other_error] = tracing::record_layer({.path = folder_ / "second"});
  auto const one = tracing::RegistryBuilder().with(std::move(first)).build();
  auto const two = tracing::RegistryBuilder().with(std::move(second)).build();
  tracing::with_default(one, [] { TRACE_INFO("1"); });
  tracing::with_default(two, [] { TRACE_INFO("2"); });
  tracing::with_default(one, [] { TRACE_INFO("3"); });
  EXPECT_EQ(show({folder_ / "second", folder_ / "first", "--time=none"}).out,
            " INFO show_command_test: 1\n[second]  INFO show_command_test: 2\n[first]  INFO show_command_test: 3\n");
}

TEST_F(Show, NamesTheThreadOfALineButTheMainOne) {
  std::string const file = folder_ / "a.rec";
  {
    auto [layer, error] = tracing::record_layer({.path = file});
    std::shared_ptr<tracing::Registry> const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    tracing::with_default(registry, [] { TRACE_INFO("1"); });
    std::thread([&registry] {
      tracing::set_thread_name("worker-1");
      tracing::with_default(registry, [] { TRACE_INFO("2"); });
    }).join();
  }
  EXPECT_EQ(show({file, "--time=none"}).out, " INFO show_command_test: 1\n[worker-1]  INFO show_command_test: 2\n");
  EXPECT_THAT(show({file, "--json"}).out,
              AllOf(HasSubstr(R"("message":"1"},"target":"show_command_test","thread":"main"})"),
                    HasSubstr(R"("message":"2"},"target":"show_command_test","thread":"worker-1"})")));
}

TEST_F(Show, NumbersThreadsOfOneName) {
  std::string const file = folder_ / "killed.rec";
  if (pid_t const child = fork(); child == 0) {
    auto [layer, error] = tracing::record_layer({.path = file});
    std::shared_ptr<tracing::Registry> const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    std::latch all(3);
    auto const work_for_ever = [&](char const* name) {
      tracing::set_thread_name(name);
      tracing::with_default(registry, [&all] {
        TRACE_SPAN(info, "waiting");
        TRACE_INFO("begins");
        all.count_down();
        while (true) pause();
      });
    };
    for (char const* const name : {"twin", "twin", "single"}) std::thread(work_for_ever, name).detach();
    all.wait();
    kill(getpid(), SIGKILL);
  } else {
    waitpid(child, nullptr, 0);
  }
  Outcome const shown = show({file, "--time=none"});
  std::smatch second;
  ASSERT_TRUE(std::regex_search(shown.err, second, std::regex("at its end twin ([0-9]+) is in waiting\n")))
      << shown.err;
  EXPECT_THAT(shown.err,
              AllOf(HasSubstr("at its end twin is in waiting\n"), HasSubstr("at its end single is in waiting\n")));
  for (std::string const& name : {std::string("twin"), "twin " + second[1].str()}) {
    EXPECT_EQ(show({file, "--time=none", "--thread", name}).out,
              "[" + name + "]  INFO waiting: show_command_test: begins\n");
  }
  EXPECT_EQ(show({file, "--time=none", "--thread", second[1]}).out,
            "[twin " + second[1].str() + "]  INFO waiting: show_command_test: begins\n");
  EXPECT_THAT(shown.out, HasSubstr("[single]  INFO waiting: "));
}

TEST_F(Show, HasTheTimeSinceTheRecordingBegan) {
  std::string const file = record("a.rec", [] { TRACE_INFO("1"); });
  EXPECT_THAT(show({file, "--time=relative"}).out,
              testing::MatchesRegex(" +[+][0-9]+[.][0-9][0-9][0-9] ms  INFO .*\n"));
  EXPECT_THAT(show({file, "--time=relative", "--json"}).out, StartsWith("{\"timestamp\":\"+"));
}

TEST_F(Show, NamesTheSpansOfAKilledProcess) {
  std::string const file = folder_ / "killed.rec";
  record_in_child({.path = file}, [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(info, "inner");
    TRACE_WARN("the last words");
    kill(getpid(), SIGKILL);
  });
  Outcome const shown = show({file, "--time=none"});
  EXPECT_EQ(shown.out, " WARN outer:inner: show_command_test: the last words\n");
  EXPECT_EQ(shown.err, "testlog show: " + file + ": at its end main is in outer:inner\n");
}

TEST_F(Show, EscapesTheNamesInItsNotes) {
  std::string const file = folder_ / "killed.rec";
  record_in_child({.path = file}, [] {
    TRACE_SPAN(info, "red \x1b[31m\nline");
    kill(getpid(), SIGKILL);
  });
  Outcome const shown = show({file});
  EXPECT_THAT(shown.err, AllOf(HasSubstr("main is in red "), Not(HasSubstr("\x1b")), Not(HasSubstr("\nline"))));
}

TEST_F(Show, NamesTheSpansOfAKilledProcessWithTheirFields) {
  std::string const file = folder_ / "killed.rec";
  record_in_child({.path = file}, [] {
    auto const ended = TRACE_MAKE_SPAN(info, "ended");
    auto const request = TRACE_MAKE_SPAN(info, "request", tracing::kv("id", 1), tracing::kv("user", tracing::empty));
    auto const reply = TRACE_MAKE_SPAN(info, "reply", tracing::parent(request), tracing::kv("bytes", 9));
    request.record(tracing::kv("user", "me"));
    TRACE_SPAN(info, "outer", tracing::kv("id", 7));
    TRACE_SPAN(info, "inner", tracing::kv("text", "a\nb"));
    kill(getpid(), SIGKILL);
  });
  std::string const note = "testlog show: " + file + ": at its end ";
  EXPECT_EQ(show({file, "--time=none"}).err,
            note + "main is in outer{id=7}:inner{text=\"a\\nb\"}\n" + note + "ended is open, and no thread is in it\n" +
                note + "request{id=1 user=\"me\"}:reply{bytes=9} is open, and no thread is in it\n");
}

TEST_F(Show, NamesAFewOfManyOpenSpans) {
  std::string const file = folder_ / "killed.rec";
  record_in_child({.path = file}, [] {
    std::vector<tracing::Span> spans;
    for (int i = 0; i < 25; ++i) spans.push_back(TRACE_MAKE_SPAN(info, "request", i));
    kill(getpid(), SIGKILL);
  });
  std::string const notes = show({file}).err;
  EXPECT_EQ(testlog::testdata::count(notes, " is open, and no thread is in it\n"), 10);
  EXPECT_THAT(notes, HasSubstr("request{i=9} is open"));
  EXPECT_THAT(notes, HasSubstr(": at its end 15 more spans are open, and no thread is in them\n"));
}

void die_below(int levels) {
  TRACE_SPAN(info, "recurse", levels);
  if (levels > 1) return die_below(levels - 1);
  kill(getpid(), SIGKILL);
}
TEST_F(Show, NamesTheSpansOfARecursionOnce) {
  std::string const file = folder_ / "killed.rec";
  record_in_child({.path = file}, [] {
    TRACE_SPAN(info, "outer");
    die_below(50);
  });
  EXPECT_THAT(show({file}).err, HasSubstr(": at its end main is in outer:recurse{levels=1} (innermost of 50)\n"));
  EXPECT_EQ(testlog::testdata::count(run({TESTLOG_COMMAND, "tree", file}).out, "::recurse (open)\n"), 31);
}

// A deep recursion, as in a parser. If time or output grew with the square of the depth, it would take minutes, and a
// recursive function in a reader would overflow the stack.
TEST_F(Show, ReadsADeepRecursion) {
  constexpr int kDepth = 100'000;
  std::string const file = folder_ / "deep.rec";
  record_to({.path = file, .limit_bytes = 256 << 20}, [] {
    std::vector<tracing::EnteredSpan> open;
    open.reserve(kDepth);
    for (int i = 0; i < kDepth; ++i) {
      open.push_back(TRACE_MAKE_SPAN(info, "level", i).entered());
      if (i % 10'000 == 9'999) TRACE_INFO("deep");
    }
    while (!open.empty()) open.pop_back();
  });
  Outcome const shown = show({file, "--time=none"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("...:level{i=99900}:"));
  EXPECT_LT(shown.out.size(), 100'000u);
  for (std::vector<std::string> const& arguments :
       std::vector<std::vector<std::string>>{{"tree", "--depth=0", file},
                                             {"slow", file},
                                             {"stats", file},
                                             {"export", "--chrome=" + (folder_ / "deep.json"), file},
                                             {"export", "--perfetto=" + (folder_ / "deep.pftrace"), file}}) {
    std::vector<std::string> words{TESTLOG_COMMAND};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Outcome const outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << arguments.front() << outcome.err;
    if (arguments.front() == "tree") {
      EXPECT_THAT(outcome.out, HasSubstr(" [100000] "));
    }
  }
}

TEST_F(Show, ShowsTheLastValueOfAFieldThatIsRecordedAgain) {
  std::string const file = folder_ / "again.rec";
  record_to({.path = file}, [] {
    auto span = TRACE_MAKE_SPAN(info, "download", tracing::kv("percent", 0), tracing::kv("url", tracing::empty));
    auto const inside = span.enter();
    span.record(tracing::kv("url", "a"));
    for (int i = 1; i <= 20'000; ++i) span.record(tracing::kv("percent", i), tracing::kv("url", "b"));
    TRACE_INFO("done");
  });
  EXPECT_THAT(show({file, "--time=none"}).out, HasSubstr("download{percent=20000 url=\"b\"}: "));
  EXPECT_THAT(show({file, "--format=json"}).out, HasSubstr(R"("span":{"percent":20000,"url":"b","name":"download"})"));
}

TEST_F(Show, SaysWhatIsMissing) {
  record_to({.path = folder_ / "small", .limit_bytes = 1}, [] {
    for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i);
  });
  Outcome const shown = show({folder_ / "small", "--time=none"});
  EXPECT_THAT(shown.out, HasSubstr("step i=99999\n"));
  EXPECT_THAT(shown.err, HasSubstr(" earlier records were overwritten; TRACE_RECORD_LIMIT keeps more\n"));
}

TEST_F(Show, CountsRecordsOfThreadsOfWhichNothingIsLeft) {
  {
    auto [layer, error] = tracing::record_layer({.path = folder_ / "small", .limit_bytes = 1});
    std::shared_ptr<tracing::Registry> const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    for (int thread = 0; thread < 100; ++thread) {
      std::thread([&registry] {
        tracing::with_default(registry, [] {
          for (int i = 0; i < 1000; ++i) TRACE_INFO("step", i);
        });
      }).join();
    }
  }
  Outcome const shown = show({folder_ / "small"});
  int const lost = 100'000 - testlog::testdata::count(shown.out, "\n");
  EXPECT_GT(lost, 50'000);
  EXPECT_EQ(shown.err, "testlog show: " + std::string(folder_ / "small") + ": " + std::to_string(lost) +
                           " earlier records were overwritten; TRACE_RECORD_LIMIT keeps more\n");
}

TEST_F(Show, KnowsTheFieldsThatTheExampleOfAReaderKnows) {
  if (run({"/usr/bin/env", "python3", "--version"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
  std::string const file = folder_ / "small";
  record_to({.path = file, .limit_bytes = 1}, [] {
    auto const request = TRACE_MAKE_SPAN(info, "request", tracing::kv("id", 1), tracing::kv("user", tracing::empty));
    request.record(tracing::kv("user", "me"));
    for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i, tracing::parent(request));
  });
  std::string const last = "INFO request{id=1 user=\"me\"}: ";
  EXPECT_THAT(show({file}).out, HasSubstr(last + "show_command_test: step i=99999\n"));
  EXPECT_THAT(run({"/usr/bin/env", "python3", TESTLOG_EXAMPLE_READER, file}).out, HasSubstr(last + "step i=99999\n"));
}

TEST_F(Show, KnowsTheThreadsThatTheExampleOfAReaderKnows) {
  if (run({"/usr/bin/env", "python3", "--version"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
  std::string const file = folder_ / "threads";
  record_to({.path = file, .limit_bytes = 1}, [] {
    std::shared_ptr<tracing::Subscriber> const registry =
        static_cast<tracing::Registry*>(tracing::current_subscriber())->shared_from_this();
    for (int i = 0; i < 1000; ++i) {
      std::thread([&] {
        tracing::ScopedDefault const scope(registry);
        tracing::set_thread_name("short-" + std::to_string(i));
        TRACE_SPAN(info, "work", i);
        TRACE_INFO("event", i);
      }).join();
    }
  });
  std::string const lines = run({"/usr/bin/env", "python3", TESTLOG_EXAMPLE_READER, file}).out;
  for (int i = 0; i < 1000; ++i) {
    std::string const number = std::to_string(i);
    EXPECT_THAT(lines, HasSubstr(" short-" + number + " INFO work{i=" + number + "}: event i=" + number + "\n"));
  }
  EXPECT_THAT(lines, Not(HasSubstr("#")));
}

TEST_F(Show, DoesNotWaitForAFifo) {
  std::string const fifo = folder_ / "run.rec";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (std::string const command : {"show", "tree"}) {
    Outcome const outcome = run({"/usr/bin/timeout", "20", TESTLOG_COMMAND, command, fifo});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, StartsWith("testlog " + command + ": " + fifo + ": is no recording: it has fewer "));
  }
}

TEST_F(Show, HasNotesOfAFewOfManyRecordings) {
  std::string const file = folder_ / "small";
  record_to({.path = file, .limit_bytes = 1}, [] {
    for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i);
  });
  std::filesystem::create_directory(folder_ / "many");
  for (int i = 0; i < 60; ++i)
    std::filesystem::create_hard_link(file, folder_ / ("many/" + std::to_string(i) + ".rec"));
  Outcome const shown = show({folder_ / "many", "--filter=off", "--test=None.*"});
  EXPECT_EQ(shown.err, "testlog show: no test is selected; recorded: none\n");
  std::string const notes = show({folder_ / "many", "--grep=i=99999$"}).err;
  EXPECT_EQ(testlog::testdata::count(notes, " earlier records were overwritten"), 50);
  EXPECT_THAT(notes, testing::EndsWith("testlog show: notes about 10 more recordings are left out\n"));
}

// Starts a process that records from several threads, for at least 0.3 s.
pid_t start_recorder(std::string const& path, int process, int threads, int count, std::size_t limit_bytes) {
  pid_t const child = fork();
  if (child != 0) return child;
  {
    auto [layer, error] = tracing::record_layer({.path = path, .limit_bytes = limit_bytes});
    auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        tracing::with_default(registry, [&] {
          TRACE_SPAN(info, "worker", process, thread);
          for (int i = 0; i < count; ++i) {
            if (i % (count / 30) == 0) usleep(10'000);
            TRACE_INFO("step", i, tracing::kv("text", "some text"));
          }
        });
      });
    }
    for (std::thread& thread : all) thread.join();
  }
  _exit(0);
}

// Runs `show --follow` while four processes with eight threads each record; in a campaign, eight processes with 32.
struct Followed {
  int const processes = tracing_test::campaign(8, 4);
  int const threads = tracing_test::campaign(32, 8);
  std::string problem;
  std::map<std::pair<int, int>, std::vector<int>> steps;  // by process and thread
  Outcome outcome;

  Followed(tracing_test::TemporaryFolder const& folder, int count, std::size_t limit_bytes) {
    std::vector<std::string> words{TESTLOG_COMMAND, "show", "--follow", "--time=none"};
    std::vector<pid_t> recorders;
    for (int process = 0; process < processes; ++process) {
      words.push_back(folder / std::to_string(process));
      recorders.push_back(start_recorder(words.back(), process, threads, count, limit_bytes));
    }
    std::string error;
    for (std::size_t i = 4; i < words.size(); ++i)
      while (tracing::recording::Follower::open(words[i], error) == nullptr) usleep(1000);
    std::thread show([&] { outcome = run(words); });
    for (pid_t const recorder : recorders) waitpid(recorder, nullptr, 0);
    show.join();
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      int file = -1, number = 0, process = 0, thread = 0, step = 0, end = 0;
      std::sscanf(
          line.c_str(),
          "[%d] [thread %d]  INFO worker{process=%d thread=%d}: show_command_test: step i=%d text=\"some text\"%n",
          &file, &number, &process, &thread, &step, &end);
      if (end == 0 || file != process || static_cast<std::size_t>(end) != line.size()) problem = line;
      steps[{process, thread}].push_back(step);
    }
  }
};

TEST_F(Show, FollowsProcessesUntilTheyHaveEnded) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "forked children that make threads";
  Followed const followed(folder_, 3000, std::size_t{64} << 20);
  EXPECT_EQ(followed.outcome.exit_code, 0);
  EXPECT_EQ(followed.outcome.err, "");
  EXPECT_EQ(followed.problem, "");
  ASSERT_EQ(followed.steps.size(), static_cast<std::size_t>(followed.processes * followed.threads));
  std::vector<int> all(3000);
  std::iota(all.begin(), all.end(), 0);
  for (auto const& [thread, steps] : followed.steps) EXPECT_EQ(steps, all);
}

TEST_F(Show, FollowsProcessesThatOverwriteTheirRecords) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "forked children that make threads";
  Followed const followed(folder_, 300'000, 1);
  EXPECT_THAT(followed.outcome.err, HasSubstr(" earlier records were overwritten; TRACE_RECORD_LIMIT keeps more\n"));
  EXPECT_EQ(followed.problem, "");
  EXPECT_FALSE(followed.steps.empty());
  for (auto const& [thread, steps] : followed.steps)
    EXPECT_EQ(std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()), steps.end());
}

TEST_F(Show, FollowingEndsByCtrlC) {
  std::string const file = folder_ / "a.rec";
  record_to({.path = file}, [] { TRACE_INFO("there"); });  // recorded by this process, which does not end
  std::string const command =
      std::string("timeout --foreground --preserve-status -s INT 1 ") + TESTLOG_COMMAND + " show -f --time=none ";
  Outcome const shown = run({"/bin/sh", "-c", command + file});
  EXPECT_EQ(shown.out, " INFO show_command_test: there\n");
  EXPECT_EQ(shown.exit_code, 0);
}

TEST_F(Show, PrintsWhatIsThereOfAFileThatIsCutOff) {
  std::string const file = record("a.rec", [] {
    for (int i = 0; i < 100; ++i) TRACE_INFO("step", i);
  });
  std::filesystem::resize_file(file, 12288 + 16384 + 16384);  // its callsites are in the second chunk
  EXPECT_THAT(show({file, "--time=none"}).out, HasSubstr("step i=99\n"));
  std::filesystem::resize_file(file, 12288 + 16384);
  Outcome const shown = show({file});
  EXPECT_THAT(shown.err, HasSubstr("testlog show: " + file + ": cut off in chunk 1, which has 0 of "));
  EXPECT_EQ(shown.exit_code, 0);
}

TEST_F(Show, RejectsWhatIsNoRecording) {
  std::string const file = folder_.write("text", std::string(5000, 'x'));
  Outcome const shown = show({file});
  EXPECT_EQ(shown.err, "testlog show: " + file + ": is no recording: it begins with other bytes\n");
  EXPECT_EQ(shown.exit_code, 1);
}

TEST_F(Show, NamesTheDirectivesThatMatchedNothingInAnyRecording) {
  std::string const requests = record("a.rec", [] { work(7); });
  std::string const other = record("b.rec", [] { TRACE_INFO("moved", tracing::target("mylib::copy")); });
  constexpr char kFilter[] = "--filter=mylb=trace,mylib::copy=info,[reqest]=info,show_command_test=info";
  for (std::string const command : {"show", "tree", "slow", "stats", "export"}) {
    std::vector<std::string> arguments{TESTLOG_COMMAND, command, requests, other, kFilter};
    if (command == "export") arguments.push_back("--json");
    EXPECT_EQ(
        run(arguments).err,
        "testlog " + command +
            R"(: --filter: "[reqest]=info" matched nothing that ran: no span is named "reqest"; did you mean "request"?
testlog )" + command +
            R"(: --filter: "mylb=trace" matched nothing that ran: no target begins with "mylb"; did you mean "mylib"?
)");
  }
}

TEST_F(Show, SaysNothingOfADirectiveWhoseValuesMatched) {
  Outcome const shown = show({record("a.rec", [] { work(7); }), "--filter=[request{id=7}]=trace"});
  EXPECT_THAT(shown.out, HasSubstr("request{id=7}"));
  EXPECT_EQ(shown.err, "");
}

TEST_F(Show, RejectsWrongDirectives) {
  Outcome const shown = show({"a.rec", "--filter=a=b=c"});
  EXPECT_THAT(shown.err, HasSubstr("--filter: invalid filter directive\n  a=b=c\n"));
  EXPECT_EQ(shown.exit_code, 2);
}

}  // namespace
