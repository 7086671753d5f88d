#include "tracing_core/profile/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/emit/span.h"
#include "tracing_core/filter/targets.h"
#include "tracing_core/profile/gzip.h"
#include "tracing_core/profile/profile_test_support.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using tracing::kv;
using tracing::ProfileResult;
using tracing::ProfilerOptions;
using tracing_test::profiled;

// ---- what is recorded ----

TEST(RecordedProfile, HasWhatAProgramWithoutSubscriberDoes) {
  EXPECT_THAT(profiled([] {
                TRACE_SPAN(trace, "outer", kv("n", 1));
                TRACE_PERF("fast");
                TRACE_DEBUG("event");
              }),
              ElementsAre("outer{n=1}", "outer > fast", "outer > fast > event{message=event}"));
  EXPECT_FALSE(TRACE_ENABLED(error));
}

TEST(RecordedProfile, HasNothingOfBeforeAndAfter) {
  TRACE_SPAN(info, "open");
  for (int i = 0; i < 3; ++i) {
    { TRACE_SPAN(info, "before"); }
    EXPECT_THAT(profiled([&] { TRACE_SPAN(info, "inside", i); }), ElementsAre("inside{i=" + std::to_string(i) + "}"));
    { TRACE_SPAN(info, "after"); }
  }
}

