// speedscope, a viewer by others, shows the times of `testlog stats` in the Chrome trace and the folded stacks of a
// recording.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <thread>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/browser.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace {

using nlohmann::json;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing_test::Browser;
using tracing_test::TemporaryFolder;

struct Times {
  double total_ns = 0;
  double self_ns = 0;

  friend bool operator==(Times const&, Times const&) = default;
  friend void PrintTo(Times const& times, std::ostream* out) {
    *out << times.total_ns << " ns, itself " << times.self_ns << " ns";
  }
};
using BySpan = std::map<std::string, Times>;

// Lets a time pass that speedscope shows exactly, although it rounds times.
void work_for(std::uint64_t us) { tracing::support::simulate_time(tracing::support::simulated_ns + us * 1000); }

void forward(int layer) {
  TRACE_SPAN(info, "forward");
  work_for(2'250);
  if (layer > 0) forward(layer - 1);
}

void train() {
  TRACE_SPAN(info, "epoch");
  work_for(1'000);
  for (int number = 0; number < 3; ++number) {
    TRACE_SPAN(info, "step", number);
    work_for(500);
    forward(2);
    auto const held = TRACE_MAKE_SPAN(info, "loss");
    for (int i = 0; i < 2; ++i) held.in_scope([] { work_for(1'500); });
  }
}

// Records in a child process, whose clock is simulated.
void record(std::string const& path) {
  pid_t const child = fork();
  if (child == 0) {
    tracing::support::simulate_time(1'767'916'569'977'977'000);
    auto [layer, error] = tracing::record_layer({.path = path});
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), train);
    _exit(error ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

BySpan statistics(std::string const& recording) {
  BySpan spans;
  json const all = json::parse(run_command("stats", {recording, "--json"}).out);
  for (json const& span : all["groups"][0]["spans"]) {
    std::string const name = span["name"];
    spans[name.substr(name.rfind(':') + 1)] = {span["total_ns"], span["self_ns"]};
  }
  return spans;
}

// Returns the page of speedscope, which is installed on first use. If it cannot be installed, returns an empty path and
// sets `why`.
std::string find_page(std::string& why) {
  std::string const folder = TESTLOG_SPEEDSCOPE;
  std::string const page = folder + "/node_modules/speedscope/dist/release/index.html";
  if (std::filesystem::exists(page)) return page;
  std::filesystem::create_directories(folder);
  Outcome const installed =
      testlog::testdata::run({"/usr/bin/env", "npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit",
                              "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000", "speedscope@1.25.0"});
  if (std::filesystem::exists(page)) return page;
  why = "npm did not install speedscope: " + installed.err;
  return {};
}

// Parses `16.25ms (94%)`, `500.00µs (3%)` or, if the file does not name its unit, `16,250,000 (94%)`.
double ns_of(std::string text) {
  std::erase(text, ',');
  auto const has = [&text](char const* unit) { return text.find(unit) != text.npos; };
  return std::round(std::stod(text) * (has("ms ") ? 1e6 : has("µs ") ? 1e3 : 1));
}

// Returns the span's name in `train::step` or `step {"number":2}`: for a Chrome trace, speedscope has a row for each
// different set of arguments.
std::string name_of(std::string const& frame) {
  std::string const path = frame.substr(0, frame.find(" {"));
  return path.substr(path.rfind(':') + 1);
}

// Returns the table of all spans that speedscope shows for a file.
BySpan shown(Browser& browser, std::string const& page, TemporaryFolder const& folder, std::string const& name,
             std::string const& content) {
  std::string const script = folder.write(
      name + ".js", "speedscope.loadFileFromBase64(" + json(name).dump() + ", btoa(" + json(content).dump() + "))");
  browser.open("about:blank");
  browser.open("file://" + page + "#view=sandwich&localProfilePath=" + script);
  json rows;
  for (int i = 0; i < 3000 && rows.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    rows = browser.evaluate(
        "[...document.querySelectorAll('tr')]"
        ".map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText.trim()))"
        ".filter(cells => cells.length >= 3)");
  }
  BySpan spans;
  for (json const& row : rows) {
    std::string const frame = row[2];
    if (frame.starts_with("ThreadId(")) continue;  // the root of folded stacks
    spans[name_of(frame)].total_ns += ns_of(row[0]);
    spans[name_of(frame)].self_ns += ns_of(row[1]);
  }
  return spans;
}

TEST(Speedscope, ShowsTheTimesOfTheStatistics) {
  std::string const program = tracing_test::find_browser();
  if (program.empty()) GTEST_SKIP() << "Chromium is not installed (tools/setup.sh browser installs it)";
  std::string why;
  std::string const page = find_page(why);
  if (page.empty()) GTEST_SKIP() << why;
  TemporaryFolder const folder;
  std::string const recording = folder / "run.rec";
  ASSERT_NO_FATAL_FAILURE(record(recording));
  BySpan const expected = statistics(recording);
  constexpr double kStep = 500e3 + 3 * 2'250e3 + 2 * 1'500e3;
  EXPECT_EQ(expected, (BySpan{{"epoch", {1e6 + 3 * kStep, 1e6}},
                              {"step", {3 * kStep, 3 * 500e3}},
                              {"forward", {9 * 2'250e3, 9 * 2'250e3}},
                              {"loss", {6 * 1'500e3, 6 * 1'500e3}}}));
  Browser browser(program, 1200, 800);
  EXPECT_EQ(shown(browser, page, folder, "run.json", run_command("export", {recording, "--chrome"}).out), expected);
  EXPECT_EQ(shown(browser, page, folder, "run.folded", run_command("export", {recording, "--folded"}).out), expected);
}

}  // namespace
