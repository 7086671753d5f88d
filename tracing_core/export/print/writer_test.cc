#include "tracing_core/export/writer.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>
#include <string>

#include "tests/support/throwing_sink.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

std::unique_ptr<PrintLayer> bare_layer(WriterPtr writer) {
  PrintOptions options;
  options.format.timer = nullptr;
  options.format.target = false;
  options.writer = std::move(writer);
  return print_layer(std::move(options));
}

// Makes a writer that appends the first letter of each message to `text`.
WriterPtr into(std::string& text) {
  return to_sink(make_sink([&text](Level, std::string_view line) { text += line[6]; }));
}

// Emits a line of each level, whose message is the level's first letter, and a line with another target.
void emit_all_levels() {
  TRACE_ERROR("e");
  TRACE_WARN("w");
  TRACE_INFO("i");
  TRACE_DEBUG("d");
  TRACE_TRACE("t");
  TRACE_INFO("A", tracing::target("audit"));
}

void print_all_levels(WriterPtr writer) {
  with_default(RegistryBuilder().with(bare_layer(std::move(writer))).build(), emit_all_levels);
}

bool is_audit(Metadata const& metadata) { return metadata.target() == "audit"; }

TEST(Writer, PassesLinesByLevelAndPredicate) {
  struct Case {
    char const* what;
    WriterPtr (*make)(WriterPtr);
    char const* passed;
  };
  for (Case const& c : {
           Case{"all", [](WriterPtr w) { return w; }, "ewidtA"},
           Case{"max of errors", [](WriterPtr w) { return with_max_level(w, Level::error); }, "e"},
           Case{"max", [](WriterPtr w) { return with_max_level(w, Level::warn); }, "ew"},
           Case{"max of all", [](WriterPtr w) { return with_max_level(w, Level::trace); }, "ewidtA"},
           Case{"min", [](WriterPtr w) { return with_min_level(w, Level::debug); }, "dt"},
           Case{"min of all", [](WriterPtr w) { return with_min_level(w, Level::error); }, "ewidtA"},
           Case{"between", [](WriterPtr w) { return with_min_level(with_max_level(w, Level::info), Level::warn); },
                "wiA"},
           Case{"predicate", [](WriterPtr w) { return with_filter(w, is_audit); }, "A"},
           Case{"both", [](WriterPtr w) { return with_filter(with_max_level(w, Level::warn), is_audit); }, ""},
       }) {
    std::string text;
    print_all_levels(c.make(into(text)));
    EXPECT_EQ(text, c.passed) << c.what;
  }
}

TEST(Writer, TeePassesEachLineToBoth) {
  std::string first, second;
  print_all_levels(tee(with_max_level(into(first), Level::info), with_min_level(into(second), Level::info)));
  EXPECT_EQ(first, "ewiA");
  EXPECT_EQ(second, "idtA");
}

TEST(Writer, OrElsePassesTheSecondWhatTheFirstDoesNotWant) {
  std::string first, second;
  print_all_levels(or_else(with_max_level(into(first), Level::warn), with_min_level(into(second), Level::debug)));
  EXPECT_EQ(first, "ew");
  EXPECT_EQ(second, "dt") << "lines that neither wants are dropped";
}

TEST(Writer, CanBeNested) {
  std::string errors, audit, rest;
  print_all_levels(
      tee(or_else(with_max_level(into(errors), Level::error), or_else(with_filter(into(audit), is_audit), into(rest))),
          with_filter(into(rest), is_audit)));
  EXPECT_EQ(errors, "e");
  EXPECT_EQ(audit, "A");
  EXPECT_EQ(rest, "widtA");
}

TEST(Writer, ChoosesTheSinkOfEachLine) {
  std::string errors, others, rest;
  SinkPtr const to_errors = make_sink([&](Level, std::string_view line) { errors += line[6]; });
  SinkPtr const to_others = make_sink([&](Level, std::string_view line) { others += line[6]; });
  auto const choose = [&](Metadata const& metadata) -> SinkPtr {
    if (metadata.level() <= Level::warn) return to_errors;
    return is_audit(metadata) ? nullptr : to_others;
  };
  print_all_levels(or_else(make_writer(choose), into(rest)));
  EXPECT_EQ(errors, "ew");
  EXPECT_EQ(others, "idt");
  EXPECT_EQ(rest, "A") << "lines without a sink in the first";
}

TEST(Writer, HonoursTheLevelOfASink) {
  std::string text;
  auto const sink = make_sink([&text](Level level, std::string_view line) {
    EXPECT_LE(level, Level::info);
    text += line[6];
  });
  sink->set_level(spdlog::level::info);
  print_all_levels(to_sink(sink));
  print_all_levels(tee(to_sink(sink), to_sink(nullptr)));
  print_all_levels(make_writer([&sink](Metadata const&) -> SinkPtr { return sink; }));
  EXPECT_EQ(text, "ewiAewiAewiA");
}

TEST(Writer, MakesNoLineThatNoWriterWants) {
  int made = 0;
  PrintOptions options;
  options.event_format = make_event_format([&made](TextBuffer& out, EventView const&) {
    ++made;
    out.append("x\n");
    return true;
  });
  std::string text;
  options.writer =
      with_max_level(to_sink(make_sink([&text](Level, std::string_view line) { text += line; })), Level::error);
  with_default(RegistryBuilder().with(print_layer(std::move(options))).build(), emit_all_levels);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(text, "x\n");
}

TEST(Writer, PassesSinksOfSpdlogTheFieldsOfTheirPatterns) {
  std::ostringstream out;
  auto const sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
  sink->set_pattern("%v|%l|%n|%s");
  print_all_levels(with_max_level(to_sink(sink), Level::info));
  EXPECT_EQ(out.str(),
            "ERROR e|error|tracing|writer_test.cc\n WARN w|warning|tracing|writer_test.cc\n INFO "
            "i|info|tracing|writer_test.cc\n"
            " INFO A|info|audit|writer_test.cc\n");
}

TEST(Writer, CountsSinksThatThrow) {
  std::string text;
  auto const before = failed_sink_calls();
  auto const writer = tee(to_sink(std::make_shared<tracing_test::ThrowingSink>()), into(text));
  print_all_levels(writer);
  writer->flush();
  EXPECT_EQ(failed_sink_calls(), before + 6 + 2) << "six lines, the flush at the registry's end and this one";
  EXPECT_EQ(text, "ewidtA");
}

TEST(Writer, FlushesAllItsSinks) {
  class Flushed final : public LineSink {
   public:
    void write(Level, std::string_view) noexcept override {}
    void flush() override { ++count; }
    int count = 0;
  };
  auto const sink = std::make_shared<Flushed>();
  auto const one = [&sink] { return to_sink(sink); };
  tee(or_else(with_max_level(one(), Level::error), one()), with_filter(one(), is_audit))->flush();
  EXPECT_EQ(sink->count, 3);
  bare_layer(one())->flush();
  EXPECT_EQ(sink->count, 4);
}

}}  // namespace tracing
