#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/choices.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/inspect/flame_graph.h"
#include "tracing_core/inspect/flame_svg.h"
#include "tracing_core/inspect/folded.h"

namespace testlog::cli {
namespace {

using tracing::BadFoldedLine;
using tracing::FlameBuilder;
using tracing::FlameColors;
using tracing::FlameGraph;
using tracing::FlameKind;
using tracing::FlamePicture;
using tracing::FlameWidth;
using tracing::FoldedLine;

constexpr std::uint64_t kMaxBadLinesShown = 10;

struct Options {
  std::vector<std::string> files;
  std::string output = "-";
  std::string title;
  FlamePicture picture;
  bool reverse = false;
  bool chart = false;
  bool last_first = false;
  std::vector<std::string> before;
  bool normalise = false;
  std::string widths = "after";
  std::string palette = "hot";

  bool is_differential() const noexcept { return !before.empty(); }
  bool shows_before() const noexcept { return is_differential() && widths == "before"; }
  FlameKind kind() const noexcept {
    if (chart) return last_first ? FlameKind::chart_last_first : FlameKind::chart;
    return reverse ? FlameKind::reversed : FlameKind::graph;
  }
};

void print(std::string const& text) { report("testlog flame: " + text + "\n"); }

std::string title_of(Options const& options) {
  if (!options.title.empty()) return options.title;
  if (options.chart) return "Flame chart";
  std::string title = options.picture.inverted ? "icicle graph" : "flame graph";
  if (options.is_differential()) title = "differential " + title;
  title.front() = static_cast<char>(std::toupper(title.front()));
  return options.reverse ? title + ", reversed" : title;
}

// Reads all files.
class Reader {
 public:
  explicit Reader(Options const& options) : options_(options), builder_(options.kind()) {}

  // Returns false if a file could not be read to its end.
  bool read_all() {
    for (std::string const& path : options_.before) {
      if (!read(path, /*is_before=*/true)) return false;
    }
    for (std::string const& path : options_.files) {
      if (!read(path, /*is_before=*/false)) return false;
    }
    if (bad_ > kMaxBadLinesShown) print("and " + std::to_string(bad_ - kMaxBadLinesShown) + " more malformed lines");
    if (cut_ > 0) print("fractions dropped from counts: " + std::to_string(cut_));
    return true;
  }
  FlameGraph build() {
    if (!options_.is_differential()) return std::move(builder_).build();
    return std::move(builder_).build(tracing::FlameDifference{
        .width = options_.shows_before() ? FlameWidth::before : FlameWidth::after, .normalise = options_.normalise});
  }

 private:
  bool read(std::string const& path, bool is_before) {
    int const file = open_input(path);
    std::error_code error(file < 0 ? errno : 0, std::generic_category());
    if (!error) {
      tracing::FoldedVisitor visitor;
      visitor.on_stack = [&](FoldedLine const& line) {
        cut_ += line.cut ? 1 : 0;
        return builder_.add(line.stack, is_before ? 0 : line.count, is_before ? line.count : 0);
      };
      visitor.on_bad = [&](BadFoldedLine const& bad) {
        if (++bad_ <= kMaxBadLinesShown) print(to_string(bad));
      };
      error = tracing::read_folded(file, printable(name_of_input(path)), visitor);
      close(file);
    }
    if (error) print("cannot read " + printable(name_of_input(path)) + ": " + error.message());
    return !error;
  }