TEST(RecordedProfile, HasAllThreads) {
  auto const lines = profiled([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([i] { TRACE_SPAN(info, "work", i); });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_THAT(lines, testing::UnorderedElementsAre("work{i=0}", "work{i=1}", "work{i=2}", "work{i=3}"));
}

TEST(RecordedProfile, HasWhatAThreadDoesThatBeganBefore) {
  std::atomic<int> step{0};
  std::thread thread([&] {
    TRACE_SPAN(info, "around");
    step = 1;
    while (step != 2) std::this_thread::yield();
    { TRACE_SPAN(info, "work"); }
    step = 3;
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_THAT(profiled([&] {
                step = 2;
                while (step != 3) std::this_thread::yield();
              }),
              ElementsAre("work"));
  thread.join();
}

TEST(RecordedProfile, HasWhatItsFilterSelects) {
  auto const run = [] {
    TRACE_SPAN(debug, "a", tracing::target("one"));
    TRACE_SPAN(debug, "b", tracing::target("two"));
    TRACE_SPAN(info, "c", tracing::target("two"));
    TRACE_SPAN(trace, "kernel", tracing::target("tracing::cuda::device"));
    TRACE_ANNOTATE("d", tracing::target("two"));
  };
  EXPECT_THAT(profiled(run, {.filter = "one=trace,two=info"}),
              ElementsAre("a", "a > c", "a > c > kernel", "a > c > kernel > d"));
  EXPECT_THAT(profiled(run, {.device = false, .filter = "off"}), ElementsAre("d"));
  EXPECT_THAT(profiled(run, {.host = false}), ElementsAre("kernel"));
}

TEST(RecordedProfile, HasPerfSpansOfLevelTraceOnlyOfTargetsThatItsFilterNames) {
  auto const run = [] {
    { TRACE_PERF_AT(trace, "step", tracing::target("mylib::inner")); }
    { TRACE_PERF_AT(trace, "other step", tracing::target("other")); }
    { TRACE_PERF_AT(debug, "launch", tracing::target("other")); }
    TRACE_SPAN(trace, "span", tracing::target("other"));
  };
  EXPECT_THAT(profiled(run), ElementsAre("launch", "span"));
  EXPECT_THAT(profiled(run, {.filter = "trace,mylib=trace"}), ElementsAre("step", "launch", "span"));
  EXPECT_THAT(profiled(run, {.filter = "trace,mylib=debug"}), ElementsAre("launch", "span"));
  EXPECT_THAT(profiled(run, {.filter = "other"}), ElementsAre("other step", "launch", "span"));
  EXPECT_THAT(profiled(run, {.filter = "mylib=trace,other=debug"}), ElementsAre("step", "launch"));
}

TEST(RecordedProfile, GoesOnBesideTheLayersOfARegistry) {
  class Counting final : public tracing::Layer {
   public:
    explicit Counting(int& events) : events_(events) {}
    void on_event(tracing::Event const&, tracing::Context const&) noexcept override { ++events_; }

   private:
    int& events_;
  };
  int events = 0;
  tracing::ScopedDefault const scope(
      tracing::RegistryBuilder()
          .with(std::make_unique<Counting>(events),
                std::make_unique<tracing::Targets>(tracing::Targets().with_default(tracing::LevelFilter::info)))
          .build());
  EXPECT_THAT(profiled([] {
                TRACE_INFO("both");
                TRACE_TRACE("profile");
              }),
              SizeIs(2));
  EXPECT_EQ(events, 1);
}

// The profile is of the registry of the thread that starts it.
TEST(RecordedProfile, OutlivesItsRegistry) {
  std::optional<tracing::ScopedDefault> scope(tracing::RegistryBuilder().build());
  ASSERT_EQ(tracing::internal::start_recording({}), "");
  { TRACE_SPAN(info, "work"); }
  scope.reset();
  auto const profile = tracing::internal::stop_recording();
  EXPECT_THAT(tracing_test::lines_of(*profile.recording), ElementsAre("work"));
}

TEST(RecordedProfile, SaysHowManyRecordsWereOverwritten) {
  ASSERT_EQ(tracing::internal::start_recording({.limit_bytes = std::size_t{256} << 10}), "");
  constexpr std::size_t kEvents = 100'000;
  for (std::size_t i = 0; i < kEvents; ++i) TRACE_INFO("event", i);
  auto const profile = tracing::internal::stop_recording();
  auto const lines = tracing_test::lines_of(*profile.recording);
  EXPECT_LT(lines.size(), kEvents / 2);
  EXPECT_EQ(lines.size() + profile.overwritten, kEvents);
  EXPECT_EQ(lines.back(), "event{message=event i=99999}");
  EXPECT_EQ(profiled([] {
              for (std::size_t i = 0; i < kEvents; ++i) TRACE_INFO("event", i);
            }).size(),
            kEvents);
}

TEST(RecordedProfile, RefusesWhatMakesNoSense) {
  using tracing::internal::start_recording;
  EXPECT_THAT(start_recording({.filter = "a=debgu"}), HasSubstr("a=debgu\n"));
  EXPECT_THAT(start_recording({.filter = "a[span]=debug"}),
              HasSubstr("filter selects by spans: \"a[span]=debug\"; expected target"));
  EXPECT_THAT(start_recording({.limit_bytes = 1000}), HasSubstr("limit_bytes is 1000; expected 262144 to 17179869184"));
  EXPECT_THAT(start_recording({.host = false, .device = false}), HasSubstr("both host and device are off"));
  EXPECT_EQ(tracing::internal::stop_recording().error, "no profile is being recorded");
}

TEST(RecordedProfile, IsNotThatOfAForkedChild) {
  ASSERT_EQ(tracing::internal::start_recording({}), "");
  pid_t const child = fork();
  if (child == 0) {
    bool const is_none = tracing::internal::stop_recording().error == "no profile is being recorded";
    bool const starts = tracing::internal::start_recording({}).empty();
    { TRACE_SPAN(info, "of the child"); }
    auto const own = tracing::internal::stop_recording();
    bool const is_own = own.recording != nullptr && tracing_test::lines_of(*own.recording).size() == 1;
    _exit(is_none && starts && is_own ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  { TRACE_SPAN(info, "of the parent"); }
  auto const profile = tracing::internal::stop_recording();
  EXPECT_THAT(tracing_test::lines_of(*profile.recording), ElementsAre("of the parent"));
}

TEST(RecordedProfile, EndsWhenItIsStoppedAndNotWithItsLastRecord) {
  class Exits final : public tracing::Layer {
   public:
    explicit Exits(std::vector<tracing::Instant>& times) : times_(times) {}
    void on_exit(tracing::SpanRef, tracing::Context const& context) noexcept override {
      times_.push_back(context.time());
    }

   private:
    std::vector<tracing::Instant>& times_;
  };
  ASSERT_EQ(tracing::internal::start_recording({}), "");
  TRACE_SPAN(info, "open");
  auto const profile = tracing::internal::stop_recording();
  tracing::Instant last;
  profile.recording->for_each([&last](tracing::recording::Entry const& entry) { last = entry.time; });
  EXPECT_GT(profile.recording->end(), last);
  std::vector<tracing::Instant> exits;
  auto const registry = tracing::RegistryBuilder().with(std::make_unique<Exits>(exits)).build();
  tracing::recording::replay(*profile.recording, *registry, [](auto const&) { return true; });
  ASSERT_THAT(exits, testing::Not(IsEmpty()));  // earlier profiles may have exits, too, as context
  EXPECT_EQ(exits.back(), profile.recording->end());
}

// For ThreadSanitizer: threads record while profiles start and end.
TEST(RecordedProfile, StartsAndEndsWhileThreadsRecord) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      while (!done) {
        TRACE_SPAN(info, "outer", i);
        tracing::Span const held = TRACE_MAKE_SPAN(info, "held");
        TRACE_ANNOTATE("annotation", kv("text", "a"));
        held.in_scope([] { TRACE_INFO("event"); });
        tracing::annotate("named", [] { TRACE_PERF("perf"); });
      }
    });
  }
  std::size_t records = 0;
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(tracing::internal::start_recording({.limit_bytes = std::size_t{1} << (20 + round % 3)}), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    auto const profile = tracing::internal::stop_recording();
    ASSERT_NE(profile.recording, nullptr);
    profile.recording->for_each([&records](auto const&) { ++records; });
    EXPECT_THAT(profile.recording->problems(), IsEmpty());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(records, 0u);
}

// ---- with_profiler() ----

class WithProfiler : public testing::Test {
 protected:
  static std::vector<std::string> names_in(std::string const& folder) {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
      if (!entry.is_directory()) names.push_back(std::filesystem::relative(entry.path(), folder));
    std::sort(names.begin(), names.end());
    return names;
  }

  static inline std::string const kTrace =
      tracing::recording::Gzip::is_available() ? "machine.trace.json.gz" : "machine.trace.json";
  tracing_test::TemporaryFolder const folder_;
  ProfilerOptions const quiet_{.host_name = "machine", .print = false};
};

TEST_F(WithProfiler, WritesFilesWhereTensorBoardLooks) {
  ProfileResult result;
  tracing::with_profiler(
      folder_ / "profiles", [] { TRACE_SPAN(info, "work"); }, quiet_, &result);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(std::filesystem::path(result.folder).filename().string(),
              MatchesRegex("[0-9]{4}_[0-9]{2}_[0-9]{2}_[0-9]{2}_[0-9]{2}_[0-9]{2}"));
  EXPECT_EQ(std::filesystem::path(result.folder).parent_path(), folder_ / "profiles/plugins/profile");
  EXPECT_THAT(names_in(result.folder), ElementsAre("machine.pftrace", kTrace, "machine.xplane.pb"));
  EXPECT_THAT(result.files, ElementsAre(result.folder + "/machine.xplane.pb", result.folder + "/" + kTrace,
                                        result.folder + "/machine.pftrace"));
  for (std::string const& file : result.files) EXPECT_GT(std::filesystem::file_size(file), 100u) << file;
}

TEST_F(WithProfiler, ReturnsWhatTheFunctionReturns) {
  int n = 0;
  int& same = tracing::with_profiler(
      folder_ / "", [&]() -> int& { return n; }, quiet_);
  EXPECT_EQ(&same, &n);
  EXPECT_EQ(*tracing::with_profiler(
                folder_ / "", [] { return std::make_unique<int>(7); }, quiet_),
            7);
}

TEST_F(WithProfiler, PassesAnExceptionOnWithTheProfileWritten) {
  ProfileResult result;
  EXPECT_THROW(tracing::with_profiler(
                   folder_ / "",
                   [] {
                     TRACE_SPAN(info, "work");
                     throw std::runtime_error("stop");
                   },
                   quiet_, &result),
               std::runtime_error);
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.files, SizeIs(3));
  EXPECT_THAT(profiled([] {}), IsEmpty());
}

TEST_F(WithProfiler, KeepsTheOuterOneIfItIsNested) {
  ProfileResult outer;
  ProfileResult inner;
  int const n = tracing::with_profiler(
      folder_ / "",
      [&] {
        return tracing::with_profiler(
            folder_ / "inner", [] { return 3; }, quiet_, &inner);
      },
      quiet_, &outer);
  EXPECT_EQ(n, 3);
  EXPECT_EQ(inner.error, "a profile is being recorded already, and there is one at a time");
  EXPECT_THAT(inner.files, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "inner"));
  EXPECT_TRUE(outer.ok());
  EXPECT_THAT(outer.files, SizeIs(3));
}

TEST_F(WithProfiler, SaysWhatIsWrongOnStandardError) {
  testing::internal::CaptureStderr();
  tracing::with_profiler(
      folder_ / "", [&] { tracing::with_profiler(folder_ / "", [] {}); }, quiet_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "testlog: with_profiler(): a profile is being recorded already, and there is one at a time\n");
}

TEST_F(WithProfiler, SaysWhereTheFilesAreAndWhatIsMissing) {
  testing::internal::CaptureStderr();
  tracing::with_profiler(folder_ / "",
                         [] {
                           for (int i = 0; i < 100'000; ++i) TRACE_INFO("event", i);
                         },
                         {.limit_bytes = std::size_t{256} << 10, .run = "run", .host_name = "machine"});
  // There are no tables: the region still has records of earlier profiles, but they do not count.
  std::string written;
  for (std::string const& file : {std::string("machine.xplane.pb"), kTrace, std::string("machine.pftrace")})
    written += "testlog: profile written to " + (folder_ / "plugins/profile/run/") + file + "\n";
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex(written + "testlog: [0-9]+ records of the profile were overwritten; a larger "
                                     "ProfilerOptions::limit_bytes keeps more\n"));
}

TEST_F(WithProfiler, PrintsWhatTheProfileAddsUpTo) {
  auto const run = [&](std::size_t table_rows) {
    testing::internal::CaptureStderr();
    tracing::with_profiler(folder_ / "",
                           [] {
                             for (int i = 0; i < 3; ++i) {
                               TRACE_ANNOTATE("step");
                               TRACE_PERF("matmul");
                             }
                           },
                           {.table_rows = table_rows});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(run(20), testing::AllOf(HasSubstr("calls"), HasSubstr("::step\n"), HasSubstr("::matmul\n")));
  EXPECT_THAT(run(0), testing::StartsWith("testlog: profile written to "));
}

TEST_F(WithProfiler, OpensALinkOnRequest) {
  std::vector<std::string> lines;
  ProfilerOptions options = quiet_;
  options.run = "run";
  options.create_perfetto_link = true;
  options.link.time_limit = std::chrono::milliseconds(1);
  options.link.print = [&lines](std::string_view line) { lines.emplace_back(line); };
  ProfileResult result;
  tracing::with_profiler(
      folder_ / "", [] {}, options, &result);
  ASSERT_THAT(lines, testing::Not(IsEmpty()));
  EXPECT_THAT(lines.back(), HasSubstr(folder_ / "plugins/profile/run/machine.pftrace")) << "wherever it is run";
  EXPECT_TRUE(result.ok());
}

TEST_F(WithProfiler, ReturnsWhatTheFunctionReturnsIfTheLinkFails) {
  ProfilerOptions options = quiet_;
  options.create_perfetto_link = true;
  options.link.print = [](std::string_view) { throw std::runtime_error("no terminal"); };
  ProfileResult result;
  testing::internal::CaptureStderr();
  EXPECT_EQ(tracing::with_profiler(
                folder_ / "", [] { return 7; }, options, &result),
            7);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex("testlog: no link to " + (folder_ / ".*/machine.pftrace") + ": no terminal\n"));
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.files, SizeIs(3));
}

