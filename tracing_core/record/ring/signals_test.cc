// Statements in the handler of a signal, which interrupts other statements at any instruction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/export/print/sink_call.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/tracing.h"

#if defined(__x86_64__) && !TESTLOG_TSAN && !TESTLOG_ASAN
#include <x86intrin.h>

namespace tracing::internal { namespace {

using testing::IsEmpty;

int handled = 0;

void on_trap(int) {
  TRACE_SPAN(info, "in handler");
  TRACE_INFO("signal");
  ++handled;
}

// Calls `f` with a signal after each instruction.
template <class F>
void with_signals(F&& f) {
  constexpr unsigned long long kTrap = 0x100;
  struct sigaction ours {
  }, before{};
  ours.sa_handler = on_trap;
  sigaction(SIGTRAP, &ours, &before);
  on_trap(0);  // a first record allocates
  f();
  handled = 0;
  __writeeflags(__readeflags() | kTrap);
  f();
  __writeeflags(__readeflags() & ~kTrap);
  sigaction(SIGTRAP, &before, nullptr);
}

void work() {
  for (int i = 0; i < 3; ++i) {
    TRACE_SPAN(info, "outer", i);
    TRACE_INFO("step", i, tracing::kv("text", "some text"));
    {
      TRACE_SPAN(info, "inner", tracing::kv("text", "some text"));
      TRACE_INFO("inside");
    }
    auto const held = TRACE_MAKE_SPAN(info, "held", i);
    auto const entered = held.enter();
    TRACE_INFO("held");
  }
}

std::string path_of(tracing::recording::Span const* span) {
  if (span == nullptr) return {};
  std::string const above = path_of(span->parent.get());
  return above + (above.empty() ? "" : ":") + std::string(span->metadata->name());
}

std::string message_of(recording::Entry const& entry) {
  FieldValues const values(*entry.metadata, entry.values);
  InlineTextBuffer<64> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.name(i) == "message") append_message(out, values.value(i));
  }
  return std::string(out.view());
}

void expect_in_order(RecordStore const& store) {
  auto const recording = recording::read_region(store.region());
  tracing::recording::Spans spans;
  std::vector<std::string> steps;
  int recorded = 0;
  recording->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.is_restated() || entry.metadata == nullptr) return;
    std::string const path = path_of(spans.current());
    bool const is_of_handler = path.ends_with("in handler");
    recorded +=
        is_of_handler && (entry.type == recording::EntryType::event || entry.type == recording::EntryType::scope_begin);
    if (entry.type != recording::EntryType::event) return;
    EXPECT_EQ(message_of(entry) == "signal", is_of_handler) << path;
    if (!is_of_handler) steps.push_back(path + ": " + message_of(entry));
  });
  EXPECT_THAT(recording->problems(), IsEmpty());
  EXPECT_THAT(recording->tracks().front().open, IsEmpty());
  std::vector<std::string> expected;
  for (int i = 0; i < 6; ++i)
    for (char const* const step : {"outer: step", "outer:inner: inside", "outer:held: held"})
      expected.emplace_back(step);
  EXPECT_EQ(steps, expected);
  constexpr int kFirst = 2;  // before with_signals() counts
  EXPECT_GT(handled, 1000);
  EXPECT_GT(recorded, handled / 10) << "most are dropped";
  EXPECT_EQ(recorded - kFirst + static_cast<int>(recording->interrupted()), 2 * handled);
}

class Signals : public testing::Test {
 protected:
  std::shared_ptr<RecordStore> const store_ =
      std::make_shared<RecordStore>(Region::make_anonymous(std::size_t{64} << 20));
  std::unique_ptr<RecordLayer> const layer_ = std::make_unique<RecordLayer>(store_);
  std::string printed_;

  std::unique_ptr<Layer> printer() {
    PrintOptions options;
    options.writer = to_sink(make_sink([this](Level, std::string_view line) { printed_ += line; }));
    options.format.timer = nullptr;
    return print_layer(std::move(options));
  }
};

TEST_F(Signals, InterruptStatementsThatAreRecorded) {
  auto const registry = RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build();
  with_default(registry, [] { with_signals(work); });
  expect_in_order(*store_);
}

TEST_F(Signals, InterruptStatementsThatAreRecordedAndPrinted) {
  auto const registry = RegistryBuilder()
                            .with(std::make_unique<RecordLayer>(store_))
                            .with(printer(), to_filter(EnvFilter::parse_lossy("[outer]=trace")))
                            .build();
  with_default(registry, [] { with_signals(work); });
  expect_in_order(*store_);
}

// A scope that no layer is told of takes a shorter way.
TEST_F(Signals, InterruptStatementsThatArePrinted) {
  auto const registry = RegistryBuilder().with(printer()).build();
  with_default(registry, [] {
    with_signals(work);
    EXPECT_TRUE(Span::current().is_none());
  });
  std::size_t in_handler = 0, others = 0;
  for (std::size_t at = 0; at < printed_.size();) {
    std::size_t const end = printed_.find('\n', at);
    std::string const line = printed_.substr(at, end - at);
    at = end + 1;
    bool const is_of_handler = line.find("signal") != line.npos;
    EXPECT_EQ(line.find("in handler:") != line.npos, is_of_handler) << line;
    EXPECT_TRUE(is_of_handler || line.find("outer{") != line.npos) << line;
    ++(is_of_handler ? in_handler : others);
  }
  EXPECT_EQ(others, 18u);
  EXPECT_GT(in_handler, 1000u);
}

}}  // namespace tracing::internal
#endif
