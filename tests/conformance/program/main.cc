// tracing_conformance --dir DIR: runs the case files of a folder, which have answers of the Rust crates, against our
// libraries.
//
// Prints `name: N passed, M failed` after each file and `N passed, M failed` at the end. The exit status is 0 only if
// cases passed and none failed.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "run_file.h"
#include "suite.h"

namespace conformance { namespace {

namespace fs = std::filesystem;

constexpr char kUsage[] =
    "usage: tracing_conformance --dir DIR [--only FILE]... [--case ID] [--verbose] [--jobs N] [--timeout-ms N]\n"
    "  --dir DIR       the folder with the case files\n"
    "  --only FILE     only this file, with or without .json\n"
    "  --case ID       only the case of this id\n"
    "  --verbose       print all failures instead of the first ones of each file\n"
    "  --jobs N        concurrent processes; default: the number of processors\n"
    "  --timeout-ms N  timeout of one answer; default 10000\n";

constexpr std::size_t kFailuresShown = 10;  // limit for each file
constexpr std::size_t kLinesShown = 4;      // limit for each failure

struct Options {
  fs::path dir;
  std::vector<std::string> only;
  bool verbose = false;
  RunOptions run;
};

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) {
    throw std::invalid_argument("not a positive number: " + std::string(text));
  }
  return value;
}

Options parse_arguments(int argc, char** argv) {
  Options options;
  options.run.processes = std::max(1U, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (++i == argc) throw std::invalid_argument("unknown argument or no value: " + std::string(name));
    if (name == "--dir") {
      options.dir = argv[i];
    } else if (name == "--only") {
      options.only.push_back(fs::path(argv[i]).stem());
    } else if (name == "--case") {
      options.run.only_id = argv[i];
    } else if (name == "--jobs") {
      options.run.processes = number(argv[i]);
    } else if (name == "--timeout-ms") {
      options.run.timeout = std::chrono::milliseconds(number(argv[i]));
    } else {
      throw std::invalid_argument("unknown argument: " + std::string(name));
    }
  }
  if (options.dir.empty()) throw std::invalid_argument("--dir is missing");
  return options;
}

Suite const* find_suite(fs::path const& file) {
  if (file.extension() != ".json") return nullptr;
  for (Suite const& suite : all_suites()) {
    if (file.stem() == suite.file) return &suite;
  }
  return nullptr;
}

void print_failures(std::string const& file, std::vector<Failure> const& failures, bool verbose) {
  std::size_t const shown = verbose ? failures.size() : std::min(failures.size(), kFailuresShown);
  for (std::size_t i = 0; i < shown; ++i) {
    Failure const& failure = failures[i];
    std::printf("FAILED %s %s (%s)\n", file.c_str(), failure.id.c_str(), failure.tag.c_str());
    std::size_t const lines = verbose ? failure.lines.size() : std::min(failure.lines.size(), kLinesShown);
    for (std::size_t line = 0; line < lines; ++line) std::printf("  %s\n", failure.lines[line].c_str());
    if (lines < failure.lines.size()) std::printf("  and %zu more\n", failure.lines.size() - lines);
  }
  if (shown < failures.size())
    std::printf("and %zu more failed cases; --verbose shows them\n", failures.size() - shown);
}

struct Totals {
  std::size_t passed = 0;
  std::size_t failed = 0;
};

void run_one(fs::path const& path, Options const& options, Totals& totals) {
  std::string const name = path.filename().string();
  Suite const* const suite = find_suite(path);
  if (suite == nullptr) {
    std::printf("skipped: %s: unknown file\n", name.c_str());
    return;
  }
  std::string const stem = path.stem().string();
  FileResult result;
  try {
    result = run_file(path, *suite, options.run);
  } catch (std::exception const& error) {
    result.failures.push_back({name, "the file", {error.what()}});
  }
  print_failures(stem, result.failures, options.verbose);
  std::printf("%s: %zu passed, %zu failed\n", stem.c_str(), result.passed, result.failures.size());
  std::fflush(stdout);
  totals.passed += result.passed;
  totals.failed += result.failures.size();
}

int run(Options const& options) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(options.dir, error), end; !error && entry != end; entry.increment(error)) {
    fs::path const& path = entry->path();
    if (!entry->is_regular_file()) continue;
    if (options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), path.stem()) != options.only.end()) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  Totals totals;
  for (fs::path const& file : files) run_one(file, options, totals);
  if (totals.passed + totals.failed == 0) {
    std::printf("no cases in %s%s%s\n", options.dir.c_str(), error ? ": " : "", error ? error.message().c_str() : "");
    totals.failed = 1;
  }
  std::printf("%zu passed, %zu failed\n", totals.passed, totals.failed);
  return totals.failed == 0 ? 0 : 1;
}

}}  // namespace conformance

int main(int argc, char** argv) {
  try {
    return conformance::run(conformance::parse_arguments(argc, argv));
  } catch (std::invalid_argument const& error) {
    std::fprintf(stderr, "tracing_conformance: %s\n%s", error.what(), conformance::kUsage);
    return 2;
  }
}