TEST_F(WithProfiler, HasAFolderForEachProfile) {
  ProfileResult first;
  ProfileResult second;
  tracing::with_profiler(
      folder_ / "", [] {}, quiet_, &first);
  tracing::with_profiler(
      folder_ / "", [] {}, quiet_, &second);
  EXPECT_NE(first.folder, second.folder);
  EXPECT_THAT(names_in(second.folder), SizeIs(3));
}

TEST_F(WithProfiler, SharesAFolderThatIsNamed) {
  for (char const* host : {"a:1", "b/2"})
    tracing::with_profiler(folder_ / "", [] {}, {.run = "run", .host_name = host, .print = false});
  EXPECT_THAT(names_in(folder_ / "plugins/profile/run"), testing::IsSupersetOf({"a_1.pftrace", "b_2.pftrace"}));
}

TEST_F(WithProfiler, WritesWhereItBeganIfTheProgramChangesItsFolder) {
  std::filesystem::path const before = std::filesystem::current_path();
  std::filesystem::create_directory(folder_ / "elsewhere");
  std::filesystem::current_path(folder_ / "");
  ProfileResult result;
  tracing::with_profiler(
      "./profiles", [&] { std::filesystem::current_path(folder_ / "elsewhere"); }, quiet_, &result);
  std::filesystem::current_path(before);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(std::filesystem::path(result.folder).parent_path(), folder_ / "profiles/plugins/profile");
  EXPECT_THAT(names_in(folder_ / "profiles"), SizeIs(3));
}

