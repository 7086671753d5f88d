#include "tracing_core/export/flame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_file.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/predicate.h"
#include "tracing_core/tracing.h"

namespace flame_test {

using tracing::flame_layer;
using tracing::FlameOptions;
using tracing::Registry;
using tracing::RegistryBuilder;
using tracing::RuntimeCallsite;
using tracing_test::TemporaryFile;

struct Folded {
  std::string stack;
  std::uint64_t ns = 0;
};

// The lines of a whole file. What is no line is a failure, and left out.
std::vector<Folded> parse(std::string const& text) {
  std::vector<Folded> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    std::string const line = text.substr(begin, end - begin);
    std::size_t const blank = line.rfind(' ');
    Folded folded{line.substr(0, blank), 0};
    char const* const last = line.data() + line.size();
    bool const is_line = blank != line.npos && blank > 0 && blank + 1 < line.size() &&
                         std::from_chars(line.data() + blank + 1, last, folded.ns).ptr == last;
    EXPECT_TRUE(is_line) << line;
    if (is_line) lines.push_back(std::move(folded));
  }
  EXPECT_EQ(begin, text.size()) << "the last line is broken: " << text.substr(begin);
  return lines;
}

std::vector<std::string> stacks(std::string const& text) {
  std::vector<std::string> names;
  for (Folded& line : parse(text)) names.push_back(std::move(line.stack));
  return names;
}

// What stands for this thread, as the layer writes it.
std::string this_thread() {
  std::string text;
  {
    auto [layer, guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })));
    tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), [] { TRACE_SPAN(info, "a"); });
  }
  return stacks(text).at(0);
}

// A registry with a flame layer that writes to `text`.
struct Recorder {
  explicit Recorder(FlameOptions const& options = {}, std::unique_ptr<tracing::Filter> filter = nullptr) {
    auto [layer, made_guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([this](tracing::Level, std::string_view block) {
                      blocks.emplace_back(block);
                      text += block;
                    })),
                    options);
    guard = std::move(made_guard);
    registry = RegistryBuilder().with(std::move(layer), std::move(filter)).build();
  }

  // The stacks that `f()` makes, without what stands for the thread.
  template <class F>
  std::vector<std::string> stacks_of(F&& f) {
    tracing::with_default(registry, f);
    guard.flush();
    std::vector<std::string> all = stacks(text);
    for (std::string& one : all) one.erase(0, std::min(one.size(), this_thread().size()));
    return all;
  }

  std::string text;
  std::vector<std::string> blocks;
  tracing::FlameGuard guard;
  std::shared_ptr<Registry> registry;
};

using Stacks = std::vector<std::string>;

void outer_and_inner() {
  TRACE_SPAN(info, "outer");
  { TRACE_SPAN(debug, "inner", tracing::kv("field", 1)); }
  TRACE_INFO("events are not written");
}

TEST(FlameLayer, WritesWhereTheThreadWasUntilItEntersOrLeavesASpan) {
  EXPECT_EQ(Recorder().stacks_of(outer_and_inner),
            (Stacks{"", ";flame_test::outer", ";flame_test::outer;flame_test::inner", ";flame_test::outer"}));
  EXPECT_TRUE(this_thread().starts_with("ThreadId(")) << this_thread();
}

// Records of a track whose times are said.
struct Feeder {
  explicit Feeder(Registry& r) : registry(r) {}

  tracing::Origin at(std::int64_t ns) const { return {.track = &track, .time = {base + ns}}; }
  tracing::SpanId make(char const* name, tracing::Parent parent = {}) {
    callsites.emplace_back(tracing::CallsiteDescription{.kind = tracing::Kind::span, .name = name, .target = "t"});
    return registry.new_span(
        {tracing::FieldValues(callsites.back().metadata(), nullptr), parent, ~tracing::Verdict{0}, at(0)});
  }
  void enter(tracing::SpanId span, std::int64_t ns) { registry.enter(span, at(ns)); }
  void exit(tracing::SpanId span, std::int64_t ns) { registry.exit(span, at(ns)); }

