// `testlog export --xplane`: xprof and TensorBoard show what was recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/traces/traces_test.h"
#include "tests/traces/xplane_reader.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/tracing.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testlog_test::arrow_number_of;
using testlog_test::arrow_of;
using testlog_test::XplaneArrow;
using testlog_test::XplaneEvent;
using testlog_test::XplaneLine;
using testlog_test::XplaneProfile;
using tracing::kv;

class Xplane : public testlog_test::TracesTest {
 protected:
  // Returns the profiles by the names of their files.
  std::map<std::string, XplaneProfile> profiles_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--xplane", folder_ / "logs"});
    run_export(arguments);
    std::map<std::string, XplaneProfile> profiles;
    for (auto const& file : std::filesystem::recursive_directory_iterator(folder_ / "logs")) {
      if (!file.is_regular_file()) continue;
      std::string const name = std::filesystem::relative(file.path(), folder_ / "logs");
      profiles[file.path().filename()] = XplaneProfile::read(folder_.read("logs/" + name));
      EXPECT_THAT(profiles[file.path().filename()].problems, IsEmpty());
    }
    return profiles;
  }
  XplaneProfile profile_of(std::vector<std::string> const& arguments) const {
    auto const profiles = profiles_of(arguments);
    EXPECT_THAT(profiles, SizeIs(1));
    return profiles.begin()->second;
  }
};

std::vector<std::string> names(XplaneLine const& line) {
  std::vector<std::string> all;
  for (XplaneEvent const& event : line.events) all.push_back(std::string(event.depth, ' ') + event.name);
  return all;
}

TEST_F(Xplane, HasAnEventForEachSpanAndEachMessage) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    TRACE_SPAN(info, "request", kv("id", 7), kv("late", tracing::empty));
    tracing::Span::current().record(kv("late", 2.5));
    { TRACE_SPAN(debug, "load", kv("path", "a.bin")); }
    TRACE_WARN("moved {} bytes", 64, kv("kept", true));
  })});
  EXPECT_EQ(profile.hostname, "a");
  XplaneLine const& line = profile.line("main");
  EXPECT_EQ(line.id, getpid());
  ASSERT_THAT(names(line), ElementsAre("request", " load", " moved 64 bytes"));
  EXPECT_THAT(line.events[0].args, ElementsAre(Pair("id", "7"), Pair("late", "2.500000"), Pair("level", "\"INFO\""),
                                               Pair("source", HasSubstr("xplane_export_test.cc:")),
                                               Pair("target", "\"xplane_export_test\"")));
  EXPECT_THAT(line.events[1].args, Contains(Pair("path", "\"a.bin\"")));
  EXPECT_THAT(line.events[2].args, AllOf(Contains(Pair("kept", "\"true\"")), Not(Contains(Key("message")))));
  EXPECT_EQ(line.events[2].duration_ps, 0);
}

TEST_F(Xplane, HasTheTimesOfTheRecordingSinceItsStart) {
  std::string const file = record("a.rec", [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(info, "inner");
    TRACE_INFO("event");
  });
  std::string error;
  auto const recording = tracing::recording::Recording::read_file(file, error);
  std::int64_t const start = recording->start().ns;
  std::vector<std::int64_t> recorded;
  std::int64_t last = 0;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    using tracing::recording::EntryType;
    last = entry.time.ns;
    if (entry.type == EntryType::scope_begin || entry.type == EntryType::scope_end || entry.type == EntryType::event)
      recorded.push_back((entry.time.ns - start) * 1000);
  });
  XplaneProfile const profile = profile_of({file});
  auto const& events = profile.line("main").events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_THAT(recorded, ElementsAre(events[0].begin_ps, events[1].begin_ps, events[2].begin_ps, events[1].end_ps(),
                                    events[0].end_ps()));
  EXPECT_EQ(profile.environment.at("profile_start_time"), std::to_string(start));
  EXPECT_EQ(profile.environment.at("profile_stop_time"), std::to_string(last));
}