TEST_F(WithProfiler, RefusesARunThatIsNoNewFolder) {
  for (std::string const run : {".", ".."}) {
    EXPECT_EQ(tracing::profiler_start(folder_ / "profiles", {.run = run}),
              "ProfilerOptions::run is \"" + run + "\"; expected the name of a folder");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "profiles"));
}

TEST_F(WithProfiler, CallsTheFunctionEvenIfThereIsNoFolder) {
  ProfileResult result;
  std::string const file = folder_.write("file", "");
  EXPECT_EQ(tracing::with_profiler(
                file, [] { return 3; }, quiet_, &result),
            3);
  EXPECT_EQ(result.error, "could not create " + file + "/plugins/profile: Not a directory");
  EXPECT_EQ(tracing::profiler_stop().error, "no profile is being recorded");
}

TEST_F(WithProfiler, LeavesNoHalfFile) {
  ProfileResult result;
  tracing::with_profiler(
      folder_ / "",
      [&] {
        TRACE_SPAN(info, "work");
        // The file cannot be renamed to a folder.
        std::filesystem::create_directories(folder_ / "plugins/profile/run/machine.pftrace/x");
      },
      {.run = "run", .host_name = "machine", .print = false}, &result);
  EXPECT_THAT(result.error, HasSubstr("could not write " + (folder_ / "plugins/profile/run/machine.pftrace") + ": "));
  EXPECT_THAT(result.files, SizeIs(2));
  EXPECT_THAT(names_in(folder_ / "plugins/profile/run"), ElementsAre(kTrace, "machine.xplane.pb"));
}

TEST_F(WithProfiler, HasAStartAndAStopForOtherPlaces) {
  ASSERT_EQ(tracing::profiler_start(folder_ / "", quiet_), "");
  EXPECT_EQ(tracing::profiler_start(folder_ / "", quiet_),
            "a profile is being recorded already, and there is one at a time");
  ProfileResult result;
  std::thread([&result] { result = tracing::profiler_stop(); }).join();
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_THAT(result.files, SizeIs(3));
  EXPECT_EQ(tracing::profiler_stop().error, "no profile is being recorded");
}

TEST_F(WithProfiler, EndsWhereItBeganWhileOtherThreadsTryToStart) {
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (char const* const name : {"a", "b", "c"}) {
    threads.emplace_back([&, name] {
      std::string const folder = folder_ / name;
      for (int tries = 0; tries < 50; ++tries) {
        if (!tracing::profiler_start(folder, {.limit_bytes = std::size_t{256} << 10, .print = false}).empty()) continue;
        ProfileResult const result = tracing::profiler_stop();
        EXPECT_EQ(result.error, "");
        for (std::string const& file : result.files) EXPECT_THAT(file, testing::StartsWith(folder));
        ++written;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(written, 0);
}

}  // namespace