  Registry& registry;
  std::int64_t base = tracing::Instant::now().ns;
  tracing::Track track{1'000'000, "stream 7"};
  std::vector<RuntimeCallsite> callsites;
};

TEST(FlameLayer, CountsNanosecondsSinceTheLastLineOfTheTrack) {
  Recorder recorder;
  Feeder feeder(*recorder.registry);
  auto const a = feeder.make("a");
  feeder.enter(a, -3'600'000'000'000);  // before the layer was made
  auto const b = feeder.make("b");
  feeder.enter(b, -3'600'000'000'000 + 7);
  feeder.exit(b, -3'600'000'000'000 + 12'345);
  feeder.exit(a, -3'600'000'000'000 + 12'344);  // the clock was set back
  feeder.enter(a, -3'600'000'000'000 + 12'354);
  recorder.guard.flush();
  EXPECT_EQ(recorder.text,
            "ThreadId(1000000)-stream 7 0\n"
            "ThreadId(1000000)-stream 7;a 7\n"
            "ThreadId(1000000)-stream 7;a;b 12338\n"
            "ThreadId(1000000)-stream 7;a 0\n"
            "ThreadId(1000000)-stream 7 10\n");
}

TEST(FlameLayer, CountsFromItsMakingAtFirst) {
  std::int64_t const before = tracing::Instant::now().ns;
  Recorder recorder;
  std::int64_t const after = tracing::Instant::now().ns;
  Feeder feeder(*recorder.registry);
  feeder.base = after + 1000;
  feeder.enter(feeder.make("a"), 0);
  recorder.guard.flush();
  auto const lines = parse(recorder.text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_GE(lines[0].ns, 1000U);
  EXPECT_LE(lines[0].ns, static_cast<std::uint64_t>(after + 1000 - before));
}

TEST(FlameLayer, KeepsButDoesNotWriteWhatIsOnlyRestored) {
  Recorder recorder;
  Feeder feeder(*recorder.registry);
  auto const a = feeder.make("a");
  recorder.registry->enter(a, {.track = &feeder.track, .time = {feeder.base + 1000}, .restored = true});
  feeder.exit(a, 1300);
  recorder.guard.flush();
  EXPECT_EQ(recorder.text, "ThreadId(1000000)-stream 7;a 300\n");
}

TEST(FlameLayer, HasOptions) {
  struct Case {
    FlameOptions options;
    char const* lines;
  };
  std::string const thread = this_thread();
  for (Case const& c :
       {Case{{}, "T|T;m::a|T;m::a;b|T;m::a"}, Case{{.empty_samples = false}, "T;m::a|T;m::a;b|T;m::a"},
        Case{{.threads_collapsed = true}, "all-threads|all-threads;m::a|all-threads;m::a;b|all-threads;m::a"},
        Case{{.module_path = false}, "T|T;a|T;a;b|T;a"},
        Case{{.file_and_line = true}, "T|T;m::a:f.cc:0|T;m::a:f.cc:0;b:7|T;m::a:f.cc:0"},
        Case{{.as_tracing_flame = true}, "T|T;m::a|T;m::a;::b|T;m::a"}}) {
    Recorder recorder(c.options);
    RuntimeCallsite const outer(
        {.kind = tracing::Kind::span, .name = "a", .file = "f.cc", .line = 0, .module_path = "m"});
    // As in the global namespace.
    RuntimeCallsite const inner({.kind = tracing::Kind::span, .name = "b", .line = 7, .module_path = ""});
    tracing::with_default(recorder.registry, [&] {
      auto const a = tracing::Span::make(outer.callsite(), nullptr).entered();
      auto const b = tracing::Span::make(inner.callsite(), nullptr).entered();
    });
    recorder.guard.flush();
    std::string got;
    for (std::string stack : stacks(recorder.text)) {
      if (stack.starts_with(thread)) stack.replace(0, thread.size(), "T");
      got += (got.empty() ? "" : "|") + stack;
    }
    EXPECT_EQ(got, c.lines);
  }
}

std::string frame_of(std::string const& name, FlameOptions const& options) {
  Recorder recorder(options);
  RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = name});
  auto const all = recorder.stacks_of([&] { (void)tracing::Span::make(callsite.callsite(), nullptr).entered(); });
  return all.size() == 2 ? all[1] : "not a line";
}

TEST(FlameLayer, ReplacesWhatWouldEndFramesAndLines) {
  struct Case {
    std::string name;
    char const* by_default;
    char const* as_tracing_flame;
  };
  for (Case const& c : {Case{"with space", ";with space", ";with space"},
                        Case{"semi;colon", ";semi:colon", ";semi;colon"},
                        Case{";;", ";::", ";;;"},
                        Case{"line\nend\r\n", ";line end  ", ";line end  "},
                        Case{std::string("n\0ul", 4), ";n ul", ";n ul"},
                        Case{"a very long name; with one semicolon\n", ";a very long name: with one semicolon ",
                             ";a very long name; with one semicolon "},
                        Case{"\t\x1b", ";\t\x1b", ";\t\x1b"},
                        Case{"", ";", ";"},
                        Case{"日本", ";日本", ";日本"},
                        Case{"n\xff;", ";n\xef\xbf\xbd:", ";n\xff;"},
                        Case{"12 34", ";12 34", ";12 34"}}) {
    EXPECT_EQ(frame_of(c.name, {}), c.by_default) << c.name;
    EXPECT_EQ(frame_of(c.name, {.as_tracing_flame = true}), c.as_tracing_flame) << c.name;
  }
  std::string const long_name(1 << 20, 'x');
  EXPECT_EQ(frame_of(long_name, {}), ";" + long_name);
}

TEST(FlameLayer, DoesNotShowSpansThatItsFilterRejects) {
  Recorder recorder({.module_path = false},
                    tracing::filter_fn([](tracing::Metadata const& m) { return m.name() != "hidden"; }));
  EXPECT_EQ(recorder.stacks_of([] {
    TRACE_SPAN(info, "seen");
    TRACE_SPAN(info, "hidden");
    TRACE_SPAN(info, "below");
  }),
            (Stacks{"", ";seen", ";seen;below", ";seen"}));
}

// The same lines as FlameLayer's, each made from nothing.
class PlainFlame final : public tracing::Layer {
 public:
  explicit PlainFlame(std::string& out) : out_(out) {}
  void on_enter(tracing::SpanRef span, tracing::Context const& context) noexcept override {
    add(span.parent(), context);
  }
  void on_exit(tracing::SpanRef span, tracing::Context const& context) noexcept override { add(span, context); }

 private:
  void add(tracing::SpanRef span, tracing::Context const& context) {
    std::string path;
    for (; span; span = span.parent()) path = ";" + std::string(span.metadata().name()) + path;
    out_ +=
        "ThreadId(" + std::to_string(context.track().number) + ")-" + std::string(context.track().name) + path + "\n";
  }
  std::string& out_;
};

TEST(FlameLayer, WritesWhatAPlainWalkThroughTheSpansGives) {
  std::vector<RuntimeCallsite> callsites;
  for (char const* name : {"a", "b", "c", "d"}) {
    callsites.emplace_back(tracing::CallsiteDescription{.kind = tracing::Kind::span, .name = name});
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    auto const below = [&random](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    std::string expected;
    std::string text;
    auto [layer, guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })));
    auto const filter = [](tracing::Metadata const& m) { return m.name() != "d"; };
    auto const registry = RegistryBuilder()
                              .with(std::move(layer), tracing::filter_fn(filter))
                              .with(std::make_unique<PlainFlame>(expected), tracing::filter_fn(filter))
                              .build();
    tracing::Track const tracks[] = {{2'000'000, "one"}, {2'000'001, "two"}};
    std::vector<tracing::SpanId> spans;
    for (int i = 0; i < 300; ++i) {
      tracing::Origin const origin{.track = &tracks[below(2)]};
      std::size_t const what = below(8);
      if (what < 2 || spans.empty()) {
        auto const parent =
            what == 0 || spans.empty() ? tracing::Parent{} : tracing::Parent::below(spans[below(spans.size())]);
        tracing::Metadata const& metadata = callsites[below(callsites.size())].metadata();
        auto const verdict = registry->enabled(metadata);
        auto const id = registry->new_span({tracing::FieldValues(metadata, nullptr), parent, verdict, origin});
        if (id) spans.push_back(id);
      } else if (what < 5) {
        registry->enter(spans[below(spans.size())], origin);
      } else if (what < 7) {
        registry->exit(spans[below(spans.size())], origin);
      } else {
        std::size_t const gone = below(spans.size());
        registry->drop_reference(spans[gone], origin);
        spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(gone));
      }
    }
    guard.flush();
    std::string got;
    for (std::string const& stack : stacks(text)) got += stack + "\n";
    ASSERT_EQ(got, expected) << "seed " << seed;
    ASSERT_GT(std::count(expected.begin(), expected.end(), '\n'), 20);
  }
}