TEST_F(Xplane, HasEveryTypeOfValue) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    TRACE_INFO("values", kv("b", false), kv("u", std::uint64_t{18446744073709551615U}), kv("i", -1), kv("f", 0.5F),
               kv("text", "a \xFF\xE2\x82"), kv("pointer", reinterpret_cast<void*>(255)), kv("none", tracing::empty),
               kv("list", std::vector<int>{1, 2}), kv("large", std::string(1 << 20, 'x')));
  })});
  auto const& args = profile.line("main").events.at(0).args;
  EXPECT_THAT(
      args,
      AllOf(Contains(Pair("b", "\"false\"")), Contains(Pair("u", "18446744073709551615")), Contains(Pair("i", "-1")),
            Contains(Pair("f", "0.500000")), Contains(Pair("text", "\"a \xEF\xBF\xBD\xEF\xBF\xBD\"")),
            Contains(Pair("pointer", "\"0xff\"")), Contains(Pair("list", "\"[1, 2]\"")), Not(Contains(Key("none")))));
  EXPECT_GT(args.at("large").size(), 4000u);
}

TEST_F(Xplane, KeepsFieldsFromTheMeaningThatXprofGivesToTheirNames) {
  XplaneProfile const profile = profile_of({record("a.rec", [] { TRACE_INFO("event", kv("flow", 9), kv("_r", 1)); })});
  EXPECT_THAT(profile.line("main").events.at(0).args,
              AllOf(Contains(Pair("field.flow", "9")), Contains(Pair("field._r", "1")), Not(Contains(Key("flow")))));
}

TEST_F(Xplane, HasALineForEachThread) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "worker.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  std::thread([&registry] {
    tracing::set_thread_name("line of its own");
    tracing::with_default(registry, [] { TRACE_SPAN(info, "load"); });
  }).join();
  tracing::with_default(registry, [] { TRACE_SPAN(info, "wait"); });
  XplaneProfile const profile = profile_of({folder_ / "worker.rec"});
  EXPECT_THAT(names(profile.line("line of its own")), ElementsAre("load"));
  EXPECT_THAT(names(profile.line("main")), ElementsAre("wait"));
}

// Records a launch on this thread, and the kernel on a stream, as a driver does when the kernel has run.
void launch(tracing::Track const& stream, std::string_view kernel, std::int64_t begin_ns, std::int64_t end_ns) {
  tracing::Span const launch = TRACE_MAKE_SPAN(info, "launch");
  launch.in_scope([] {});
  static tracing::RuntimeCallsite const callsite({.kind = tracing::Kind::span,
                                                  .name = "kernel",
                                                  .target = "tracing::cuda::device",
                                                  .fields = {"kernel.name", "bytes"}});
  tracing::Value const values[] = {tracing::Value::of_text(kernel), tracing::Value::of_u64(64)};
  tracing::Subscriber& to = *tracing::current_subscriber();
  auto const at = [&stream](std::int64_t ns) { return tracing::Origin{&stream, tracing::Instant{ns}}; };
  tracing::SpanId const id = to.new_span({tracing::FieldValues(callsite.metadata(), values), tracing::Parent::root(),
                                          to.enabled(callsite.metadata()), at(begin_ns)});
  to.follows_from(id, launch.id());
  to.enter(id, at(begin_ns));
  to.exit(id, at(end_ns));
  to.drop_reference(id, at(end_ns));
}