  Options const& options_;
  FlameBuilder builder_;
  std::uint64_t bad_ = 0;
  std::uint64_t cut_ = 0;
};

void check(Options& options) {
  std::vector<std::string> inputs = options.before;
  if (options.files.empty()) {
    if (isatty(STDIN_FILENO)) throw UsageError("flame: no file given; `-` reads standard input");
    options.files.emplace_back("-");
  }
  inputs.insert(inputs.end(), options.files.begin(), options.files.end());
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("flame: standard input can be read only once");
  if (options.output == "-") {
    if (isatty(STDOUT_FILENO)) throw UsageError("flame: standard output is a terminal; expected a file: -o run.svg");
    return;
  }
  for (std::string const& input : inputs) {
    if (is_same_file(input, options.output))
      throw UsageError("flame: --output would overwrite " + printable(name_of_input(input)));
  }
}

int run(Options& options) {
  check(options);
  Reader reader(options);
  if (!reader.read_all()) return kFailed;
  FlameGraph const graph = reader.build();
  if (graph.frames.empty()) {
    std::string const run = options.is_differential() ? " " + options.widths : "";
    print("nothing to draw: no count" + run + " is above 0; expected lines like `outer;inner 120`");
    return kFailed;
  }
  options.picture.title = title_of(options);
  options.picture.colors = options.palette == "module" ? FlameColors::module : FlameColors::hot;
  OutputFile file(options.output);
  tracing::write_flame_svg(graph, options.picture, [&file](std::string_view text) { file.write(text); });
  if (std::error_code const error = file.finish()) {
    print("cannot write " + (options.output == "-" ? "standard output" : printable(options.output)) + ": " +
          error.message());
    return kFailed;
  }
  return kDone;
}

constexpr char kFooter[] = R"(
Examples:
  testlog flame run.folded -o run.svg                 then open run.svg in a browser
  testlog flame --diff before.folded after.folded -o diff.svg
  perf script | stackcollapse-perf.pl | testlog flame --unit samples -o perf.svg

Exit status: 0 the picture was written, even if single lines could not be read; 1 there was nothing to draw, or a
file could not be read or written; 2 a mistake in the command line.)";

// Checks a percentage, since CLI::Range accepts text that is not a number.
std::string percent_problem(std::string const& text) {
  double percent = 0;
  if (CLI::detail::lexical_cast(text, percent) && percent >= 0 && percent <= 100) return "";
  return text + " is not a number from 0 to 100";
}

void add_files(CLI::App& command, Options& options) {
  command.add_option(
      "FILE", options.files,
      "Folded stacks, as TRACE_FLAME and perf's collapsers write them; several files are added up. `-`, or no "
      "file: standard input");
  command.add_option("-o,--output", options.output, "The picture; `-`: standard output")
      ->type_name("FILE")
      ->capture_default_str();
}

void add_picture_options(CLI::App& command, Options& options) {
  command.add_option("--title", options.title, "The title")->type_name("TEXT");
  command
      .add_option("--unit,--count-name,--countname", options.picture.unit,
                  "The unit of the counts; TRACE_FLAME counts nanoseconds")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--width", options.picture.width, "The width of the picture in pixels, 400 to 100000")
      ->type_name("PIXELS")
      ->check(CLI::Range(400, 100'000))
      ->capture_default_str();
  command
      .add_option("--min-width", options.picture.min_width_percent,
                  "Leaves out frames that are narrower, in percent of the total width")
      ->type_name("PERCENT")
      ->check(percent_problem, "0 to 100")
      ->capture_default_str();
}

// Returns --diff.
CLI::Option* add_difference_options(CLI::App& command, Options& options) {
  CLI::Option* const diff =
      command.add_option("--diff", options.before, "Compares FILE with this earlier run; may be given several times")
          ->type_name("BEFORE")
          ->allow_extra_args(false);  // FILE may follow
  command.add_flag("--normalize", options.normalise, "Scales the earlier run to the same total")->needs(diff);
  command.add_option("--widths", options.widths, "The run whose counts are the widths")
      ->type_name("RUN")
      ->check(one_of({"after", "before"}).description("{after,before}"))
      ->capture_default_str()
      ->needs(diff);
  return diff;
}

}  // namespace

Command add_flame_command(CLI::App& program) {
  auto const shared = std::make_shared<Options>();
  Options& options = *shared;
  CLI::App& command = *program.add_subcommand("flame", "Draws a flame graph of folded stacks as an SVG picture.");
  command.footer(kFooter);
  add_files(command, options);
  add_picture_options(command, options);
  CLI::Option* const colors = command
                                  .add_option("--colors,--colours", options.palette,
                                              "hot: by name; module: by namespace and class. Not with --diff")
                                  ->type_name("PALETTE")
                                  ->check(one_of({"hot", "module"}).description("{hot,module}"))
                                  ->capture_default_str();
  CLI::Option* const reverse =
      command.add_flag("--reverse", options.reverse, "Reverses stacks: callers on top of what they called");
  command.add_flag("--inverted", options.picture.inverted, "Draws an icicle graph: the root at the top");
  CLI::Option* const chart =
      command.add_flag("--flamechart,--chart", options.chart,
                       "Draws a flame chart: keeps the order of the lines, time runs to the right");
  command.add_flag("--last-first", options.last_first, "Time runs to the left, as in inferno-flamegraph --flamechart")
      ->needs(chart);
  CLI::Option* const diff = add_difference_options(command, options);
  reverse->excludes(chart);
  diff->excludes(chart)->excludes(colors);
  return {&command, [shared] { return run(*shared); }};
}

}  // namespace testlog::cli