// Spans of more callsites than a thread remembers the names of, some in each other.
#define FLAME_TEST_SPAN(name) \
  {                           \
    TRACE_SPAN(info, name);   \
    inner();                  \
  }
#define FLAME_TEST_SPANS(name)                                                                           \
  FLAME_TEST_SPAN(name "0") FLAME_TEST_SPAN(name "1") FLAME_TEST_SPAN(name "2") FLAME_TEST_SPAN(name "3") \
  FLAME_TEST_SPAN(name "4") FLAME_TEST_SPAN(name "5") FLAME_TEST_SPAN(name "6") FLAME_TEST_SPAN(name "7")

template <class F>
void spans_of_many_callsites(F inner) {
  FLAME_TEST_SPANS("a") FLAME_TEST_SPANS("b") FLAME_TEST_SPANS("c") FLAME_TEST_SPANS("d") FLAME_TEST_SPANS("e")
}

TEST(FlameLayer, WritesTheNamesOfAnyNumberOfCallsites) {
  std::string expected;
  std::string text;
  auto [layer, guard] =
      flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })),
                  {.module_path = false});
  tracing::with_default(
      RegistryBuilder().with(std::move(layer)).with(std::make_unique<PlainFlame>(expected)).build(),
      [] { spans_of_many_callsites([] { spans_of_many_callsites([] {}); }); });
  guard.flush();
  std::string got;
  for (std::string const& stack : stacks(text)) got += stack + "\n";
  EXPECT_EQ(got, expected);
}