TEST_F(Xplane, HasALineForEachStreamOfADevice) {
  tracing::Track const first{1'000'001, "GPU 0 stream 7"}, second{1'000'002, "GPU 2 stream 0"},
      third{1'000'003, "GPU x"};
  std::int64_t const now = tracing::Instant::now().ns;
  XplaneProfile const profile = profile_of({record("a.rec", [&] {
    launch(first, "fill", now + 1'000'000'000, now + 1'000'000'100);
    launch(first, "scale", now + 1'000'000'200, now + 1'000'000'300);
    launch(second, "fill", now + 1'000'000'000, now + 1'000'000'050);
    launch(third, "fill", now + 1'000'000'000, now + 1'000'000'000);
  })});
  XplaneLine const& line = profile.line("Stream #7", "/device:GPU:0");
  EXPECT_EQ(line.id, 7);
  ASSERT_THAT(names(line), ElementsAre("fill", "scale"));
  EXPECT_EQ(line.events[0].duration_ps, 100'000);
  EXPECT_EQ(line.events[1].begin_ps - line.events[0].end_ps(), 100'000);
  EXPECT_THAT(line.events[0].args, AllOf(Contains(Pair("kernel.name", "\"fill\"")), Contains(Pair("bytes", "64"))));
  EXPECT_THAT(names(profile.line("Stream #0", "/device:GPU:2")), ElementsAre("fill"));
  EXPECT_THAT(names(profile.line("GPU x")), ElementsAre("fill")) << "another track is a line of the host";

  // By this arrow the viewer finds the step that launched a kernel.
  XplaneEvent const& launched = profile.line("main").events.at(1);
  EXPECT_EQ(arrow_of(launched.args.at("flow")), XplaneArrow::out);
  EXPECT_EQ(arrow_of(line.events[1].args.at("flow")), XplaneArrow::in);
  EXPECT_EQ(arrow_number_of(launched.args.at("flow")), arrow_number_of(line.events[1].args.at("flow")));
  EXPECT_EQ(launched.args.at("correlation_id"), line.events[1].args.at("correlation_id"));
  EXPECT_NE(launched.args.at("correlation_id"), line.events[0].args.at("correlation_id"));
}

// Records a kernel with these values, as report_activity() does.
template <class... Values>
void run_kernel(std::vector<std::string_view> const& fields, Values const&... values) {
  tracing::RuntimeCallsite const callsite(
      {.kind = tracing::Kind::span, .name = "kernel", .target = "tracing::cuda::device", .fields = fields});
  tracing::Value const all[] = {tracing::internal::value_of(values)...};
  tracing::Track const stream{1'000'001, "GPU 0 stream 7"};
  std::int64_t const now = tracing::Instant::now().ns;
  tracing::emit_past_span(callsite.callsite(), all, {stream, tracing::Instant{now}, tracing::Instant{now + 100}}, {});
}

TEST_F(Xplane, SaysHowAKernelWasLaunchedAsXprofsPageOfKernelsReadsIt) {
  auto const details_of = [this](auto const& launch) {
    XplaneProfile const profile = profile_of({record("a.rec", launch)});
    std::filesystem::remove_all(folder_ / "logs");
    std::filesystem::remove(folder_ / "a.rec");
    auto const& args = profile.line("Stream #7", "/device:GPU:0").events.at(0).args;
    return args.contains("kernel_details") ? args.at("kernel_details") : "none";
  };
  std::tuple const grid(4U, 64U, 1U), block(16U, 16U, 1U);
  std::string const whole = details_of([&] {
    run_kernel({"kernel.name", "grid", "block", "shared_bytes", "dynamic_shared_bytes", "registers"}, "scale", grid,
               block, 2048, 512, 24);
  });
  EXPECT_EQ(whole, "\"regs:24 static_shared:1536 dynamic_shared:512 grid:4,64,1 block:16,16,1\"");
  std::vector<std::string> problems;
  testlog_test::XplaneKernel const read = testlog_test::kernel_of(whole.substr(1, whole.size() - 2), problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(std::tie(read.registers, read.static_shared, read.dynamic_shared), std::tuple(24, 1536, 512));
  EXPECT_EQ(read.grid + " " + read.block, "4,64,1 16,16,1");

  EXPECT_EQ(details_of([&] {
              run_kernel({"kernel.name", "grid", "block", "shared_bytes"}, "scale", grid, block, 64);
            }),
            "\"static_shared:64 dynamic_shared:0 grid:4,64,1 block:16,16,1\"")
      << "registers are not known";
  EXPECT_EQ(details_of([&] { run_kernel({"kernel.name", "grid"}, "scale", "all"); }), "none") << "that is no grid";
  EXPECT_EQ(details_of([&] {
              run_kernel({"kernel.name", "grid", "kernel_details"}, "scale", grid, "mine");
            }),
            "\"grid:4,64,1\"");
}

TEST_F(Xplane, HasLinesOfTheirOwnForHeldSpans) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    auto const first = TRACE_MAKE_SPAN(info, "request", kv("id", 1));
    auto second = std::optional(TRACE_MAKE_SPAN(info, "request", kv("id", 2)));
    first.in_scope([] { TRACE_INFO("in the first"); });
    first.in_scope([] {});
    second.reset();
    auto const third = TRACE_MAKE_SPAN(info, "request", kv("id", 3));
    auto const once = TRACE_MAKE_SPAN(info, "once");
    once.in_scope([] {});
  })});
  std::vector<std::vector<std::string>> lines;
  for (XplaneLine const& line : profile.planes.at("/host:CPU")) {
    if (line.name != "request") continue;
    lines.emplace_back();
    for (XplaneEvent const& event : line.events) lines.back().push_back(event.args.at("id"));
  }
  EXPECT_THAT(lines, ElementsAre(ElementsAre("1"), ElementsAre("2", "3")))
      << "those that overlap are on different lines";
  EXPECT_THAT(names(profile.line("main")), ElementsAre("request", " in the first", "request", "once"));
  EXPECT_THAT(profile.line("once").events, IsEmpty());
  std::string const whole = profile.line("request").events.at(0).args.at("flow");
  std::string const part = profile.line("main").events.at(2).args.at("flow");
  EXPECT_EQ(arrow_of(whole), XplaneArrow::out);
  EXPECT_EQ(arrow_of(part), XplaneArrow::in);
  EXPECT_EQ(arrow_number_of(whole), arrow_number_of(part));
}

