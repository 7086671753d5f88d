#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/runs/hunt.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/show_options.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using tracing::support::counted;

struct Options {
  HuntOptions hunt;
  std::string longest = "10m";
  std::string build;
  bool no_perturb = false;
  CLI::Option* seed = nullptr;
};

bool has_tests(fs::path const& folder) {
  std::error_code error;
  return fs::exists(folder / "CTestTestfile.cmake", error);
}

// Returns the current folder if it is a build folder, or the only build folder one or two levels below it; otherwise an
// empty path. Throws UsageError if there are several.
fs::path find_build() {
  if (has_tests(".")) return ".";
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator at(".", fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (!at->is_directory(error) || at->is_symlink(error)) continue;
    bool const is_build = has_tests(at->path());
    if (is_build) found.push_back(at->path().lexically_normal());
    if (is_build || at.depth() > 0) at.disable_recursion_pending();
  }
  if (found.size() < 2) return found.empty() ? fs::path() : found.front();
  std::sort(found.begin(), found.end());
  throw UsageError("hunt: several build folders: " + printable(found[0].native()) + ", " +
                   printable(found[1].native()) + "; --build names one");
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (std::string_view("^$.[]|()?*+\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Returns the names in a list from `ctest -N`, which has lines such as `  Test #12: Pool.Grows`.
std::vector<std::string> names_in(fs::path const& list) {
  std::vector<std::string> names;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    std::size_t const number = line.find('#'), colon = line.find(": ");
    if (line.starts_with("  Test") && number != line.npos && colon != line.npos && number < colon)
      names.push_back(line.substr(colon + 2));
  }
  return names;
}

// Throws std::runtime_error if ctest does not know the test.
void check_test(HuntOptions const& options, fs::path const& build, RepeatedProcess& process) {
  fs::path const list = options.folder.parent_path() / "tests.txt";
  fs::create_directories(list.parent_path());
  process.run({"ctest", "--test-dir", build, "-N"}, {}, list, INT64_MAX, [] {});
  std::vector<std::string> const names = names_in(list);
  fs::remove(list);
  if (std::find(names.begin(), names.end(), options.test) != names.end() || process.is_interrupted()) return;
  std::string const hint = similar_test(options.test, {names.begin(), names.end()});
  throw std::runtime_error("hunt: " + printable(build.native()) + " has no test " + printable(options.test) +
                           (hint.empty() ? " (`ctest -N` lists its " + counted(names.size(), "test") + ")"
                                         : "; did you mean " + printable(hint) + "?"));
}

// Restores a file in the destructor, so that `ctest --rerun-failed` still means the run before the hunt.
class KeptFile {
 public:
  explicit KeptFile(fs::path path) : path_(std::move(path)), exists_(fs::exists(path_)) {
    std::ifstream file(path_, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(file), {});
  }
  KeptFile(KeptFile const&) = delete;
  KeptFile& operator=(KeptFile const&) = delete;
  ~KeptFile() {
    std::error_code error;
    if (exists_)
      std::ofstream(path_, std::ios::binary) << text_;
    else
      fs::remove(path_, error);
  }

 private:
  fs::path const path_;
  bool const exists_;
  std::string text_;
};

// Makes an empty folder. If it exists, renames the old folder to `<folder>.before`.
void make_folder(fs::path const& folder) {
  fs::path const before = folder.native() + ".before";
  if (fs::exists(folder)) {
    fs::remove_all(before);
    fs::rename(folder, before);
  }
  fs::create_directories(folder);
}

std::string sentence_of(HuntOptions const& options, HuntResult const& result) {
  std::string text =
      fmt::format("{}: {} in {:.1f} s: {} failed, {} passed", printable(options.test), counted(result.runs, "run"),
                  static_cast<double>(result.ns) / 1e9, result.failed, result.passed);
  using End = HuntResult::End;
  if (result.end == End::out_of_time) text += "; the time is over (--for)";
  if (result.end == End::interrupted) text += "; interrupted";
  if (result.end == End::always_fails) text += "; it fails in each run, so this is no rare failure";
  return text + "\n";
}

void print_result(Options const& options, HuntResult const& result) {
  HuntOptions const& hunt = options.hunt;
  std::string text = sentence_of(hunt, result);
  if (result.first_failed == 0) {
    fmt::print("{}no failure was seen\n", text);
    return;
  }
  bool const perturbed = !result.first_perturbation.empty();
  std::string const variable = perturbed ? "TRACE_PERTURB=" + result.first_perturbation : "";
  text += fmt::format("run {} was the first to fail{}\n", result.first_failed, perturbed ? ", with " + variable : "");
  if (result.has_hung) text += "a run was stopped because it took much longer than the others; it counts as failed\n";
  text += "to repeat it:\n    " + variable + (perturbed ? " " : "") + shell_words(hunt.command) + "\n";
  text += "recordings and output of the runs: " + printable(hunt.folder.native()) + "\n";
  fmt::print("{}", text);
}

// Prints the command `testlog why` for the runs and, if this program has the command, runs it.
void explain(CLI::App const& program, HuntOptions const& options, HuntResult const& result) {
  if (result.kept_failing == 0 || result.kept_passing == 0) return;
  std::vector<std::string> const words{
      "testlog", "why", "--failing", options.folder / "failing", "--passing", options.folder / "passing"};
  fmt::print("what was different: {}\n", shell_words(words));
  std::fflush(stdout);
  auto const commands = program.get_subcommands([](CLI::App const* app) { return app->get_name() == "why"; });
  if (commands.empty()) return;
  std::vector<char*> pointers;
  for (std::string const& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    execv("/proc/self/exe", pointers.data());
    _exit(kFailed);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

int run(CLI::App const& program, Options& options) {
  HuntOptions& hunt_options = options.hunt;
  auto const longest = moment_of(options.longest);
  if (!longest || !longest->is_relative || longest->ns <= 0)
    throw UsageError("hunt: --for " + printable(options.longest) + " is no time; expected for example 90s or 10m");
  hunt_options.longest_ns = longest->ns;
  hunt_options.perturbs = !options.no_perturb;
  if (options.seed->empty()) hunt_options.first_seed = 1 + std::random_device{}() % 1'000'000;
  fs::path const build = options.build.empty() ? find_build() : fs::path(options.build);
  bool const is_default = hunt_options.command.empty();
  if (is_default && !has_tests(build))
    throw std::runtime_error(
        "hunt: " + (build.empty() ? "no build folder here" : printable(build.native()) + " has no tests of CTest") +
        "; --build names the build folder, or words after -- run the test");
  hunt_options.folder = fs::absolute(build / "Testing" / "Temporary" / "testlog" / "hunt" /
                                     tracing::support::file_name_of(hunt_options.test))
                            .lexically_normal();
  HuntResult result;
  {
    KeptFile const failed_before(build / "Testing" / "Temporary" / "LastTestsFailed.log");
    RepeatedProcess process;
    if (is_default) {
      check_test(hunt_options, build, process);
      hunt_options.command = {
          "ctest", "--test-dir", build, "-R", "^" + escaped(hunt_options.test) + "$", "--output-on-failure"};
    }
    make_folder(hunt_options.folder);
    result = hunt(hunt_options, process);
  }
  print_result(options, result);
  explain(program, hunt_options, result);
  return result.first_failed == 0 ? kFailed : kDone;
}

constexpr char kFooter[] = R"(
Repeats a test, each time with a new TRACE_PERTURB, so that threads wait at other places, until it has failed and passed often
enough. Keeps the recordings of these runs in Testing/Temporary/testlog/hunt/ of the build folder, and those of the hunt before in
a folder that ends with .before. Ends with the first seed that made the test fail, and with the answer of `testlog why`. Ctrl-C ends
it with what it has. A run that takes twenty times as long as any that passed, and ten seconds more, counts as failed.

Examples:
  testlog hunt Pool.Grows
  testlog hunt Pool.Grows --build build/debug --for 1m
  testlog hunt Pool.Grows -- ./pool_test --gtest_filter=Pool.Grows

Exit status: 0 the test failed at least once; 1 it did not, or it could not be run; 2 a mistake in the command line.)";

}  // namespace

Command add_hunt_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  HuntOptions& hunt = options->hunt;
  CLI::App* const app =
      program.add_subcommand("hunt", "Repeats a test until it has failed and passed, and says why it fails.");
  app->add_option("TEST", hunt.test, "The test, by its name in CTest")->required();
  app->add_option("COMMAND", hunt.command, "After --: runs the test once; by default ctest does");
  auto const count = CLI::Range(1, 1000).description("");
  app->add_option("--failing", hunt.failing, "So many failing runs are wanted")->check(count)->capture_default_str();
  app->add_option("--passing", hunt.passing, "So many passing runs are wanted")->check(count)->capture_default_str();
  app->add_option("--for", options->longest, "No longer than this: 90s, 10m")->capture_default_str();
  app->add_option("--build", options->build, "The build folder; by default the one in or below this folder");
  auto* const off = app->add_flag("--no-perturb", options->no_perturb, "Leaves the threads as they are");
  options->seed = app->add_option("--seed", hunt.first_seed, "The seed of the first run; by default a random one");
  app->add_option("--us", hunt.max_us, "The longest wait of a thread, in microseconds")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str()
      ->excludes(off);
  options->seed->excludes(off);
  app->footer(kFooter);
  return {app, [&program, options] { return run(program, *options); }};
}

}  // namespace testlog::cli
