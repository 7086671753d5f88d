#include "tracing_core/export/flame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/export/flame/flame_test_support.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/filter/predicate.h"
#include "tracing_core/tracing.h"

namespace flame_test {

using tracing::RuntimeCallsite;

TEST(FlameLayer, WritesAStackWheneverASpanIsEnteredOrExited) {
  EXPECT_EQ(Recorder().stacks_of(outer_and_inner),
            (Stacks{"", ";flame_test::outer", ";flame_test::outer;flame_test::inner", ";flame_test::outer"}));
  EXPECT_TRUE(this_thread().starts_with("ThreadId(")) << this_thread();
}

// Emits records on a track, at given times.
struct Feeder {
  explicit Feeder(Registry& r) : registry(r) {}

  tracing::Origin at(std::int64_t ns) const { return {.track = &track, .time = {base + ns}}; }
  tracing::SpanId make(char const* name, tracing::Parent parent = {}) {
    callsites.emplace_back(tracing::CallsiteDescription{.kind = tracing::Kind::span, .name = name, .target = "t"});
    return registry.new_span(
        {tracing::FieldValues(callsites.back().metadata(), nullptr), parent, ~tracing::LayerMask{0}, at(0)});
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
  feeder.enter(a, -3'600'000'000'000);  // before the layer was created
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

TEST(FlameLayer, CountsAtFirstFromTheCreationOfTheLayer) {
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

TEST(FlameLayer, WritesNoLineForARestoredEnter) {
  Recorder recorder;
  Feeder feeder(*recorder.registry);
  auto const a = feeder.make("a");
  recorder.registry->enter(a, {.track = &feeder.track, .time = {feeder.base + 1000}, .restored = true});
  feeder.exit(a, 1300);
  recorder.guard.flush();
  EXPECT_EQ(recorder.text, "ThreadId(1000000)-stream 7;a 300\n");
}

TEST(FlameLayer, LeavesOutFramesBeyondTheGreatestDepth) {
  Recorder recorder({.max_frames = 2});
  Feeder feeder(*recorder.registry);
  std::vector<tracing::SpanId> spans;
  std::int64_t now = 0;
  for (char const* name : {"a", "b", "c", "d", "e"}) {
    spans.push_back(feeder.make(name, tracing::Parent::below(spans.empty() ? tracing::SpanId() : spans.back())));
    feeder.enter(spans.back(), now += 10);
  }
  feeder.exit(spans[4], now += 10);
  auto const other = feeder.make("f", tracing::Parent::below(spans[3]));
  feeder.enter(other, now += 10);
  feeder.exit(other, now += 10);
  for (int i = 3; i >= 0; --i) feeder.exit(spans[static_cast<std::size_t>(i)], now += 10);
  recorder.guard.flush();
  std::string text = recorder.text;
  text.erase(0, text.find('\n') + 1);  // the time since the creation of the layer
  EXPECT_EQ(text,
            "ThreadId(1000000)-stream 7;a 10\n"
            "ThreadId(1000000)-stream 7;a;b 10\n"
            "ThreadId(1000000)-stream 7;a;b;... 70\n"
            "ThreadId(1000000)-stream 7;a;b 10\n"
            "ThreadId(1000000)-stream 7;a 10\n");
}

void recurse(int depth) {
  TRACE_SPAN(info, "r");
  if (depth > 1) recurse(depth - 1);
}

TEST(FlameLayer, WritesALineForEachFrameOfADeepRecursionAndNoMore) {
  Recorder recorder({.module_path = false});
  tracing::with_default(recorder.registry, [] { recurse(3000); });
  recorder.guard.flush();
  auto const lines = parse(recorder.text);
  EXPECT_EQ(lines.size(), 2U * 1000 + 2);  // 1000 on the way in and out, 1 for no span, 1 for the spans beyond
  std::size_t longest = 0;
  for (auto const& line : lines) longest = std::max(longest, line.stack.size());
  EXPECT_EQ(longest, this_thread().size() + 2 * 1000 + 4);
}

TEST(FlameLayer, HonoursItsOptions) {
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
    // An empty path, as in the global namespace.
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

TEST(FlameLayer, ReplacesSeparatorsInNames) {
  struct Case {
    std::string name;
    char const* by_default;
    char const* as_tracing_flame;
  };
  for (Case const& c :
       {Case{"with space", ";with space", ";with space"}, Case{"semi;colon", ";semi:colon", ";semi;colon"},
        Case{";;", ";::", ";;;"}, Case{"line\nend\r\n", ";line end  ", ";line end  "},
        Case{std::string("n\0ul", 4), ";n ul", ";n ul"},
        Case{"a very long name; with one semicolon\n", ";a very long name: with one semicolon ",
             ";a very long name; with one semicolon "},
        Case{"\t\x1b", ";\t\x1b", ";\t\x1b"}, Case{"", ";", ";"}, Case{"日本", ";日本", ";日本"},
        Case{"n\xff;", ";n\xef\xbf\xbd:", ";n\xff;"}, Case{"12 34", ";12 34", ";12 34"}}) {
    EXPECT_EQ(frame_of(c.name, {}), c.by_default) << c.name;
    EXPECT_EQ(frame_of(c.name, {.as_tracing_flame = true}), c.as_tracing_flame) << c.name;
  }
  std::string const long_name(1 << 20, 'x');
  EXPECT_EQ(frame_of(long_name, {}), ";" + long_name);
}

TEST(FlameLayer, OmitsSpansThatItsFilterRejects) {
  Recorder recorder({.module_path = false},
                    tracing::filter_fn([](tracing::Metadata const& m) { return m.name() != "hidden"; }));
  EXPECT_EQ(recorder.stacks_of([] {
    TRACE_SPAN(info, "seen");
    TRACE_SPAN(info, "hidden");
    TRACE_SPAN(info, "below");
  }),
            (Stacks{"", ";seen", ";seen;below", ";seen"}));
}

// Writes the lines that FlameLayer writes, but makes each line anew.
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

TEST(FlameLayer, WritesTheSameAsAPlainWalkThroughTheSpans) {
  std::vector<RuntimeCallsite> callsites;
  for (char const* name : {"a", "b", "c", "d"}) {
    callsites.emplace_back(tracing::CallsiteDescription{.kind = tracing::Kind::span, .name = name});
  }
  std::deque<tracing::Metadata> of_the_program;  // at fixed addresses
  std::vector<tracing::Metadata const*> metadata;
  for (RuntimeCallsite const& callsite : callsites) {
    tracing::internal::MetadataParts parts = callsite.metadata().parts();
    parts.owned = false;
    metadata.insert(metadata.end(), {&callsite.metadata(), &of_the_program.emplace_back(parts)});
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    auto const below = [&random](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    std::string expected;
    std::string text;
    auto [layer, guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })),
                    {.module_path = false, .buffered_bytes = 0});
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
        tracing::Metadata const& chosen = *metadata[below(metadata.size())];
        auto const mask = registry->enabled(chosen);
        auto const id = registry->new_span({tracing::FieldValues(chosen, nullptr), parent, mask, origin});
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

// Makes spans of more callsites than a stack caches the names of; some are nested.
#define FLAME_TEST_SPAN(name) \
  {                           \
    TRACE_SPAN(info, name);   \
    inner();                  \
  }
// Eight spans a line.
// clang-format off
#define FLAME_TEST_SPANS(name)                                                                            \
  FLAME_TEST_SPAN(name "0") FLAME_TEST_SPAN(name "1") FLAME_TEST_SPAN(name "2") FLAME_TEST_SPAN(name "3") \
  FLAME_TEST_SPAN(name "4") FLAME_TEST_SPAN(name "5") FLAME_TEST_SPAN(name "6") FLAME_TEST_SPAN(name "7")

template <class F>
void spans_of_many_callsites(F inner) {
  FLAME_TEST_SPANS("a") FLAME_TEST_SPANS("b") FLAME_TEST_SPANS("c") FLAME_TEST_SPANS("d") FLAME_TEST_SPANS("e")
}  // clang-format on

TEST(FlameLayer, WritesTheNamesOfAnyNumberOfCallsites) {
  std::string expected;
  std::string text;
  auto [layer, guard] =
      flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })),
                  {.module_path = false});
  tracing::with_default(RegistryBuilder().with(std::move(layer)).with(std::make_unique<PlainFlame>(expected)).build(),
                        [] { spans_of_many_callsites([] { spans_of_many_callsites([] {}); }); });
  guard.flush();
  std::string got;
  for (std::string const& stack : stacks(text)) got += stack + "\n";
  EXPECT_EQ(got, expected);
}

TEST(FlameLayer, WritesOldLinesWhenTheTrackContinues) {
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

}  // namespace flame_test