TEST_F(Xplane, HasAnArrowFromACauseToWhatFollows) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    auto const cause = TRACE_MAKE_SPAN(info, "cause"), effect = TRACE_MAKE_SPAN(info, "effect");
    auto const last = TRACE_MAKE_SPAN(info, "last");
    effect.follows_from(cause);
    last.follows_from(effect);
    for (auto const& span : {cause, effect, last}) span.in_scope([] {});
  })});
  std::vector<XplaneArrow> directions;
  std::set<std::uint64_t> numbers;
  for (XplaneEvent const& event : profile.line("main").events) {
    directions.push_back(arrow_of(event.args.at("flow")));
    numbers.insert(arrow_number_of(event.args.at("flow")));
  }
  EXPECT_THAT(directions, ElementsAre(XplaneArrow::out, XplaneArrow::both, XplaneArrow::in));
  EXPECT_THAT(numbers, SizeIs(1));
}

TEST_F(Xplane, HasCounters) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    TRACE_VALUES(info, kv("counter.memory.used", 64));
    TRACE_INFO("freed", kv("counter.memory.used", -0.5), kv("bytes", 3));
  })});
  XplaneLine const& line = profile.line("_counters_");
  ASSERT_THAT(names(line), ElementsAre("memory.used", "memory.used"));
  EXPECT_EQ(line.events[0].args.at("value"), "64");
  EXPECT_EQ(line.events[1].args.at("value"), "-0.500000");
  EXPECT_THAT(names(profile.line("main")), ElementsAre("freed"));
}

// xprof would take a row of this name for counters.
TEST_F(Xplane, KeepsThreadsAndHeldSpansFromTheNameOfCounters) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "a.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  std::thread([&registry] {
    tracing::set_thread_name("_counters_");
    tracing::with_default(registry, [] {
      auto const held = TRACE_MAKE_SPAN(info, "_counters_");
      TRACE_VALUES(info, kv("counter.memory", 1));
    });
  }).join();
  XplaneProfile const profile = profile_of({folder_ / "a.rec"});
  std::vector<std::string> lines;
  for (XplaneLine const& line : profile.planes.at("/host:CPU")) lines.push_back(line.name);
  EXPECT_THAT(lines, testing::UnorderedElementsAre(" _counters_", " _counters_", "_counters_"));
  EXPECT_THAT(names(profile.line("_counters_")), ElementsAre("memory"));
}

