#include <fmt/format.h>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/directive_notes.h"
#include "testlog/cli/span_times.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/format/amounts.h"

namespace testlog::cli {
namespace {

using tracing::formatting::text_of_ns;
using tracing::formatting::text_of_partial;

struct Options {
  Selection selection;
  std::string filter = "trace";
  std::size_t depth = 32;
  Screen screen;
};

// Prints the trees of a recording's tests.
class Trees {
 public:
  explicit Trees(Options const& options) : options_(options), is_coloured_(options.screen.is_coloured()) {}

  void print(OpenedRecording& file) {
    SpanTimes const times = times_of(file, filter_of("tree", options_.filter));
    for (auto const& [tag, test] : times.tests) {
      if (!options_.selection.has(test)) continue;
      found_any_ = true;
      std::string const result =
          test.result.empty() ? "did not end" : fmt::format("{} ({} ms)", test.result, test.duration_ms);
      auto const root = times.roots.find(tag);
      print_tree(test.name + " " + result, root == times.roots.end() ? nullptr : &root->second);
    }
    auto const outside = times.roots.find(0);
    if (outside == times.roots.end() || options_.selection.is_narrow()) return;
    found_any_ = true;
    print_tree(times.tests.empty() ? file.path : file.path + ", outside any test", &outside->second);
  }

  bool found_any() const noexcept { return found_any_; }

 private:
  void print_tree(std::string const& headline, SpanNode const* root) {
    fmt::print("{}---- {} ----{}\n", bold(), printable(headline), plain());
    if (root == nullptr) return (void)fmt::print("no spans\n");
    fmt::print("     total       self  entered  span\n");
    std::vector<std::pair<SpanNode const*, std::size_t>> next;  // nodes with their depths; the next node is the last
    auto const add_children = [&next](SpanNode const& node, std::size_t depth) {
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
        next.emplace_back(child->get(), depth);
    };
    add_children(*root, 1);
    while (!next.empty()) {
      auto const [node, depth] = next.back();
      next.pop_back();
      print_node(*node, depth);
      if (depth == options_.depth && !node->children.empty()) {
        fmt::print("{:>33}{}...\n", "", indentation(depth));
      } else {
        add_children(*node, depth + 1);
      }
    }
  }

  static void print_node(SpanNode const& node, std::size_t depth) {
    fmt::print("{:>10} {:>10} {:>8}  {}{}{}\n", text_of_ns(node.total_ns), text_of_ns(node.self_ns), node.entered,
               indentation(depth), printable(node.name), text_of_partial(node.open, node.cut));
  }

  // Indents up to kMaxIndented levels. Deeper levels print their depth as a number, since the lines of a deep recursion
  // would be mostly blanks.
  static std::string indentation(std::size_t depth) {
    constexpr std::size_t kMaxIndented = 100;
    if (depth <= kMaxIndented) return std::string(2 * (depth - 1), ' ');
    return fmt::format("{:{}}[{}] ", "", 2 * (kMaxIndented - 1), depth);
  }

  char const* bold() const noexcept { return is_coloured_ ? "\x1b[1m" : ""; }
  char const* plain() const noexcept { return is_coloured_ ? "\x1b[0m" : ""; }

  Options const& options_;
  bool const is_coloured_;
  bool found_any_ = false;
};

int run(Options const& options) {
  DirectiveNotes directives("tree", options.filter);
  std::vector<std::string> const paths = files_of("tree", options.selection.inputs);
  Status status = kDone;
  bool is_written = true;
  std::string notes;
  {
    Trees trees(options);
    Progress progress("tree", paths.size());
    Pager const pager(options.screen);
    for (std::string const& path : paths) {
      if (auto const file = open_recording("tree", path)) {
        trees.print(*file);
        directives.add(*file);
      } else {
        status = kFailed;
      }
      progress.step();
    }
    is_written = flush_output("tree");
    if (!trees.found_any() && status == kDone) {
      notes = options.selection.is_narrow() ? "testlog tree: no test is selected\n"
                                            : "testlog tree: no spans are recorded\n";
      status = kFailed;
    }
  }
  report(directives.lines() + notes);
  return is_written ? status : kFailed;
}

constexpr char kFooter[] = R"(
Spans of the same name inside the same spans are one line: how long threads were in them (total), how much of that in no span
below (self), and how often they were entered. A span that is open at the end counts until the last record, one whose
beginning was overwritten (cut) from the first that is left. Below level 100 the level is printed instead of blanks.

Examples:
  testlog tree --failed                               of the last ctest
  testlog tree --test Pool.Grows --depth 3 run.rec

Exit status: 0 something was printed; 1 a file could not be read, or nothing is selected; 2 a mistake in the command line.)";

}  // namespace

Command add_tree_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("tree", "Prints the spans of each test as a tree, with times.");
  add_selection(*app, options->selection);
  app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER: only these spans")
      ->capture_default_str();
  app->add_option("--depth", options->depth, "Only so many levels; 0: all")
      ->check(CLI::Range(1'000'000).description(""))
      ->capture_default_str();
  add_screen(*app, options->screen);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
