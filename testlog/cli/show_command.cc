#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/run_marks.h"
#include "tracing_core/record/follower.h"

namespace testlog::cli {
namespace {

using tracing::internal::RecordEntry;
using tracing::internal::RecordingFollower;

struct Options {
  std::vector<std::string> files;
  std::string filter = "trace";
  tracing::FormatKind format = tracing::FormatKind::full;
  std::string time = "utc";
  std::string color = "auto";
  std::string tests;
  bool follow = false;
};

tracing::FormatOptions format_of(Options const& options) {
  tracing::FormatOptions format;
  format.kind = options.format;
  format.ansi = options.color == "always" || (options.color == "auto" && isatty(STDOUT_FILENO) == 1);
  format.value_sanitization = true;
  format.timer = options.time == "utc" ? tracing::utc_timer() : options.time == "local" ? tracing::local_timer() : nullptr;
  return format;
}

LineOptions lines_of(Options const& options) {
  return {.filter = options.filter, .format = format_of(options), .tests = options.tests, .marks = true};
}

void print(std::string_view line) { std::fwrite(line.data(), 1, line.size(), stdout); }

// ---- --follow ----

volatile std::sig_atomic_t interrupted = 0;

bool is_running(std::uint64_t process) noexcept {
  if (process == 0 || process > INT_MAX) return false;
  return kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

struct FollowedFile {
  std::string path;
  std::unique_ptr<RecordingFollower> follower;
};

// What is new in all files. False if there will be no more.
bool print_new(std::vector<FollowedFile> const& followed, Options const& options) {
  bool is_last = true;
  std::vector<std::unique_ptr<RecordingFile>> files;
  for (auto const& [path, follower] : followed) {
    bool const has_ended = interrupted != 0 || !is_running(follower->process());  // before its last records are read
    is_last &= has_ended;
    auto recording = follower->read_new(has_ended);
    if (recording == nullptr) continue;
    auto const is_new = [&from = *follower](RecordEntry const& entry) { return from.is_new(entry); };
    files.push_back(std::make_unique<RecordingFile>(RecordingFile{path, std::move(recording), is_new}));
  }
  print_lines("show", files, lines_of(options), print);
  return !is_last;
}

int follow(Options const& options) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends it at once
  sigaction(SIGINT, &action, nullptr);
  std::vector<FollowedFile> followed;
  for (std::string const& path : with_folders_opened("show", options.files)) {
    std::string error;
    auto follower = RecordingFollower::open(path, error);
    if (follower == nullptr) {
      std::fprintf(stderr, "testlog show: %s: %s\n", path.c_str(), error.c_str());
      return kFailed;
    }
    followed.push_back({path, std::move(follower)});
  }
  bool is_written = true;
  while (is_written && print_new(followed, options)) {
    is_written = std::fflush(stdout) == 0;
    usleep(50'000);
  }
  is_written = std::fflush(stdout) == 0 && is_written;
  for (auto const& [path, follower] : followed) {
    RecordingFile all{path, follower->read_all()};
    if (all.recording == nullptr) continue;
    all.recording->for_each([&all](RecordEntry const& entry) { all.learn(entry); });
    print_notes("show", all, follower->lost());
  }
  return is_written ? kDone : kFailed;
}

// Whether a test of a recording matches --test; reports it if not.
bool has_test(std::vector<std::unique_ptr<RecordingFile>> const& files, std::string const& patterns) {
  std::string names;
  for (auto const& file : files) {
    for (auto const& [tag, name] : tests_of(*file->recording)) {
      if (matches_any(name, patterns)) return true;
      if (names.size() < 200) names.append(names.empty() ? "" : ", ").append(name);
    }
  }
  std::fprintf(stderr, "testlog show: --test %s: no test matches; recorded: %s\n", patterns.c_str(),
               names.empty() ? "none" : names.c_str());
  return false;
}

int run(Options const& options) {
  (void)filter_of("show", options.filter);
  if (options.follow) return follow(options);
  Status status = kDone;
  std::vector<std::unique_ptr<RecordingFile>> files;
  for (std::string const& path : with_folders_opened("show", options.files)) {
    auto file = open_recording("show", path);
    if (file == nullptr) {
      status = kFailed;
    } else {
      files.push_back(std::move(file));
    }
  }
  if (!options.tests.empty() && !has_test(files, options.tests)) return kFailed;
  print_lines("show", files, lines_of(options), print);
  bool const is_written = std::fflush(stdout) == 0;
  for (auto const& file : files) print_notes("show", *file);
  return is_written ? status : kFailed;
}

}  // namespace

Command add_show_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("show", "Prints recordings (TRACE_RECORD) as they would have been printed live.");
  app->add_option("RECORDING", options->files, "The files, or folders of them; several are printed as one, in the order of time")->required();
  app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER")->capture_default_str();
  std::map<std::string, tracing::FormatKind> const formats{{"full", tracing::FormatKind::full},
                                                           {"compact", tracing::FormatKind::compact},
                                                           {"pretty", tracing::FormatKind::pretty},
                                                           {"json", tracing::FormatKind::json}};
  app->add_option("--format", options->format, "How records look: full, compact, pretty, json")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->default_str("full");
  app->add_flag_callback("--json", [options] { options->format = tracing::FormatKind::json; }, "The same as --format json");
  CLI::Option* const follow = app->add_flag("-f,--follow", options->follow,
                                            "Also prints what is recorded from now on, until the processes have ended");
  app->add_option("--test", options->tests, "Only the records of these tests: names with * and ?, separated by :")
      ->excludes(follow);
  app->add_option("--time", options->time, "The time at the start of each line: utc, local, none")
      ->check(CLI::IsMember({"utc", "local", "none"}).description(""))
      ->capture_default_str();
  app->add_option("--color", options->color, "auto, always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->capture_default_str();
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
