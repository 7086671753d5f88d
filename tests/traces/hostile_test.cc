// Recordings that a well-behaved program never makes, or that were damaged: each format turns them into valid files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/traces/perfetto_reader.h"
#include "tests/traces/traces_test.h"
#include "tests/traces/xplane_reader.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/emit/emit.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/tracing.h"

namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;
using testlog_test::PerfettoTrace;
using testlog_test::XplaneProfile;
using tracing::internal::kForeign;
using tracing::recording::EntryType;
using tracing_test::RecordingBytes;
using tracing_test::SiteBytes;

struct ChromeSlice {
  std::string name;
  double begin = 0, end = 0;
};
struct ChromeTrace {
  std::vector<std::string> problems;
  std::vector<ChromeSlice> slices;  // slices that ended
  std::size_t marks = 0;
  std::map<std::int64_t, std::string> threads;
};

// Reads a trace as viewers do, in the order of time.
ChromeTrace read_chrome(std::string const& text) {
  ChromeTrace trace;
  nlohmann::json const all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_array()) return trace.problems.emplace_back("it is no JSON array"), trace;
  std::vector<std::pair<double, nlohmann::json const*>> records;  // records and their times
  for (auto const& one : all) {
    if (one["ph"] == "M") {
      if (one["name"] == "thread_name") trace.threads[one["tid"]] = one["args"]["name"];
    } else if (!one["ts"].is_number() || !one["tid"].is_number_integer()) {
      trace.problems.push_back("has no time or thread: " + one.dump());
    } else {
      records.emplace_back(one["ts"].get<double>(), &one);
    }
  }
  std::stable_sort(records.begin(), records.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::map<std::int64_t, std::vector<ChromeSlice>> open;
  for (auto const& [time, one] : records) {
    std::vector<ChromeSlice>& inside = open[(*one)["tid"]];
    std::string const phase = (*one)["ph"];
    if (phase == "i") ++trace.marks;
    if (phase == "B") inside.push_back({(*one)["name"], time});
    if (phase != "E") continue;
    if (inside.empty()) {
      trace.problems.push_back("ends a slice that did not begin: " + one->dump());
      continue;
    }
    inside.back().end = time;
    trace.slices.push_back(std::move(inside.back()));
    inside.pop_back();
  }
  return trace;
}

struct FoldedStacks {
  std::vector<std::string> problems;
  std::map<std::string, std::uint64_t> ns;
};

FoldedStacks read_folded(std::string const& text) {
  FoldedStacks stacks;
  if (!text.empty() && text.back() != '\n') stacks.problems.emplace_back("the last line has no end");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    try {
      (void)nlohmann::json(line).dump();  // throws if it is not UTF-8
      std::size_t const end = line.rfind(' ');
      std::size_t size = 0;
      std::string const number = line.substr(end + 1), stack = line.substr(0, end);
      std::uint64_t const ns = std::stoull(number, &size);
      if (size != number.size() || stack.empty() || stack.front() == ';' ||
          stack.find_first_of(std::string("\r\0", 2)) != stack.npos)
        throw std::invalid_argument("is no stack with a number");
      stacks.ns[stack] += ns;
    } catch (std::exception const& error) {
      stacks.problems.push_back("`" + line.substr(0, 100) + "`: " + error.what());
    }
  }
  return stacks;
}

struct Formats {
  PerfettoTrace perfetto;
  XplaneProfile xplane;
  ChromeTrace chrome;
  FoldedStacks folded;
};

class HostileRecording : public testlog_test::TracesTest {
 protected:
  // Fails if a format is not valid.
  Formats formats_of(std::string const& recording) const {
    Formats formats{PerfettoTrace::read(run_export({recording, "--perfetto"})), xplane_of(recording),
                    read_chrome(run_export({recording, "--chrome"})), read_folded(run_export({recording, "--folded"}))};
    EXPECT_THAT(formats.perfetto.problems, IsEmpty());
    EXPECT_THAT(formats.xplane.problems, IsEmpty());
    EXPECT_THAT(formats.chrome.problems, IsEmpty());
    EXPECT_THAT(formats.folded.problems, IsEmpty());
    return formats;
  }
  Formats formats_of(RecordingBytes const& bytes) const { return formats_of(folder_.write("a.rec", bytes.bytes())); }