TEST_F(Xplane, EndsSpansThatDidNotEndWithTheRecording) {
  XplaneProfile const profile = profile_of({record_in_child("killed.rec", [] {
    TRACE_SPAN(info, "outer");
    auto const held = TRACE_MAKE_SPAN(info, "held");
    { TRACE_SPAN(info, "inner"); }
    TRACE_INFO("last");
    kill(getpid(), SIGKILL);
  })});
  auto const& events = profile.line("main").events;
  ASSERT_THAT(names(profile.line("main")), ElementsAre("outer", " inner", " last"));
  EXPECT_EQ(events[0].end_ps(), events[2].begin_ps);
  EXPECT_EQ(events[0].args.at("did_not_end"), "\"true\"");
  EXPECT_THAT(events[1].args, Not(Contains(Key("did_not_end"))));
  EXPECT_EQ(profile.line("held").events.at(0).args.at("did_not_end"), "\"true\"");
}

TEST_F(Xplane, EndsSpansThatAreLeftInAnotherOrder) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    tracing::EnteredSpan outer = TRACE_MAKE_SPAN(info, "outer").entered();
    tracing::EnteredSpan const inner = TRACE_MAKE_SPAN(info, "inner", kv("id", 1)).entered();
    (void)std::move(outer).exit();
    TRACE_INFO("in inner alone");
  })});
  EXPECT_THAT(names(profile.line("main")), ElementsAre("outer", " inner", "inner", " in inner alone"));
  EXPECT_EQ(profile.line("main").events[2].args.at("id"), "1");
}

TEST_F(Xplane, MakesAStepOfEachTestAndAFileOfEachRecording) {
  for (std::string const test : {"Plain.Fails", "SpansOnly.Fails"})
    testlog::testdata::run_scenarios(test, {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}});
  auto const profiles = profiles_of({folder_ / "recordings"});
  ASSERT_THAT(profiles, ElementsAre(Key("Plain.Fails.xplane.pb"), Key("SpansOnly.Fails.xplane.pb")));
  XplaneEvent const& test = profiles.at("SpansOnly.Fails.xplane.pb").line("main").events.at(0);
  EXPECT_EQ(test.name, "SpansOnly.Fails");
  EXPECT_THAT(test.args, ElementsAre(Pair("_r", "1"), Pair("step_num", "1")));
  EXPECT_EQ(profiles.at("SpansOnly.Fails.xplane.pb").line("main").events.at(1).depth, 1u) << "spans are in the step";
}

TEST_F(Xplane, MakesAStepOfASpanWithItsNumber) {
  XplaneProfile const profile = profile_of({record("a.rec", [] {
    for (unsigned i = 0; i < 2; ++i) {
      TRACE_SPAN(info, "train", kv("step_num", i));
    }
  })});
  auto const& events = profile.line("main").events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_THAT(events[1].args, AllOf(Contains(Pair("step_num", "1")), Contains(Pair("_r", "1"))));
}

TEST_F(Xplane, PutsTheFilesWhereXprofLooks) {
  std::string const file = record("a:b.rec", [] { TRACE_INFO("event"); });
  std::string error;
  time_t const start = tracing::recording::Recording::read_file(file, error)->start().ns / 1'000'000'000;
  char run[64];
  strftime(run, sizeof(run), "%Y_%m_%d_%H_%M_%S", localtime(&start));
  run_export({file, file, "--xplane", folder_ / "logs"});
  std::string const in_run = folder_ / ("logs/plugins/profile/" + std::string(run));
  EXPECT_TRUE(std::filesystem::exists(in_run + "/a_b.xplane.pb"));
  EXPECT_TRUE(std::filesystem::exists(in_run + "/a_b." + std::to_string(getpid()) + ".xplane.pb"));
}

TEST_F(Xplane, HasSeveralRecordingsOnOneTimeline) {
  std::string const first = record("first.rec", [] { TRACE_INFO("one"); });
  std::string const second = record("second.rec", [] { TRACE_INFO("two"); });
  auto const start_of = [](std::string const& path) {
    std::string error;
    return tracing::recording::Recording::read_file(path, error)->start().ns;
  };
  std::int64_t const apart = start_of(second) - start_of(first);
  ASSERT_GT(apart, 0);
  auto const profiles = profiles_of({second, first});
  EXPECT_GE(profiles.at("second.xplane.pb").line("main").events.at(0).begin_ps, apart * 1000);
  std::set<std::string> starts;
  for (auto const& [file, profile] : profiles) starts.insert(profile.environment.at("profile_start_time"));
  EXPECT_THAT(starts, ElementsAre(std::to_string(start_of(first))));
}

