#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/timeline/perfetto_archive.h"
#include "tracing_core/profile/link.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  Inputs inputs;
  std::string filter = "trace";
  CLI::Option const* filter_option = nullptr;
  bool no_browser = false;
  double time_limit_s = 300;
  std::vector<std::string> origins;
};

// Checks a time limit, since a range of CLI11 lets `nan` pass.
std::string check_time_limit(std::string const& text) {
  double seconds = 0;
  bool const is_number = CLI::detail::lexical_cast(text, seconds);
  return is_number && seconds >= 0.001 && seconds <= 86400 ? "" : text + ": expected 0.001 to 86400 seconds";
}

// Checks that the text is an origin as a browser names it.
std::string check_origin(std::string const& text) {
  std::string_view host = text;
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (host.starts_with(scheme)) host.remove_prefix(scheme.size());
  }
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]";
  bool const is_origin = host.size() < text.size() && !host.empty() && host.find_first_not_of(kAllowed) == host.npos;
  return is_origin ? ""
                   : text + ": expected an origin such as http://localhost:10000, in small letters and without a path";
}

// Makes a new temporary folder for a file. The destructor, or a signal that ends the process, removes folder and file,
// unless the file is to be kept. One object at a time.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string const& name) : folder_(fs::temp_directory_path() / "testlog-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "open: cannot make a folder " + folder_);
    path_ = folder_ + "/" + name;
    part_ = tracing::support::part_of(path_);
    removed_by_signal = this;
    struct sigaction action {
    }, before{};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int const signal : kSignals) {
      if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
  }
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  ~TemporaryFile() {
    removed_by_signal = nullptr;
    if (!is_kept_) remove();
  }

  std::string const& path() const noexcept { return path_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

  void remove() const noexcept {
    unlink(path_.c_str());
    unlink(part_.c_str());
    rmdir(folder_.c_str());
  }
  static void on_signal(int signal) {
    if (TemporaryFile const* const file = removed_by_signal) file->remove();
    raise(signal);  // ends the process when this function returns
  }

  static inline std::atomic<TemporaryFile const*> removed_by_signal{nullptr};
  std::string folder_, path_, part_;
  bool is_kept_ = false;
};

int serve(std::string const& path, Options const& options) {
  auto const limit =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.time_limit_s));
  auto const print = [](std::string_view line) {
    std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
    std::fflush(stdout);
  };
  auto const result = tracing::serve_perfetto_link(
      path, {.time_limit = limit, .opens_browser = !options.no_browser, .origins = options.origins, .print = print});
  return result == tracing::LinkResult::fetched ? kDone : kFailed;
}

// Returns the file if it is the only one, and not a recording.
std::optional<std::string> trace_of(std::vector<std::string> const& files) {
  if (files.size() != 1 || start_of(files.front())) return std::nullopt;
  return files.front();
}

int run(Options const& options) {
  std::vector<std::string> const& paths = options.inputs.paths;
  bool const is_timeline = paths.size() == 1 && options.inputs.run.empty() && is_perfetto_archive(paths.front());
  std::vector<std::string> const files = is_timeline ? paths : files_of("open", options.inputs);
  if (auto const trace = trace_of(files)) {
    if (trace->ends_with(".xplane.pb"))
      throw UsageError("open: " + *trace + " is for TensorBoard or xprof, and ui.perfetto.dev cannot read it");
    if (options.filter_option->count() > 0)
      throw UsageError("open: --filter is for recordings, and " + *trace + " is none");
    return serve(*trace, options);
  }
  std::string const name = files.size() == 1 ? tracing::recording::name_of_recording(files.front()) : "recordings";
  TemporaryFile made(name + ".pftrace");
  if (Status const status = export_perfetto("open", files, options.filter, made.path()); status != kDone) return status;
  int const status = serve(made.path(), options);
  if (status != kDone) made.keep();  // the page has not fetched it, but the user may open it by hand
  return status;
}

constexpr char kFooter[] = R"(
Opens ui.perfetto.dev in a browser and serves the file to it once, on 127.0.0.1:9001, the only address from which that page accepts one.
Nothing leaves this machine and its browser; no other page, and nobody who does not know the link, gets the file. Recordings are
converted first, as by `testlog export --perfetto`; any other file is served as it is: a .pftrace, .json or .json.gz, or the TAR of
`testlog export --perfetto run.tar`. On a machine that is used by ssh it prints the command that leads the port to yours.
If CI is set nothing is served.

Examples:
  testlog open                                        all tests that failed in the last ctest, on one timeline
  testlog open run.rec
  testlog open --no-browser trace.json

Exit status: 0 the browser has fetched it; 1 it has not, and where the file is was printed; 2 a mistake in the command line.)";

}  // namespace

Command add_open_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("open", "Opens a trace or recordings in ui.perfetto.dev.");
  app->add_option(
      "FILE", options->inputs.paths,
      "A trace, or recordings or folders or TARs of them; by default those that the last ctest below this folder left");
  add_run(*app, options->inputs);
  options->filter_option =
      app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER, for recordings")
          ->capture_default_str();
  app->add_flag("--no-browser", options->no_browser, "Only prints the link");
  app->add_option("--time-limit", options->time_limit_s, "How many seconds to wait for a browser")
      ->check(CLI::Validator(check_time_limit, ""))
      ->capture_default_str();
  app->add_option("--origin", options->origins,
                  "Also serves pages of this origin, such as a Perfetto UI of your own: http://localhost:10000")
      ->check(CLI::Validator(check_origin, ""))
      ->expected(1)
      ->allow_extra_args(false)  // otherwise it would take the file that follows
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