 private:
  XplaneProfile xplane_of(std::string const& recording) const {
    std::filesystem::remove_all(folder_ / "logs");
    run_export({recording, "--xplane", folder_ / "logs"});
    for (auto const& file : std::filesystem::recursive_directory_iterator(folder_ / "logs")) {
      if (file.is_regular_file())
        return XplaneProfile::read(
            folder_.read(std::filesystem::relative(file.path(), std::string(folder_ / "")).string()));
    }
    return XplaneProfile::read("no file");
  }
};

std::vector<std::string> names(ChromeTrace const& trace) {
  std::vector<std::string> all;
  for (ChromeSlice const& slice : trace.slices) all.push_back(slice.name);
  return all;
}

// ---- texts ----

// Returns text that is not UTF-8, with control characters, characters that end a string, a stack or a line, and a
// megabyte of further bytes.
std::string bad_text(std::string const& begin, std::size_t size = 1 << 20) {
  std::string text = begin;
  text.push_back('\0');
  text += "\x01\x1b;\r\n\"\\</script>\x7f \xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82";
  return text.append(size, '\xff');
}

TEST_F(HostileRecording, HasTextsThatAreNotUtf8) {
  std::string const name = bad_text("span"), value = bad_text("value");
  constexpr std::size_t kShort = 100;  // short texts, since only names are cut
  std::string const target = bad_text("target", kShort), field = bad_text("field", kShort),
                    file = bad_text("file", kShort);
  std::string const counter = "counter." + bad_text("", kShort);
  tracing::RuntimeCallsite const span({.kind = tracing::Kind::span,
                                       .name = name,
                                       .target = target,
                                       .fields = {field},
                                       .file = file,
                                       .line = 7,
                                       .module_path = target,
                                       .function = file});
  tracing::RuntimeCallsite const event(
      {.name = name, .target = target, .fields = {"message", field, counter}, .file = file});
  tracing::RuntimeCallsite const kernel({.kind = tracing::Kind::span,
                                         .name = "kernel",
                                         .target = "tracing::cuda::device",
                                         .level = tracing::Level::trace,
                                         .fields = {"kernel.name", "grid", "registers"}});
  std::string const row = bad_text("row"), stream = "GPU 0 stream " + value;
  tracing::Instant const now = tracing::Instant::now();
  auto const trace = [&] {
    tracing::set_thread_name(bad_text("thread"));
    tracing::Value const text[] = {tracing::Value::of_text(value)};
    auto const held = tracing::Span::make(span.callsite(), text);
    for (int i = 0; i < 2; ++i) {
      held.in_scope([&] {
        tracing::Value const values[] = {tracing::Value::of_text(value), tracing::Value::of_verbatim(value),
                                         tracing::Value::of_i64(i)};
        tracing::emit_event(event.callsite(), values);
        TRACE_INFO("{}", value);
      });
    }
    for (std::string const* const on : {&row, &stream}) {
      tracing::Value const values[] = {tracing::Value::of_text(value), tracing::Value::of_text(value),
                                       tracing::Value::of_text(value)};
      tracing::emit_past_span(kernel.callsite(), values, {{on == &row ? 1'000'001u : 1'000'002u, *on}, now, now});
    }
  };
  {
    auto [layer, error] = tracing::record_layer({.path = folder_ / "a.rec"});
    auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
    std::thread([&] { tracing::with_default(registry, trace); }).join();
  }
  Formats const formats = formats_of(folder_ / "a.rec");
  EXPECT_THAT(names(formats.chrome), Contains(HasSubstr("span")).Times(2));
  EXPECT_EQ(formats.chrome.marks, 4u);
}