TEST(FlameLayer, TellsCallsitesApartThatStoodInTheSamePlace) {
  for (char const* name : {"one", "two", "three"}) EXPECT_EQ(frame_of(name, {}), ";" + std::string(name));
  Recorder recorder({.module_path = false});
  Stacks expected;
  tracing::with_default(recorder.registry, [&] {
    for (int i = 0; i < 100; ++i) {
      std::string const name = "n" + std::to_string(i);
      RuntimeCallsite const callsite({.kind = tracing::Kind::span, .name = name});
      (void)tracing::Span::make(callsite.callsite(), nullptr).entered();
      expected.insert(expected.end(), {"", ";" + name});
    }
  });
  EXPECT_EQ(recorder.stacks_of([] {}), expected);
}

TEST(FlameLayer, WritesWhatHasWaitedForLongWhenItsTrackGoesOn) {
  Recorder recorder;
  Feeder feeder(*recorder.registry);
  auto const a = feeder.make("a");
  feeder.enter(a, 0);
  feeder.exit(a, 99'000'000);
  EXPECT_EQ(recorder.text, "");
  feeder.enter(a, 101'000'000);
  EXPECT_EQ(parse(recorder.text).size(), 3U);
  feeder.exit(a, 190'000'000);
  EXPECT_EQ(parse(recorder.text).size(), 3U);
}

