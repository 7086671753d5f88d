#include <cstdio>
#include <memory>
#include <string>

#include "testlog/cli/choices.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/recording_statistics.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {
namespace {

using tracing::StatisticsBy;
using tracing::StatisticsOrder;

Choices<StatisticsBy> const kGroups{{"all", StatisticsBy::all},
                                    {"thread", StatisticsBy::thread},
                                    {"test", StatisticsBy::test},
                                    {"target", StatisticsBy::target}};
Choices<StatisticsOrder> const kOrders{
    {"self", StatisticsOrder::self}, {"total", StatisticsOrder::total}, {"calls", StatisticsOrder::calls},
    {"mean", StatisticsOrder::mean}, {"min", StatisticsOrder::min},     {"p50", StatisticsOrder::p50},
    {"p95", StatisticsOrder::p95},   {"max", StatisticsOrder::max},     {"name", StatisticsOrder::name}};

struct Options {
  Selection selection;
  std::string filter = "trace";
  StatisticsBy by = StatisticsBy::all;
  StatisticsOrder sort = StatisticsOrder::self;
  std::size_t top = 0;
  bool json = false;
  Screen screen;
};

int run(Options const& options) {
  RecordingStatistics read("stats", options.filter, options.by);
  Status const status = read.add_all(options.selection) ? kDone : kFailed;
  tracing::Statistics statistics = read.finish();
  if (statistics.empty()) {
    report(read.notes());
    bool const is_no_test = options.selection.is_narrow() && read.tests().empty();
    if (status == kDone)
      report(is_no_test ? "testlog stats: no test is selected\n" : "testlog stats: no spans are recorded\n");
    return kFailed;
  }
  sort_statistics(statistics, options.sort);
  tracing::TextBuffer text, json;
  if (options.json) {
    append_statistics_json(json, statistics);
    tracing::append_sanitized_json(text, json.view());
  } else {
    append_statistics_table(text, statistics, {.max_rows = options.top, .ansi = options.screen.is_coloured()});
  }
  bool is_written = !text.truncated() && !json.truncated();
  {
    Pager const pager(options.screen);
    std::fwrite(text.data(), 1, text.size(), stdout);
    is_written &= flush_output("stats");
  }
  report(read.notes());
  return is_written ? status : kFailed;
}

constexpr char kFooter[] = R"(
Of all recordings together, as far as it is in them: spans, with how often threads were in them and for how long; kernels and copies,
with the device's own times where it reported them; compilations with the hits of the cache; device memory by the spans that
allocated it. Times inside a span of the same name count once in its total. p50 and p95 are within 2%. Kernels are sorted as
spans are, compilations by their time and memory by its peak, unless by calls or name.

Examples:
  testlog stats run.rec
  testlog stats --by test --sort p95 --top 10         of the last ctest
  testlog stats --json run.rec | jq '.groups[].kernels'

Exit status: 0 something was printed; 1 a file could not be read, or nothing is selected; 2 a mistake in the command line.)";

}  // namespace

Command add_stats_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("stats", "Prints statistics of spans, kernels, compilations and memory.");
  add_selection(*app, options->selection);
  app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER: only these spans and events")
      ->capture_default_str();
  app->add_option("--by", options->by, "Tables for each of them: thread, test, target; or for all together")
      ->transform(one_of(kGroups))
      ->default_str("all");
  app->add_option("--sort", options->sort, "The order of rows: self, total, calls, mean, min, p50, p95, max, name")
      ->transform(one_of(kOrders))
      ->default_str("self");
  app->add_option("--top", options->top, "So many rows of each table; 0: all")
      ->check(CLI::Range(1'000'000).description(""))
      ->capture_default_str();
  app->add_flag("--json", options->json, "Prints JSON, with all rows");
  add_screen(*app, options->screen);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