TEST_F(HostileRecording, HasEmptyNames) {
  tracing::RuntimeCallsite const span({.kind = tracing::Kind::span, .name = "", .target = "", .fields = {""}});
  tracing::RuntimeCallsite const event({.name = "", .target = "", .fields = {"message", "counter."}});
  tracing::Instant const now = tracing::Instant::now();
  Formats const formats = formats_of(record("a.rec", [&] {
    tracing::Value const values[] = {tracing::Value::of_text(""), tracing::Value::of_i64(1)};
    auto const held = tracing::Span::make(span.callsite(), values);
    for (int i = 0; i < 2; ++i) held.in_scope([] { TRACE_INFO(""); });
    tracing::emit_event(event.callsite(), values);
    tracing::emit_past_span(span.callsite(), values, {{1'000'001, ""}, now, now});
    tracing::emit_past_span(span.callsite(), values, {{1'000'002, "GPU 0 stream "}, now, now});
  }));
  EXPECT_EQ(formats.chrome.slices.size(), 4u);
}

// ---- times ----

std::string entry(EntryType type, std::uint32_t site, std::uint8_t flags = 0,
                  std::vector<std::uint64_t> const& words = {}) {
  return tracing_test::record(type, site, flags, words);
}
std::string at(std::uint32_t ticks, std::string entry) {
  std::memcpy(entry.data(), &ticks, sizeof(ticks));
  return entry;
}

// Returns the callsite of a span, or of an event with a name and without fields.
SiteBytes site(std::string const& name, bool is_span = true) {
  SiteBytes made;
  made.row.kind = static_cast<std::uint8_t>(is_span ? tracing::Kind::span : tracing::Kind::event);
  made.row.name_size = static_cast<std::uint32_t>(name.size());
  made.text = name;
  return made;
}

std::vector<std::uint64_t> foreign(std::uint64_t track, std::int64_t ns, std::vector<std::uint64_t> words) {
  words.insert(words.begin(), {track, static_cast<std::uint64_t>(ns)});
  return words;
}