TEST_F(Xplane, HasAFileForEachRecordingWhateverTheirNames) {
  std::vector<std::string> files;
  for (std::string const name : {"0/rank.rec", "1/rank.rec", "2/rank.rec", "3/rank.rec", "a:b.rec", "a_b.rec"}) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    files.push_back(record(name, [&name] { TRACE_INFO("{}", name); }));
  }
  std::string const process = "." + std::to_string(getpid());
  std::map<std::string, std::string> events;
  for (auto const& [file, profile] : profiles_of(files)) {
    events[file] = profile.line("main").events.at(0).name;
    EXPECT_EQ(profile.hostname == "a:b" ? "a_b.xplane.pb" : profile.hostname + ".xplane.pb", file);
  }
  EXPECT_THAT(events, testing::UnorderedElementsAre(
                          Pair("rank.xplane.pb", "0/rank.rec"), Pair("rank" + process + ".xplane.pb", "1/rank.rec"),
                          Pair("rank" + process + ".2.xplane.pb", "2/rank.rec"),
                          Pair("rank" + process + ".3.xplane.pb", "3/rank.rec"), Pair("a_b.xplane.pb", "a:b.rec"),
                          Pair("a_b" + process + ".xplane.pb", "a_b.rec")));
}

TEST_F(Xplane, HasAFileForEachRecordingHoweverLongTheirNames) {
  std::string const long_name(250, 'n');
  std::vector<std::string> files;
  for (std::string const& name : {long_name + "1.rec", long_name + "2.rec", std::string("short.rec")})
    files.push_back(record(name, [] { TRACE_INFO("event"); }));
  std::set<std::string> hosts;
  auto const profiles = profiles_of(files);
  EXPECT_THAT(profiles, AllOf(SizeIs(3), Contains(Key("short.xplane.pb"))));
  for (auto const& [file, profile] : profiles) hosts.insert(profile.hostname);
  EXPECT_THAT(hosts, ElementsAre(long_name + "1", long_name + "2", "short"));
}

TEST_F(Xplane, IsValidWhateverTimesAndLinksAreRecorded) {
  std::int64_t const now = tracing::Instant::now().ns;
  tracing::Track const stream{1'000'001, "GPU 0 stream \xFF"}, other{1'000'002, "GPU 0 stream \xFF"};
  XplaneProfile const profile = profile_of({record("a.rec", [&] {
    launch(stream, "backwards", now + 1000, now);
    launch(stream, "before the process", 5, 6);
    launch(other, "in 300 years", INT64_MAX - 5, INT64_MAX);
    auto const first = TRACE_MAKE_SPAN(info, "first"), second = TRACE_MAKE_SPAN(info, "second");
    first.follows_from(second);
    second.follows_from(first);
    for (auto const& span : {first, second}) span.in_scope([] {});
  })});
  auto const& lines = profile.planes.at("/device:GPU:0");
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0].events, SizeIs(2));
  EXPECT_EQ(lines[0].events[0].duration_ps, 0);
  EXPECT_THAT(lines[1].events, SizeIs(1));
}

TEST_F(Xplane, BeginsSpansWhoseBeginningWasOverwritten) {
  tracing_test::record_to({.path = folder_ / "small.rec", .limit_bytes = 1}, [] {
    TRACE_SPAN(info, "outer", kv("id", 7));
    for (int i = 0; i < 100'000; ++i) {
      TRACE_SPAN(info, "step", i);
    }
  });
  XplaneProfile const profile = profile_of({folder_ / "small.rec"});
  auto const& events = profile.line("main").events;
  EXPECT_EQ(events.at(0).name, "outer");
  EXPECT_EQ(events.at(0).args.at("id"), "7");
  EXPECT_EQ(events.back().args.at("i"), "99999");
  EXPECT_EQ(events.back().depth, 1u);
}

TEST_F(Xplane, HasOnlyWhatTheFilterSelects) {
  std::string const file = record("a.rec", [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(debug, "inner");
    TRACE_TRACE("event");
  });
  EXPECT_THAT(names(profile_of({file, "--filter=info"}).line("main")), ElementsAre("outer"));
}

}  // namespace
