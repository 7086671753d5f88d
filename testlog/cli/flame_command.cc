#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
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
using tracing::FoldedColumns;
using tracing::FoldedLine;

constexpr std::uint64_t kMostBadLinesShown = 10;

struct Options {
  std::vector<std::string> files;
  std::string output = "-";
  std::string title;
  FlamePicture picture;
  bool reverse = false;
  bool chart = false;
  bool last_first = false;
  std::vector<std::string> before;
  bool two_counts = false;
  bool normalise = false;
  std::string widths = "after";
  std::string palette = "hot";

  bool is_differential() const noexcept { return !before.empty() || two_counts; }
  bool shows_before() const noexcept { return is_differential() && widths == "before"; }
  FlameKind kind() const noexcept {
    if (chart) return last_first ? FlameKind::chart_last_first : FlameKind::chart;
    return reverse ? FlameKind::reversed : FlameKind::graph;
  }
};

void complain(std::string const& text) { std::fprintf(stderr, "testlog flame: %s\n", text.c_str()); }

FlameColors colors_of(std::string_view palette) {
  if (palette == "cool") return FlameColors::cool;
  if (palette == "green") return FlameColors::green;
  if (palette == "grey") return FlameColors::grey;
  if (palette == "module") return FlameColors::module;
  return palette == "perf" ? FlameColors::perf : FlameColors::hot;
}

std::string title_of(Options const& options) {
  if (!options.title.empty()) return options.title;
  if (options.chart) return "Flame chart";
  std::string title = options.is_differential() ? "Differential flame graph" : "Flame graph";
  if (options.reverse) title += ", turned round";
  return title;
}

// What was read, of all files, and what was not.
class Reading {
 public:
  explicit Reading(Options const& options) : options_(options), builder_(options.kind()) {}

  // False where a file could not be read to its end.
  bool read_all() {
    for (std::string const& path : options_.before) {
      if (!read(path, /*is_before=*/true)) return false;
    }
    for (std::string const& path : options_.files) {
      if (!read(path, /*is_before=*/false)) return false;
    }
    report();
    return true;
  }
  FlameGraph build() {
    if (!options_.is_differential()) return std::move(builder_).build();
    return std::move(builder_).build(tracing::FlameDifference{
        .width = options_.shows_before() ? FlameWidth::before : FlameWidth::after, .normalise = options_.normalise});
  }
  // Why there is nothing to draw.
  std::string problem() const {
    if (!has_before_ && !has_after_) return "no line has a count above 0; a line is `outer;inner 120`";
    std::string const shown = options_.shows_before() ? "before" : "after";
    std::string files;
    for (std::string const& path : options_.shows_before() && !options_.two_counts ? options_.before : options_.files) {
      files.append(files.empty() ? "" : ", ").append(name_of(path));
    }
    std::string const other = options_.shows_before() ? "after" : "before";
    return "no count " + shown + " is above 0 in " + files + "; `--widths " + other + "` draws the counts " + other;
  }

 private:
  static std::string name_of(std::string const& path) { return path == "-" ? "standard input" : path; }

  bool read(std::string const& path, bool is_before) {
    bool const is_input = path == "-";
    int const file = is_input ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::error_code error(file < 0 ? errno : 0, std::generic_category());
    if (!error) {
      tracing::FoldedVisitor visitor;
      visitor.on_stack = [&](FoldedLine const& line) { return add(line, is_before); };
      visitor.on_bad = [&](BadFoldedLine const& bad) {
        if (++bad_ <= kMostBadLinesShown) complain(to_string(bad));
      };
      auto const columns = options_.two_counts ? FoldedColumns::before_and_after : FoldedColumns::count;
      error = tracing::read_folded(file, name_of(path), columns, visitor);
      close(file);
    }
    if (error) complain("cannot read " + name_of(path) + ": " + error.message());
    return !error;
  }

  std::string_view add(FoldedLine const& line, bool is_before) {
    ++stacks_;
    cut_ += line.cut ? 1 : 0;
    looks_like_two_ = looks_like_two_ && tracing::parse_folded_line(line.stack).kind == FoldedLine::Kind::stack;
    std::uint64_t const after = is_before ? 0 : line.count;
    std::uint64_t const before = is_before ? line.count : line.before;
    has_after_ = has_after_ || after > 0;
    has_before_ = has_before_ || before > 0;
    return builder_.add(line.stack, after, before);
  }

  void report() const {
    if (bad_ > kMostBadLinesShown) {
      complain("and " + std::to_string(bad_ - kMostBadLinesShown) + " more lines that cannot be read");
    }
    if (cut_ > 0) complain("fractions of counts were cut: " + std::to_string(cut_));
    if (stacks_ > 0 && looks_like_two_ && !options_.two_counts) {
      complain("every line ends in two numbers; if they are counts before and after, say --two-counts");
    }
  }

  Options const& options_;
  FlameBuilder builder_;
  bool has_after_ = false;  // a count above 0
  bool has_before_ = false;
  std::uint64_t stacks_ = 0;
  std::uint64_t bad_ = 0;
  std::uint64_t cut_ = 0;
  bool looks_like_two_ = true;  // all stacks end in a number
};