TEST_F(HostileRecording, HasSpansThatEndBeforeTheyBegin) {
  RecordingBytes file;
  file.add(0, site("outer").record(1) + site("inner").record(2) + site("event", false).record(3));
  constexpr std::uint64_t kHeld = std::uint64_t{1} << 40 | 7;
  file.add(1, at(5000, entry(EntryType::scope_begin, 1)) + at(9000, entry(EntryType::scope_begin, 2)) +
                  at(4000, entry(EntryType::event, 3)) + at(1000, entry(EntryType::scope_end, 0)) +
                  at(2000, entry(EntryType::scope_end, 0)) + at(8000, entry(EntryType::new_span, 1, 1, {kHeld})) +
                  at(7000, entry(EntryType::enter, 1, 0, {kHeld})) + at(3000, entry(EntryType::exit, 1, 0, {kHeld})) +
                  at(6000, entry(EntryType::enter, 1, 0, {kHeld})) + at(1000, entry(EntryType::exit, 1, 0, {kHeld})) +
                  at(1000, entry(EntryType::close, 1, 0, {kHeld})));
  Formats const formats = formats_of(file);
  EXPECT_THAT(formats.chrome.slices, SizeIs(4));
  EXPECT_THAT(formats.chrome.slices, Each(testing::Field(&ChromeSlice::end, Lt(10))));
  EXPECT_THAT(formats.folded.ns,
              Each(testing::Field(&std::pair<std::string const, std::uint64_t>::second, Lt(10'000u))));
}

TEST_F(HostileRecording, HasTimesWithoutSense) {
  constexpr std::int64_t kTimes[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT64_MIN + 1, 1'700'000'000'000'000'000};
  RecordingBytes file;
  file.add(0, site("span").record(1) + site("event", false).record(2));
  std::string records;
  std::uint64_t span = std::uint64_t{1} << 40;
  for (std::uint64_t const track : {std::uint64_t{0}, std::uint64_t{77}, UINT64_MAX, std::uint64_t{INT64_MAX}}) {
    for (std::int64_t const begin : kTimes) {
      for (std::int64_t const end : kTimes) {
        ++span;
        for (EntryType const type : {EntryType::new_span, EntryType::enter})
          records += entry(type, 1, kForeign | 1, foreign(track, begin, {span}));
        records += entry(EntryType::event, 2, kForeign | 1, foreign(track, end, {}));
        for (EntryType const type : {EntryType::exit, EntryType::close})
          records += entry(type, 1, kForeign | 1, foreign(track, end, {span}));
      }
    }
    file.add(1, std::exchange(records, {}));
  }
  Formats const formats = formats_of(file);
  EXPECT_EQ(formats.chrome.slices.size(), 4u * std::size(kTimes) * std::size(kTimes));
}

TEST_F(HostileRecording, HasClocksWithoutSense) {
  RecordingBytes file;
  file.add(0, site("span").record(1));
  std::uint64_t track = 0;
  for (std::uint64_t const ns : {std::uint64_t{0}, std::uint64_t{INT64_MAX}, UINT64_MAX, std::uint64_t{1} << 63}) {
    for (std::uint64_t const ns_per_tick :
         {std::uint64_t{0}, std::uint64_t{1} << 63, UINT64_MAX, std::uint64_t{INT64_MAX}}) {
      std::string records = entry(EntryType::clock, 0, tracing::internal::kRestated, {ns, ns_per_tick});
      for (std::uint32_t const ticks : {0u, 1u, UINT32_MAX, 5u})
        records += at(ticks, entry(EntryType::scope_begin, 1)) + at(~ticks, entry(EntryType::scope_end, 0));
      file.add(++track, records);
    }
  }
  EXPECT_EQ(formats_of(file).chrome.slices.size(), 64u);
}

// ---- records without what belongs to them ----

TEST_F(HostileRecording, HasEndsWithoutBeginnings) {
  RecordingBytes file;
  file.add(0, site("span").record(1) + site("event", false).record(2) + site("test_begin", false).record(3) +
                  site("test_end", false).record(4));
  std::uint64_t const unknown = std::uint64_t{1} << 40 | 99;
  std::string records;
  for (EntryType const type : {EntryType::exit, EntryType::close, EntryType::enter, EntryType::values, EntryType::exit})
    records += at(10, entry(type, 1, 0, {unknown}));
  records += entry(EntryType::follows_from, 1, 0, {unknown, unknown + 1});
  records += entry(EntryType::event, 2, 2, {unknown}) + entry(EntryType::new_span, 1, 2, {unknown + 5, unknown});
  records += entry(EntryType::follows_from, 1, 0, {unknown + 5, unknown + 5});
  records += entry(EntryType::enter, 1, 0, {unknown + 5}) + entry(EntryType::enter, 1, 0, {unknown + 5});
  records += entry(EntryType::close, 1, 0, {unknown + 5});
  for (int i = 0; i < 3; ++i) records += at(20, entry(EntryType::scope_end, 0));
  records +=
      entry(EntryType::timed, 1, 0, {UINT64_MAX}) + entry(EntryType::scope_begin, 1) + entry(EntryType::event, 2);
  file.add(1, records);
  file.add(tracing::internal::kMarksTrack, entry(EntryType::mark, 4, 1) + entry(EntryType::mark, 3, 1) +
                                               entry(EntryType::mark, 3, 1) + entry(EntryType::mark, 4, 1));
  Formats const formats = formats_of(file);
  EXPECT_EQ(formats.chrome.marks, 2u);
}

TEST_F(HostileRecording, HasBeginningsThatWereOverwritten) {
  tracing_test::record_to({.path = folder_ / "small.rec", .limit_bytes = 1}, [] {
    TRACE_SPAN(info, "outer");
    auto const held = TRACE_MAKE_SPAN(info, "held");
    tracing::EnteredSpan inside = TRACE_MAKE_SPAN(info, "inside").entered();
    for (int i = 0; i < 100'000; ++i) {
      TRACE_SPAN(info, "step", i);
      if (i % 1000 == 0) held.in_scope([] { TRACE_INFO("held"); });
    }
    (void)std::move(inside).exit();
  });
  Formats const formats = formats_of(folder_ / "small.rec");
  EXPECT_THAT(names(formats.chrome), Contains("outer"));
  EXPECT_THAT(formats.xplane.line("main").events, Contains(testing::Field(&testlog_test::XplaneEvent::name, "outer")));
}

// ---- numbers ----

TEST_F(HostileRecording, HasThreadsAndStreamsWithoutSensibleNumbers) {
  RecordingBytes file;
  file.add(0, site("span").record(1));
  std::string const scope = entry(EntryType::scope_begin, 1) + entry(EntryType::scope_end, 0);
  std::uint64_t track = 0;
  for (std::int64_t const number :
       {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{1} << 28, std::int64_t{1} << 30,
        std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{7}, std::int64_t{7}})
    file.add(++track,
             entry(EntryType::track, 0, tracing::internal::kRestated, {static_cast<std::uint64_t>(number), 0}) + scope);
  for (std::uint64_t const number : {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{1} << 31})
    file.add(number, scope);
  EXPECT_EQ(formats_of(file).chrome.slices.size(), 13u);

  std::int64_t const now = tracing::Instant::now().ns;
  tracing::RuntimeCallsite const kernel({.kind = tracing::Kind::span,
                                         .name = "kernel",
                                         .target = "tracing::cuda::device",
                                         .level = tracing::Level::trace});
  auto const recording = record("streams.rec", [&] {
    std::uint64_t number = 1'000'000;
    for (char const* const name :
         {"GPU 500 stream 7", "GPU 9223372036854775807 stream 7", "GPU -1 stream 7", "GPU 0 stream -7",
          "GPU 0 stream 9223372036854775807", "GPU 0 stream 99999999999999999999", "GPU  stream "})
      tracing::emit_past_span(kernel.callsite(), nullptr, {{++number, name}, {now}, {now + 1}});
  });
  EXPECT_EQ(formats_of(recording).chrome.slices.size(), 7u);
}

// Fewer under AddressSanitizer, where each test would take a minute; still more than the limit of rows.
constexpr std::size_t kVeryMany = TESTLOG_ASAN ? 20'000 : 100'000;

// Each track takes a separate row, up to a limit. An export that compared each pair of rows took minutes.
TEST_F(HostileRecording, HasVeryManyTracks) {
  constexpr std::uint64_t kTracks = kVeryMany, kRows = 16'384 + 1;
  std::int64_t const now = tracing::Instant::now().ns;
  tracing::RuntimeCallsite const span({.kind = tracing::Kind::span, .name = "span", .target = "t"});
  auto const recording = record("a.rec", [&] {
    for (std::uint64_t i = 0; i < kTracks; ++i) {
      std::int64_t const begin = now + static_cast<std::int64_t>(i);
      tracing::emit_past_span(span.callsite(), nullptr, {{1'000'000 + i, "row"}, {begin}, {begin + 5}});
    }
  });
  Formats const formats = formats_of(recording);
  EXPECT_EQ(formats.perfetto.rows.size(), 1 + kRows);
  EXPECT_EQ(formats.xplane.planes.at("/host:CPU").size(), kRows);
  EXPECT_EQ(formats.chrome.slices.size(), kTracks);
  EXPECT_EQ(formats.folded.ns.size(), kRows);
}

// The spans overlap, so that each takes a separate row in a profile. The number of the row must be free.
TEST_F(HostileRecording, HasVeryManySpansThatAreHeldAtOnce) {
  constexpr std::size_t kSpans = kVeryMany;
  auto const recording = record("a.rec", [] {
    std::vector<tracing::Span> held;
    for (std::size_t i = 0; i < kSpans; ++i) held.push_back(TRACE_MAKE_SPAN(info, "held"));
  });
  EXPECT_EQ(formats_of(recording).xplane.planes.at("/host:CPU").size(), kSpans);
}

}  // namespace