// By two clocks, one of which is read only where the moment is not given.
TEST(FlameLayer, CountsBetweenMomentsThatWereGivenAndOthers) {
  Recorder recorder({.module_path = false});
  tracing::with_default(recorder.registry, [&] {
    std::int64_t const before = tracing::Instant::now().ns;
    auto const span = TRACE_MAKE_SPAN(info, "a");
    recorder.registry->enter(span.id(), {});
    recorder.registry->exit(span.id(), {.time = {before + 3'600'000'000'000}});
    recorder.registry->enter(span.id(), {.time = {before - 3'600'000'000'000}});
    recorder.registry->exit(span.id(), {});
  });
  recorder.guard.flush();
  auto const lines = parse(recorder.text);
  ASSERT_EQ(lines.size(), 4U);
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  EXPECT_LT(lines[0].ns, kHour / 60);
  EXPECT_NEAR(static_cast<double>(lines[1].ns), kHour, kHour / 60.);
  EXPECT_EQ(lines[2].ns, 0U);
  EXPECT_NEAR(static_cast<double>(lines[3].ns), kHour, kHour / 60.);
}

TEST(FlameLayer, HandsOnBlocksOfWholeLines) {
  Recorder recorder({.buffered_bytes = 300});
  tracing::with_default(recorder.registry, [] {
    for (int i = 0; i < 40; ++i) outer_and_inner();
  });
  recorder.guard.flush();
  ASSERT_GT(recorder.blocks.size(), 10U);
  for (std::string const& block : recorder.blocks) {
    EXPECT_LE(block.size(), 300U);
    EXPECT_EQ(block.back(), '\n');
  }
  EXPECT_EQ(parse(recorder.text).size(), 160U);

  Recorder at_once({.buffered_bytes = 0});
  tracing::with_default(at_once.registry, outer_and_inner);
  EXPECT_EQ(at_once.blocks.size(), 4U);
}

TEST(FlameLayer, WritesToSinksOfSpdlogAndByLevelAndTarget) {
  auto const stream = std::make_shared<std::ostringstream>();
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*stream);
  sink->set_pattern("%v");
  std::string of_target;
  auto chosen = tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { of_target += t; }));
  chosen = tracing::with_filter(std::move(chosen), [](tracing::Metadata const& m) {
    return m.target() == "tracing::flame" && m.name() == "flame" && m.level() == tracing::Level::info;
  });
  auto [layer, guard] = flame_layer(tracing::tee(tracing::to_sink(std::move(sink)), std::move(chosen)));
  tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), outer_and_inner);
  guard.flush();
  EXPECT_EQ(parse(stream->str()).size(), 4U);
  EXPECT_EQ(of_target, stream->str());
}

TEST(FlameLayer, IsNoneWithoutAWriter) {
  auto [layer, guard] = flame_layer(tracing::WriterPtr());
  EXPECT_EQ(layer, nullptr);
  guard.flush();
  EXPECT_EQ(guard.dropped_lines(), 0U);
}

TEST(FlameLayer, DropsWhatItsWriterEmits) {
  auto [layer, guard] = flame_layer(
      tracing::to_sink(tracing::make_sink([](tracing::Level, std::string_view) { TRACE_SPAN(info, "writing"); })));
  tracing::ScopedDefault const scope(RegistryBuilder().with(std::move(layer)).build());
  outer_and_inner();
  guard.flush();
  { auto const gone = std::move(guard); }
  outer_and_inner();
}

TEST(FlameLayer, KeepsErrno) {
  Recorder recorder({.buffered_bytes = 0});
  tracing::with_default(recorder.registry, [] {
    errno = 42;
    outer_and_inner();
    EXPECT_EQ(errno, 42);
  });
}