bool is_same_file(std::string const& a, std::string const& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && S_ISREG(first.st_mode) &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void check(Options& options) {
  std::vector<std::string> inputs = options.before;
  if (options.files.empty()) {
    if (isatty(STDIN_FILENO)) throw UsageError("flame: no file is given; `-` reads standard input");
    options.files.emplace_back("-");
  }
  inputs.insert(inputs.end(), options.files.begin(), options.files.end());
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("flame: standard input can be read only once");
  if (options.output == "-") {
    if (isatty(STDOUT_FILENO)) throw UsageError("flame: standard output is a terminal; give a file: -o run.svg");
    return;
  }
  for (std::string const& input : inputs) {
    bool const is_input = input == "-";
    if (is_same_file(is_input ? "/dev/stdin" : input, options.output)) {
      throw UsageError("flame: " + (is_input ? "standard input" : input) + " would be written over; give another file to -o");
    }
  }
}

int run(Options& options) {
  check(options);
  Reading reading(options);
  if (!reading.read_all()) return kFailed;
  FlameGraph const graph = reading.build();
  if (graph.frames.empty()) {
    complain("there is nothing to draw: " + reading.problem());
    return kFailed;
  }
  options.picture.title = title_of(options);
  options.picture.colors = colors_of(options.palette);
  OutputFile file(options.output);
  tracing::write_flame_svg(graph, options.picture, [&file](std::string_view text) { file.write(text); });
  if (std::error_code const error = file.finish()) {
    complain("cannot write " + (options.output == "-" ? "standard output" : options.output) + ": " + error.message());
    return kFailed;
  }
  return kDone;
}

constexpr char kFooter[] = R"(
Examples:
  testlog flame run.folded -o run.svg                 then open run.svg in a browser
  testlog flame --diff before.folded after.folded -o diff.svg
  perf script | stackcollapse-perf.pl | testlog flame --unit samples --colors perf -o perf.svg

Exit status: 0 the picture was written, also where single lines could not be read; 1 there was nothing to
draw, or a file could not be read or written; 2 a mistake in the command line.)";

// What is wrong with a percentage; CLI::Range lets through what is no number.
std::string percent_problem(std::string const& text) {
  double percent = 0;
  if (CLI::detail::lexical_cast(text, percent) && percent >= 0 && percent <= 100) return "";
  return text + " is not a number from 0 to 100";
}

}  // namespace

Command add_flame_command(CLI::App& program) {
  auto const shared = std::make_shared<Options>();
  Options& options = *shared;
  CLI::App& command = *program.add_subcommand("flame", "Draws a flame graph of folded stacks as an SVG picture.");
  command.footer(kFooter);
  command.add_option("FILE", options.files,
                     "Folded stacks, as TRACE_FLAME and perf's collapsers write them; several are added up. `-`, or no "
                     "file: standard input");
  command.add_option("-o,--output", options.output, "The picture; `-`: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_option("--title", options.title, "The headline")->type_name("TEXT");
  command.add_option("--unit", options.picture.unit, "Of the counts; TRACE_FLAME counts nanoseconds")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--width", options.picture.geometry.width, "Of the picture in pixels, 400 to 100000")
      ->type_name("PIXELS")
      ->check(CLI::Range(400, 100'000))
      ->capture_default_str();
  command
      .add_option("--min-width", options.picture.geometry.min_width_percent,
                  "Narrower frames are left out; of everything")
      ->type_name("PERCENT")
      ->check(percent_problem, "0 to 100")
      ->capture_default_str();
  CLI::Option* const colors =
      command
          .add_option("--colors,--colours", options.palette,
                      "module: by namespace and class; perf: kernel, inlined, compiled at run time, C++; others: by name. "
                      "Not with --diff and --two-counts")
          ->type_name("PALETTE")
          ->check(CLI::IsMember({"hot", "cool", "green", "grey", "module", "perf"}))
          ->capture_default_str();
  CLI::Option* const reverse =
      command.add_flag("--reverse", options.reverse, "Turns stacks round: what was called, upon it its callers");
  CLI::Option* const chart = command.add_flag("--flamechart,--chart", options.chart,
                                              "A flame chart: keeps the order of the lines, time runs to the right");
  command
      .add_flag("--last-first", options.last_first, "Time runs to the left, as inferno-flamegraph --flamechart has it")
      ->needs(chart);
  CLI::Option* const diff =
      command.add_option("--diff", options.before, "Draws FILE compared with this one; may be given several times")
          ->type_name("BEFORE")
          ->allow_extra_args(false);  // FILE may follow
  CLI::Option* const two =
      command.add_flag("--two-counts", options.two_counts, "The same; lines have two counts, before and after");
  CLI::Option* const normalise =
      command.add_flag("--normalize", options.normalise, "Scales what was before to the same total");
  CLI::Option* const widths = command.add_option("--widths", options.widths, "Which run the widths show")
                                  ->type_name("RUN")
                                  ->check(CLI::IsMember({"after", "before"}))
                                  ->capture_default_str();
  reverse->excludes(chart);
  for (CLI::Option* const option : {diff, two}) option->excludes(chart);
  diff->excludes(two);
  return {&command, [shared, colors, normalise, widths] {
            if (shared->is_differential() && colors->count() > 0) {
              throw UsageError("flame: --colors does not go with --diff or --two-counts: there colours tell what changed");
            }
            if (!shared->is_differential() && normalise->count() + widths->count() > 0) {
              throw UsageError("flame: --normalize and --widths want --diff or --two-counts");
            }
            return run(*shared);
          }};
}

}  // namespace testlog::cli
