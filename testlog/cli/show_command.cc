#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/directive_notes.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/brief.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/show_options.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/record/follower.h"

namespace testlog::cli {
namespace {

using tracing::recording::Entry;
using tracing::recording::Follower;

constexpr char kFooter[] = R"(
Examples:
  testlog show                                        what the tests that failed in the last ctest recorded
  testlog show --failed --filter mylib=trace build/Testing/Temporary/testlog
  testlog show --failed --brief                       five lines for each cause of failures
  testlog show --test 'Pool.*' --thread 'worker*' --since 1.5s run.rec
  testlog show --follow run.rec                       while the process runs

Exit status: 0 all was printed, even if parts of a recording are missing; 1 a file could not be read, nothing is
selected, or there is too much to print; 2 a mistake in the command line.)";

// Prints lines. Lines of text are made safe for a terminal. JSON is made as it would have been printed live, so its
// control characters are escaped here.
class Print {
 public:
  explicit Print(ShowOptions const& options) : is_json_(tracing::formatting::is_json(options.format)) {}
  void operator()(std::string_view line) const {
    if (!is_json_) return write(line);
    tracing::InlineTextBuffer<1024> safe;
    tracing::append_sanitized_json(safe, line);
    write(safe.view());
  }

 private:
  static void write(std::string_view line) { std::fwrite(line.data(), 1, line.size(), stdout); }
  bool is_json_;
};

// ---- --follow ----

volatile std::sig_atomic_t interrupted = 0;

bool is_running(std::uint64_t process) noexcept {
  if (process == 0 || process > INT_MAX) return false;
  return kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

struct FollowedFile {
  std::string path;
  std::unique_ptr<Follower> follower;
  std::shared_ptr<BegunTests> begun = std::make_shared<BegunTests>();
};

// Prints the new records of all files. Returns false if no more will come.
bool print_new(std::vector<FollowedFile> const& followed, ShowOptions const& options) {
  bool is_last = true;
  LineOptions lines = lines_of(options);
  lines.names_tests = followed.size() > 1;
  LinePrinter printer("show", std::move(lines), grepped(options, Print(options)));
  for (auto const& [path, follower, begun] : followed) {
    bool const has_ended = interrupted != 0 || !is_running(follower->process());  // ask before reading the last records
    is_last &= has_ended;
    auto recording = follower->read_new(has_ended);
    if (recording == nullptr) continue;
    auto const is_new = [&from = *follower](Entry const& entry) { return from.is_new(entry); };
    OpenedRecording file{.path = path, .recording = std::move(recording), .is_new = is_new, .begun = begun};
    printer.add(file);
  }
  printer.finish();
  return !is_last;
}

int follow(ShowOptions const& options) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program at once
  sigaction(SIGINT, &action, nullptr);
  std::vector<FollowedFile> followed;
  for (std::string const& path : files_of("show", options.selection.inputs)) {
    std::string error;
    auto follower = Follower::open(path, error);
    if (follower == nullptr) {
      report("testlog show: " + printable(path) + ": " + error + "\n");
      return kFailed;
    }
    followed.push_back({path, std::move(follower)});
  }
  bool is_written = true;
  while (is_written && print_new(followed, options)) {
    is_written = flush_output("show");
    usleep(50'000);
  }
  is_written = is_written && flush_output("show");
  DirectiveNotes directives("show", options.filter);
  for (auto const& [path, follower, begun] : followed) {
    OpenedRecording all{path, follower->read_all()};
    if (all.recording == nullptr) continue;
    all.recording->for_each([&all](Entry const& entry) { all.learn(entry); });
    report(notes_of("show", all, {follower->lost()}));
    directives.add(all);
  }
  report(directives.lines());
  return is_written ? kDone : kFailed;
}

// Collects notes about a limited number of recordings: more notes would hide what was printed.
class Notes {
 public:
  void add(std::string const& lines) {
    if (lines.empty()) return;
    if (++recordings_ > kMaxRecordings) {
      ++left_out_;
    } else {
      text_ += lines;
    }
  }
  void print() const {
    report(text_);
    if (left_out_ > 0)
      report("testlog show: notes about " + std::to_string(left_out_) + " more recordings are left out\n");
  }

 private:
  static constexpr std::size_t kMaxRecordings = 50;
  std::string text_;
  std::size_t recordings_ = 0, left_out_ = 0;
};

// Returns `did you mean Pool.Drains?` or, if no test is like the selected one, the recorded tests.
std::string tests_instead(Selection const& selection, std::set<std::string> const& recorded) {
  constexpr std::size_t kMaxBytes = 200;
  bool const is_name =
      selection.tests.find_first_of("*?:") == selection.tests.npos && !recorded.contains(selection.tests);
  std::string const meant = is_name ? similar_test(selection.tests, {recorded.begin(), recorded.end()}) : "";
  if (!meant.empty()) return "did you mean " + printable(meant) + "?";
  std::string text;
  for (std::string const& test : recorded) {
    if (text.size() >= kMaxBytes) return "recorded: " + text + ", ...";
    text.append(text.empty() ? "" : ", ").append(printable(test));
  }
  return "recorded: " + (text.empty() ? "none" : text);
}

// Shows one recording after another, so that few of them are in memory.
int show(ShowOptions const& options) {
  std::vector<std::string> const paths = files_of("show", options.selection.inputs);
  Notes notes;
  DirectiveNotes directives("show", options.filter);
  std::vector<std::string> shown;
  std::string nothing;
  bool is_empty = true;
  Status status = kDone;
  bool is_written = true;
  {
    LinePrinter printer("show", lines_of(options),
                        grepped(options, [&is_empty, print = Print(options)](std::string_view line) {
                          is_empty = false;
                          print(line);
                        }));
    Progress progress("show", paths.size());
    Pager const pager(options.screen);
    for (std::string const& path : paths) {
      if (auto const begin = start_of(path)) printer.pass_until(*begin);
      if (auto const file = open_recording("show", path)) {
        try {
          if (printer.add(*file, paths.size() == 1)) {
            notes.add(notes_of("show", *file));
            shown.push_back(path);
          }
          directives.add(*file);
        } catch (std::runtime_error const& error) {
          notes.add(std::string("testlog show: ") + error.what() + "\n");
          status = kFailed;
        }
      } else {
        status = kFailed;
      }
      progress.step();
    }
    printer.finish();
    is_written = flush_output("show");
    if (options.selection.is_narrow() && !printer.found_tests()) {
      nothing = "testlog show: no test is selected; " + tests_instead(options.selection, printer.seen_tests()) + "\n";
      status = kFailed;
    } else if (is_empty && options.selects_records() && status == kDone) {
      nothing = "testlog show: no record is selected\n";
      status = kFailed;
    }
  }
  notes.print();
  report(notes_on_flaky("show", shown));
  report(directives.lines());
  report(nothing);
  return is_written ? status : kFailed;
}

int show_brief(ShowOptions const& options) {
  std::string const text = brief_of(options.selection);
  if (text.empty()) {
    report("testlog show: no selected test has failed\n");
    return kFailed;
  }
  Pager const pager(options.screen);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flush_output("show") ? kDone : kFailed;
}

}  // namespace

Command add_show_command(CLI::App& program) {
  auto const options = std::make_shared<ShowOptions>();
  CLI::App* const app =
      program.add_subcommand("show", "Prints recordings (TRACE_RECORD) as they would have been printed live.");
  add_show_options(*app, *options);
  app->footer(kFooter);
  return {app, [app, options] {
            (void)filter_of("show", options->filter);
            if (options->brief) return check_brief(*app), show_brief(*options);
            return options->follow ? follow(*options) : show(*options);
          }};
}

}  // namespace testlog::cli