TEST(FlameGuard, HasTheLinesWrittenWhenItIsDestroyedAndLaterOnesAtOnce) {
  Recorder recorder;
  tracing::with_default(recorder.registry, [&] {
    outer_and_inner();
    EXPECT_EQ(recorder.text, "");
    recorder.guard = tracing::FlameGuard();
    EXPECT_EQ(parse(recorder.text).size(), 4U);
    outer_and_inner();
    EXPECT_EQ(parse(recorder.text).size(), 8U);
    EXPECT_EQ(recorder.blocks.size(), 5U);
  });
}

TEST(FlameLayer, HasTheLinesWrittenWhenItIsDestroyed) {
  Recorder recorder;
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry->flush();
  EXPECT_EQ(parse(recorder.text).size(), 4U);
  tracing::with_default(recorder.registry, outer_and_inner);
  recorder.registry = nullptr;
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, TakesLinesOfManyThreads) {
  constexpr std::size_t kThreads = 64;
  constexpr std::size_t kRounds = 100;
  Recorder recorder({.buffered_bytes = 1000});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      tracing::with_default(recorder.registry, [] {
        for (std::size_t i = 0; i < kRounds; ++i) outer_and_inner();
      });
    });
  }
  for (std::size_t i = 0; i < 100; ++i) recorder.guard.flush();
  for (std::thread& thread : threads) thread.join();
  recorder.guard.flush();
  std::map<std::string, std::size_t> count;
  for (std::string const& stack : stacks(recorder.text)) ++count[stack];
  EXPECT_EQ(count.size(), 3 * kThreads);
  for (auto const& [stack, times] : count) {
    EXPECT_EQ(times, stack.ends_with(";flame_test::outer") ? 2 * kRounds : kRounds) << stack;
  }
  EXPECT_EQ(recorder.guard.dropped_lines(), 0U);
}

TEST(FlameLayer, NamesEachThreadThatComesAfterAnother) {
  Recorder recorder({.module_path = false});
  for (char const* name : {"first", "second;one", ""}) {
    std::thread([&] {
      tracing::set_thread_name(name);
      tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "a"); });
    }).join();
  }
  recorder.guard.flush();
  std::string roots;
  for (std::string const& stack : stacks(recorder.text)) {
    if (!stack.ends_with(";a")) roots += stack.substr(stack.find(')') + 1) + "|";
  }
  EXPECT_EQ(roots, "-first|-second:one||");
}

TEST(FlameLayer, WritesLinesOfThreadsThatTakeTurnsInTheOrderOfTime) {
  Recorder recorder({.module_path = false});
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      tracing::set_thread_name(("t" + std::to_string(i % 7)).c_str());
      tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "a"); });
    }).join();
    tracing::with_default(recorder.registry, [] { TRACE_SPAN(info, "b"); });
    expected += "-t" + std::to_string(i % 7) + "|-t" + std::to_string(i % 7) + ";a|-main|-main;b|";
  }
  recorder.guard.flush();
  std::string got;
  for (std::string const& stack : stacks(recorder.text)) got += stack.substr(stack.find(')') + 1) + "|";
  EXPECT_EQ(got, expected);
}

// Runs `f()` in a child; its exit status, or 1000 and the signal that ended it.
template <class F>
int in_child(F&& f) {
  pid_t const child = fork();
  if (child == 0) {
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Records to a file as a whole program would.
void record_to(char const* path, FlameOptions const& options = {}, int rounds = 1) {
  std::error_code error;
  auto [layer, guard] = flame_layer(path, error, options);
  tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), [rounds] {
    for (int i = 0; i < rounds; ++i) outer_and_inner();
  });
}

TEST(FlameLayer, AppendsToAFile) {
  TemporaryFile const file;
  record_to(file.path());
  std::string const first = file.text();
  EXPECT_EQ(parse(first).size(), 4U);
  record_to(file.path());
  EXPECT_TRUE(file.text().starts_with(first));
  EXPECT_EQ(parse(file.text()).size(), 8U);
}

