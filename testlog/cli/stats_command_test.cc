// `testlog stats`: it counts what the other commands show of a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/approval.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing_test::record_to;

void work(int count) {
  TRACE_SPAN(info, "outer", tracing::target("lib"));
  for (int i = 0; i < count; ++i) {
    TRACE_SPAN(debug, "inner", tracing::target("lib::detail"), i);
  }
}

class Stats : public testing::Test {
 protected:
  // Records what `f` does. Returns the path.
  template <class F>
  std::string record(std::string_view name, F f) const {
    return record_to({.path = folder_ / name}, f);
  }
  static Outcome stats(std::vector<std::string> const& arguments) { return run_command("stats", arguments); }
  static json groups(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    Outcome const outcome = stats(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out).at("groups");
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Stats, CountTheSpansOfAllRecordings) {
  std::string const one = record("one.rec", [] { work(3); }), other = record("other.rec", [] { work(4); });
  json const all = groups({one, other, "--sort=name"});
  ASSERT_EQ(all.size(), 1u);
  json const& spans = all[0]["spans"];
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0]["name"], "lib::detail::inner");
  EXPECT_EQ(spans[0]["calls"], 7);
  EXPECT_EQ(spans[1]["name"], "lib::outer");
  EXPECT_EQ(spans[1]["calls"], 2);
}

TEST_F(Stats, HaveTheTimesOfTheOtherFormats) {
  std::string const file = record("a.rec", [] {
    for (int i = 0; i < 100; ++i) work(i % 5);
  });
  std::map<std::string, std::uint64_t> folded, self;
  std::istringstream lines(run_command("export", {file, "--folded"}).out);
  for (std::string line; std::getline(lines, line);) {
    std::size_t const space = line.rfind(' '), semicolon = line.rfind(';', space);
    if (semicolon != line.npos)
      folded[line.substr(semicolon + 1, space - semicolon - 1)] += std::stoull(line.substr(space));
  }
  json const all = groups({file});
  for (json const& span : all[0]["spans"]) self[span["name"]] = span["self_ns"];
  EXPECT_EQ(self.size(), 2u);
  EXPECT_EQ(self, folded);

  std::map<std::string, std::pair<int, double>> slices, calls;
  std::vector<std::pair<std::string, double>> open;
  json const trace = json::parse(run_command("export", {file, "--chrome"}).out);
  for (json const& record : trace) {
    if (record["ph"] == "B") open.emplace_back(record["name"], record["ts"]);
    if (record["ph"] != "E") continue;
    auto& [count, time] = slices[open.back().first];
    ++count;
    time += record["ts"].get<double>() - open.back().second;
    open.pop_back();
  }
  for (json const& span : all[0]["spans"]) {
    std::string const name = span["name"];
    calls[name.substr(name.rfind(':') + 1)] = {span["calls"], span["total_ns"].get<double>() / 1000};
  }
  ASSERT_EQ(slices.size(), 2u);
  for (auto const& [name, slice] : slices) {
    EXPECT_EQ(slice.first, calls[name].first) << name;
    EXPECT_NEAR(slice.second, calls[name].second, 0.01) << name;
  }
}

TEST_F(Stats, AreGroupedByThread) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "a.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  for (std::string const name : {"loader", "runner"}) {
    std::thread([&] {
      tracing::set_thread_name(name);
      tracing::with_default(registry, [] { work(1); });
    }).join();
  }
  std::string const text = stats({folder_ / "a.rec", "--by=thread"}).out;
  EXPECT_THAT(text, StartsWith("---- loader ----\nSpans\n"));
  EXPECT_THAT(text, HasSubstr("\n\n---- runner ----\nSpans\n"));
  json const all = groups({folder_ / "a.rec", "--by=thread"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]["name"], "runner");
  EXPECT_EQ(all[1]["spans"][0]["calls"], 1);
  EXPECT_EQ(groups({folder_ / "a.rec", "--by=target"})[0]["name"], "lib");
}

TEST_F(Stats, AreSortedAndCut) {
  std::string const file = record("a.rec", [] { work(3); });
  std::string const text = stats({file, "--sort=calls", "--top=1"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("lib::detail::inner\n ... 1 more\n"), Not(HasSubstr("outer"))));
  EXPECT_EQ(groups({file, "--sort=total", "--top=1"})[0]["spans"][0]["name"], "lib::outer");
  EXPECT_EQ(groups({file, "--top=1"})[0]["spans"].size(), 2u) << "JSON has all";
}

TEST_F(Stats, HaveOnlyWhatTheFilterSelects) {
  json const all = groups({record("a.rec", [] { work(3); }), "--filter=info"});
  ASSERT_EQ(all[0]["spans"].size(), 1u);
  EXPECT_EQ(all[0]["spans"][0]["name"], "lib::outer");
  EXPECT_EQ(all[0]["spans"][0]["self_ns"], all[0]["spans"][0]["total_ns"]);
}

TEST_F(Stats, AreColouredOnRequest) {
  std::string const file = record("a.rec", [] { work(1); });
  EXPECT_THAT(stats({file, "--color=always"}).out, StartsWith("\x1b[1mSpans\x1b[0m\n"));
  EXPECT_THAT(stats({file}).out, StartsWith("Spans\n"));
}

TEST_F(Stats, SayWhatIsMissing) {
  record_to({.path = folder_ / "small.rec", .limit_bytes = 1}, [] { work(100'000); });
  Outcome const outcome = stats({folder_ / "small.rec"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr(" earlier records were overwritten; TRACE_RECORD_LIMIT keeps more\n"));
}

TEST_F(Stats, ExplainMistakes) {
  std::string const file = record("a.rec", [] { work(1); });
  std::string const empty = record("empty.rec", [] { TRACE_INFO("no span"); });
  std::string messages;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {file, "--sort=speed"},
           {file, "--by=process"},
           {file, "--top=-1"},
           {file, "--filter=a=b=c"},
           {file, "--percentile=99"},
           {file, "--test=Pool.*"},
           {file, "--filter=off"},
           {empty},
           {folder_ / "missing.rec"},
           {folder_.write("text.rec", std::string(5000, 'x'))},
       }) {
    Outcome const outcome = stats(arguments);
    EXPECT_EQ(outcome.out, "");
    std::string message = "testlog stats";
    for (std::string const& argument : arguments) message.append(" ").append(argument);
    message += " -> " + std::to_string(outcome.exit_code) + "\n" + outcome.err + "\n";
    messages += std::regex_replace(message, std::regex(folder_ / ""), "");
  }
  tracing::testing::expect_approved("stats_mistakes.txt", messages);
  Outcome const partly = stats({file, folder_ / "missing.rec"});
  EXPECT_EQ(partly.exit_code, 1) << "what can be read is printed all the same";
  EXPECT_THAT(partly.out, HasSubstr("lib::outer"));
}

}  // namespace
