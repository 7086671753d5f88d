// `testlog export`: converts a recording to the files that the layers wrote while the process ran.
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/approval.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing::kv;
using tracing_test::record_in_child;
using tracing_test::record_to;
using tracing_test::TemporaryFolder;

struct Point {
  int x;
  std::string y;
};
TRACE_FIELDS(Point, x, y)

void work(int id) {
  TRACE_SPAN(info, "request", id, kv("text", "a \"quoted\" text"), kv("late", tracing::empty));
  TRACE_INFO("moved {} bytes", 64, kv("point", Point{3, "here"}), kv("real", 1.5F));
  tracing::Span::current().record(kv("late", 200));
  auto const held = TRACE_MAKE_SPAN(debug, "held", kv("on", true));
  held.in_scope([] { TRACE_WARN("two\nlines", kv("error", std::runtime_error("failed"))); });
  TRACE_SPAN(debug, "inner");
  TRACE_VALUES(trace, kv("x", -1));
}

// Makes a recording of three threads in `folder`, and the files that the layers write meanwhile.
void record_and_export(TemporaryFolder const& folder, std::string const& name) {
  auto [record, record_error] = tracing::record_layer({.path = folder / (name + ".rec")});
  auto [chrome, chrome_guard] = tracing::chrome_layer({.path = folder / "live.json"});
  std::error_code error;
  auto [flame, flame_guard] = tracing::flame_layer(folder / "live.folded", error, {.empty_samples = false});
  tracing::PrintOptions print;
  print.format.kind = tracing::FormatKind::json;
  print.writer = tracing::to_sink(tracing::FdSink::append_to(folder / "live.jsonl", error));
  ASSERT_FALSE(error) << error.message();
  auto const registry = tracing::RegistryBuilder()
                            .with(std::move(record))
                            .with(std::move(chrome))
                            .with(std::move(flame))
                            .with(tracing::print_layer(print))
                            .build();
  std::latch all_started(3);
  auto const run = [&](int id) {
    tracing::with_default(registry, [&] {
      if (id != 1) tracing::set_thread_name("worker-" + std::to_string(id));
      all_started.arrive_and_wait();
      for (int i = 0; i < 20; ++i) work(id);
    });
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

Outcome export_to(std::vector<std::string> arguments) { return run_command("export", arguments); }

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Lines by thread, in the order of the thread. Lines of different threads may alternate in another way.
using ByThread = std::map<std::string, std::vector<std::string>>;
ByThread by(std::string const& text, std::regex const& thread, std::regex const& time) {
  ByThread lines;
  for (std::string const& line : lines_of(text)) {
    std::smatch found;
    std::string const key = std::regex_search(line, found, thread) ? found[1].str() : "";
    lines[key].push_back(std::regex_replace(line, time, "TIME"));
  }
  return lines;
}

class Export : public testing::Test {
 protected:
  TemporaryFolder const folder_;
};

TEST_F(Export, WritesTheChromeTraceThatTheLayerWrote) {
  record_and_export(folder_, program_invocation_short_name);
  Outcome const outcome =
      export_to({folder_ / (std::string(program_invocation_short_name) + ".rec"), "--chrome", folder_ / "a.json"});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  std::regex const thread(R"("tid":(\d+))"), time(R"re("ts":[0-9.]+\},?)re");
  auto const strip = [](ByThread lines) {  // removes the commas between records; the last record has no comma
    for (auto& [key, own] : lines)
      for (std::string& line : own) line.erase(line.find_last_not_of(',') + 1);
    return lines;
  };
  EXPECT_EQ(strip(by(folder_.read("a.json"), thread, time)), strip(by(folder_.read("live.json"), thread, time)));
  // The layer's times count from the creation of the layer, the exported times from the beginning of the recording.
  auto const live = nlohmann::json::parse(folder_.read("live.json")),
             exported = nlohmann::json::parse(folder_.read("a.json"));
  auto const last = [](nlohmann::json const& trace) {
    double latest = 0;
    for (auto const& one : trace)
      if (one.contains("ts")) latest = std::max(latest, one["ts"].get<double>());
    return latest;
  };
  EXPECT_NEAR(last(live), last(exported), 1e6);
  EXPECT_GT(last(exported), 0);
}

TEST_F(Export, WritesTheFoldedStacksThatTheLayerWrote) {
  record_and_export(folder_, "a");
  Outcome const outcome = export_to({folder_ / "a.rec", "--folded"});
  EXPECT_EQ(outcome.err, "");
  std::regex const thread(R"(^ThreadId\((\d+)\))"), time(R"( \d+$)");
  EXPECT_EQ(by(outcome.out, thread, time), by(folder_.read("live.folded"), thread, time));
  auto const total = [](std::string const& text) {
    double sum = 0;
    for (std::string const& line : lines_of(text)) sum += std::stod(line.substr(line.rfind(' ')));
    return sum;
  };
  EXPECT_NEAR(total(outcome.out), total(folder_.read("live.folded")), 1e9);
  EXPECT_GT(total(outcome.out), 0);
}

TEST_F(Export, WritesTheLinesThatTheLayerPrinted) {
  record_and_export(folder_, "a");
  Outcome const outcome = export_to({folder_ / "a.rec", "--json", "-"});
  EXPECT_EQ(outcome.err, "");
  std::regex const thread(R"("id":(\d+))"), time(R"re("timestamp":"[^"]*")re");
  std::string const lines = std::regex_replace(outcome.out, std::regex(R"re(,"thread":"[^"]*"})re"), "}");
  EXPECT_EQ(testlog::testdata::count(outcome.out, "\"thread\":\""), testlog::testdata::count(outcome.out, "\n"));
  EXPECT_EQ(by(lines, thread, time), by(folder_.read("live.jsonl"), thread, time));
  EXPECT_EQ(outcome.out, run_command("show", {folder_ / "a.rec", "--format=json"}).out);
}

TEST_F(Export, PutsSeveralProcessesInOneTrace) {
  pid_t const first = record_in_child({.path = folder_ / "first.rec"}, [] { work(1); });
  pid_t const second = record_in_child({.path = folder_ / "second.rec"}, [] { work(2); });
  Outcome const outcome = export_to({folder_ / "second.rec", folder_ / "first.rec", "--chrome", "--filter=info"});
  std::map<pid_t, std::string> names;
  std::map<pid_t, std::pair<int, double>> begun;
  for (auto const& one : nlohmann::json::parse(outcome.out)) {
    pid_t const process = one["pid"];
    EXPECT_EQ(one["tid"], process) << "of the main thread";
    if (one["name"] == "process_name") names[process] = one["args"]["name"];
    if (one["ph"] == "B") begun[process] = {begun[process].first + 1, one["ts"]};
  }
  EXPECT_THAT(names, ElementsAre(std::pair(first, "first"), std::pair(second, "second")));
  EXPECT_EQ(begun[first].first, 1) << "the filter hides the span held";
  EXPECT_LT(begun[first].second, begun[second].second);
}

// In containers, the first process of each has the number 1.
TEST_F(Export, KeepsProcessesOfTheSameNumberApart) {
  pid_t const process = record_in_child({.path = folder_ / "a.rec"}, [] { work(1); });
  std::filesystem::copy_file(folder_ / "a.rec", folder_ / "b.rec");
  Outcome const outcome = export_to({folder_ / "a.rec", folder_ / "b.rec", "--chrome", "--filter=info"});
  std::map<pid_t, std::string> names;
  std::map<pid_t, int> begun;
  for (auto const& one : nlohmann::json::parse(outcome.out)) {
    if (one["name"] == "process_name") names[one["pid"]] = one["args"]["name"];
    if (one["ph"] == "B") ++begun[one["pid"]];
  }
  EXPECT_THAT(names, ElementsAre(std::pair(process, "a"), std::pair(process + 1, "b")));
  EXPECT_THAT(begun, ElementsAre(std::pair(process, 1), std::pair(process + 1, 1)));
}

TEST_F(Export, BeginsSpansWhoseBeginningWasOverwritten) {
  record_to({.path = folder_ / "small.rec", .limit_bytes = 1}, [] {
    TRACE_SPAN(info, "outer", kv("id", 7));
    for (int i = 0; i < 100'000; ++i) {
      TRACE_SPAN(info, "step", i);
    }
  });
  Outcome const chrome = export_to({folder_ / "small.rec", "--chrome"});
  EXPECT_THAT(chrome.err, HasSubstr(" earlier records were overwritten"));
  int depth = 0;
  std::string first;
  for (auto const& one : nlohmann::json::parse(chrome.out)) {
    if (one["ph"] == "M") continue;
    if (first.empty()) first = one["name"];
    depth += one["ph"] == "B" ? 1 : -1;
    EXPECT_GE(depth, 0);
  }
  EXPECT_EQ(first, "outer");
  EXPECT_EQ(depth, 0);
  for (std::string const& line : lines_of(export_to({folder_ / "small.rec", "--folded"}).out))
    EXPECT_THAT(line, HasSubstr("::outer")) << "stacks are complete";
}

TEST_F(Export, CompressesAChromeTraceIfItsNameSaysSo) {
  record_in_child({.path = folder_ / "a.rec"}, [] { work(1); });
  Outcome const outcome = export_to({folder_ / "a.rec", "--chrome", folder_ / "a.json.gz"});
  if (outcome.exit_code == 2) {  // built without zlib
    EXPECT_THAT(outcome.err, HasSubstr("built without zlib"));
    return;
  }
  EXPECT_EQ(outcome.err, "");
  ASSERT_EQ(std::system(("gzip -dc " + (folder_ / "a.json.gz") + " > " + (folder_ / "a.json")).c_str()), 0);
  EXPECT_EQ(folder_.read("a.json"), export_to({folder_ / "a.rec", "--chrome"}).out);
}

TEST_F(Export, LeavesSpansOpenThatWereWhenTheProcessWasKilled) {
  record_in_child({.path = folder_ / "a.rec"}, [] {
    TRACE_SPAN(info, "outer");
    TRACE_WARN("the last words");
    kill(getpid(), SIGKILL);
  });
  Outcome const outcome = export_to({folder_ / "a.rec", "--chrome"});
  EXPECT_EQ(outcome.err, "testlog export: " + (folder_ / "a.rec") + ": at its end main is in outer\n");
  std::string phases;
  for (auto const& one : nlohmann::json::parse(outcome.out)) phases += one["ph"];
  EXPECT_EQ(phases, "MMBi");
}

TEST_F(Export, SaysWhatItCannotRead) {
  record_in_child({.path = folder_ / "a.rec"}, [] { work(1); });
  std::string const recording = folder_.read("a.rec");
  std::string later = recording, damaged = recording;
  later[8] = 2;
  damaged[16] = 1;
  std::map<std::string, std::string> const messages{
      {folder_ / "none", "could not be opened: No such file or directory"},
      {folder_.write("short", "x"), "is no recording: it has fewer than 4096 bytes"},
      {folder_.write("other", std::string(5000, 'x')), "is no recording: it begins with other bytes"},
      {folder_.write("later", later), "is a recording of version 2; expected version 1"},
      {folder_.write("damaged", damaged), "is a damaged recording: the sizes in its header are wrong"},
  };
  folder_.write("old.json", "old");
  for (auto const& [file, message] : messages) {
    Outcome const outcome = export_to({folder_ / "a.rec", file, "--chrome", folder_ / "old.json"});
    EXPECT_EQ(outcome.err, "testlog export: " + file + ": " + message + "\n");
    EXPECT_EQ(outcome.exit_code, 1);
  }
  EXPECT_EQ(folder_.read("old.json"), "old");

  Outcome const cut = export_to({folder_.write("cut", std::string_view(recording).substr(0, 12288 + 16384)), "--json"});
  EXPECT_THAT(cut.err, HasSubstr("testlog export: " + (folder_ / "cut") + ": cut off in chunk 1, which has 0 of "));
  EXPECT_EQ(cut.exit_code, 0);
}

TEST_F(Export, SaysThatItCannotWrite) {
  record_in_child({.path = folder_ / "a.rec"}, [] { work(1); });
  for (char const* const format : {"--chrome", "--folded", "--json"}) {
    Outcome const outcome = export_to({folder_ / "a.rec", format, "/dev/full"});
    EXPECT_EQ(outcome.err, "testlog export: cannot write /dev/full: No space left on device\n");
    EXPECT_EQ(outcome.exit_code, 1);
  }
}

TEST_F(Export, ReportsMistakesInTheCommandLine) {
  record_in_child({.path = folder_ / "a.rec"}, [] { work(1); });
  std::filesystem::copy(folder_ / "a.rec", folder_ / "b.rec");
  std::string const file = folder_ / "a.rec", other = folder_ / "b.rec";
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {file},
           {file, "--chrome", "--json"},
           {file, "--chrome", other},
           {file, "--folded", file},
           {file, "--json", "--filter=a=b=c"},
           {file, "--junit", "--filter=info"},
           {file, "--junit", "--run=latest"},
           {file, "--junit", other},
       }) {
    Outcome const outcome = export_to(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    std::string message = "testlog export";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    messages += std::regex_replace(message + "\n" + outcome.err + "\n", std::regex(folder_ / ""), "");
  }
  tracing::testing::expect_approved("export_mistakes.txt", messages);
  EXPECT_EQ(content_of(other), content_of(file));
}

}  // namespace