TEST(FlameLayer, BeginsALineBehindOneThatBrokeOff) {
  TemporaryFile const file;
  std::ofstream(file.path()) << "main;a 3\nmain;a;b";
  record_to(file.path());
  std::string const text = file.text();
  ASSERT_TRUE(text.starts_with("main;a 3\nmain;a;b\nThreadId(")) << text;
  EXPECT_EQ(parse(text.substr(18)).size(), 4U);
}

TEST(FlameLayer, SaysWhyAFileCannotBeOpened) {
  for (char const* path : {"/tmp", "/no/such/folder/file", ""}) {
    std::error_code error;
    auto [layer, guard] = flame_layer(path, error);
    EXPECT_EQ(layer, nullptr) << path;
    EXPECT_TRUE(error) << path;
  }
}

TEST(FlameLayer, SharesAFileWithOtherProcesses) {
  TemporaryFile const file;
  constexpr int kProcesses = 4;
  constexpr int kRounds = 300;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      record_to(file.path(), {.threads_collapsed = true, .buffered_bytes = 500}, kRounds);
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t const child : children) waitpid(child, nullptr, 0);
  std::map<std::string, int> count;
  for (std::string const& stack : stacks(file.text())) ++count[stack];
  EXPECT_EQ(count,
            (std::map<std::string, int>{{"all-threads", kProcesses * kRounds},
                                        {"all-threads;flame_test::outer", 2 * kProcesses * kRounds},
                                        {"all-threads;flame_test::outer;flame_test::inner", kProcesses * kRounds}}));
}

TEST(FlameLayer, WritesNothingInAForkedChild) {
  Recorder recorder;
  tracing::ScopedDefault const scope(recorder.registry);
  outer_and_inner();
  EXPECT_EQ(in_child([&] {
              for (int i = 0; i < 10'000; ++i) outer_and_inner();
              recorder.guard.flush();
              recorder.registry->flush();
              recorder.guard = tracing::FlameGuard();
              _exit(recorder.text.empty() ? 7 : 8);
            }),
            7);
  // A recording of its own works.
  TemporaryFile const file;
  EXPECT_EQ(in_child([&] { record_to(file.path()); }), 0);
  EXPECT_EQ(parse(file.text()).size(), 4U);
  outer_and_inner();
  recorder.guard.flush();
  EXPECT_EQ(parse(recorder.text).size(), 8U);
}

TEST(FlameLayer, GoesOnWhenTheDiskIsFull) {
  testing::internal::CaptureStderr();
  record_to("/dev/full", {.buffered_bytes = 0}, 10);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tracing: cannot write to /dev/full: No space left on device; further failures are only counted\n");
}

TEST(FlameLayer, SurvivesTheLimitOfAFilesSize) {
  TemporaryFile const file;
  EXPECT_EQ(in_child([&] {
              close(2);
              rlimit const limit{1000, 1000};
              setrlimit(RLIMIT_FSIZE, &limit);
              record_to(file.path(), {.buffered_bytes = 300}, 50);
              record_to(file.path(), {}, 50);
              sigset_t pending;
              sigpending(&pending);
              _exit(sigismember(&pending, SIGXFSZ));
            }),
            0);
  std::string const text = file.text();
  EXPECT_GT(text.size(), 700U);
  EXPECT_LE(text.size(), 1000U);
  EXPECT_GT(parse(text.substr(0, text.rfind('\n') + 1)).size(), 10U);
}

TEST(FlameLayer, LeavesWholeLinesWhenItIsKilled) {
  for (int i = 0; i < 30; ++i) {
    TemporaryFile const file;
    pid_t const child = fork();
    if (child == 0) {
      record_to(file.path(), {.buffered_bytes = 400}, 100'000'000);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string const text = file.text();
    parse(text.substr(0, text.rfind('\n') + 1));  // at most the last line is broken
  }
}

}  // namespace flame_test
