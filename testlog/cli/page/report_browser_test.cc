// The page of `testlog report` in a browser: what it shows, its text, filters and keys. If TESTLOG_SCREENSHOTS names a
// folder, screenshots are put there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/page/report_test_support.h"
#include "tests/support/firefox.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/past_span.h"

namespace testlog::cli::page { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class Report : public ReportInBrowser {
 protected:
  std::string record() {
    why::TestRecorder recorder(folder_ / "a.rec");
    work_and_fail(recorder);
    return folder_ / "a.rec";
  }
  std::string shown(std::string const& test, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--test", test, "--report", "lines"});
    return run_command("show", arguments).out;
  }
};

TEST_F(Report, ShowsTheFailureFirst) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  keep_screenshot("report");
  EXPECT_EQ(evaluate("document.title"), "testlog report: 1 of 2 tests failed");
  EXPECT_THAT(text_of("h1"), AllOf(HasSubstr("failed"), HasSubstr("Pool.Grows")));
  EXPECT_THAT(text_of(".causes"), HasSubstr("1 test: testlog::cli::page: cannot grow"));
  EXPECT_THAT(text_of(".summary"),
              AllOf(HasSubstr("Expected: pool.grow()\nto be true"), HasSubstr("src/pool_test.cc:21")));
  EXPECT_EQ(selected(), "src/pool_test.cc:21: Failure");
  EXPECT_EQ(text_of("#rows [aria-selected=true]"), "src/pool_test.cc:21: Failure");
  EXPECT_EQ(evaluate("ui.timeline.instant === page.block.time[page.block.failure]"), true);
  EXPECT_EQ(evaluate("[...document.querySelectorAll('#tests [role=option]')].map((row) => row.title).join()"),
            "Pool.Grows,Pool.Shrinks");
}

TEST_F(Report, ShowsWhenAndWhereSpansBegan) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  evaluate("ui.rows.first = 0, ui.rows.draw()");
  EXPECT_THAT(text_of("#rows .span"),
              MatchesRegex(R"(.* \[worker-1[ 0-9]*\] +\+[0-9]+\.[0-9]+ ms job\{stream=7\} [0-9.]+ .*s)"));
  EXPECT_EQ(evaluate("document.querySelectorAll('#rows .span')[1].querySelector('.label').textContent"), "")
      << "the main thread has no label";
}

TEST_F(Report, BindsRowsAndTheTimeline) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  evaluate(
      "selectRow([...page.visible].findIndex((row) => row >= 0 && textOf(rowParts(row, "
      "lineOptions())).includes('slow')))");
  EXPECT_EQ(evaluate("page.block.sites[page.block.spanSite[ui.timeline.selected]].name"), "load");
  EXPECT_THAT(text_of(".details"),
              AllOf(HasSubstr("took_us-1200"), HasSubstr("inside"), HasSubstr("report_test_support.h")));
  // A click on the slice of `job` selects its row.
  Json const at = evaluate(R"((() => {
    const {block} = page, span = [...block.spanSite.keys()].find((s) => s > 0 && block.sites[block.spanSite[s]].name === "job");
    ui.timeline.zoomTo(span);
    ui.timeline.draw();
    const box = ui.timeline.canvas.getBoundingClientRect();
    return [box.x + ui.timeline.x(block.begin[span] + block.duration[span] / 2), box.y + AXIS + block.lanes.of[span] * LANE + 8];
  })())");
  browser_->click(at[0], at[1]);
  EXPECT_EQ(selected(), "job{stream=7}");
}

// Values of every kind, values that come later, spans without a thread, records of other threads and other times.
void record_all_kinds(why::TestRecorder& recorder) {
  recorder.run("All.Kinds", [&] {
    auto const late = TRACE_MAKE_SPAN(info, "late", tracing::kv("before", 1), tracing::kv("after", tracing::empty));
    late.in_scope([&] { TRACE_INFO("before the value"); });
    late.record(tracing::kv("after", "now"));
    late.in_scope([&] { TRACE_INFO("after the value"); });
    TRACE_INFO("numbers", tracing::kv("big", ~0ULL), tracing::kv("small", INT64_MIN), tracing::kv("half", 0.5F),
               tracing::kv("nan", 0.0 / 0.0), tracing::kv("yes", true),
               tracing::kv("at", static_cast<void const*>("x")));
    TRACE_WARN("texts {} {:>5} {:.2f}", "a\tb", 7, 3.14159, tracing::kv("r#type", "\x1b[31m \xff \u2028 \"q\""));
    TRACE_ERROR("failed", tracing::kv("error", std::make_error_code(std::errc::io_error)));
    TRACE_INFO("several\nlines {}", 1);
    recorder.thread("worker\u202e", [] { TRACE_DEBUG("elsewhere"); }).join();
    TRACE_INFO("logged", tracing::kv("log.file", "x.cc"), tracing::kv("none", static_cast<char const*>(nullptr)));
    return "passed";
  });
}

TEST_F(Report, HasTheTextThatShowPrints) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    work_and_fail(recorder);
    record_all_kinds(recorder);
  }
  ASSERT_NO_FATAL_FAILURE(open({"--all", folder_ / "a.rec"}));
  for (std::string const test : {"Pool.Grows", "Pool.Shrinks", "All.Kinds"}) {
    ASSERT_NO_FATAL_FAILURE(choose(test));
    EXPECT_EQ(lines(), shown(test, {folder_ / "a.rec"}));
  }
  EXPECT_THAT(shown("All.Kinds", {folder_ / "a.rec"}), HasSubstr("late{before=1 after=\"now\"}"));
}

TEST_F(Report, FiltersAsShowDoes) {
  std::string const file = record();
  ASSERT_NO_FATAL_FAILURE(open({file}));
  for (std::string const filter :
       {"warn", "off", "info,[load]=trace", "[load{rows=16}]=trace", "[load{rows=17}]=trace",
        "warn,[request{id=7}]=debug", R"([request{path="a,b"}]=info)", "[request{path=a.*}]=debug",
        "[load{ratio=0.5}]=trace", "testlog=debug,[job]=info", "nothing=trace", "[{took_us}]=trace",
        "warn,[{stream=7}]=trace", "error,testlog::cli::page=3"}) {
    type("#filter", filter);
    ASSERT_TRUE(becomes("page.filter !== null && location.hash.includes(new URLSearchParams({filter: " +
                        Json(filter).dump() + "}).toString())"))
        << filter;
    EXPECT_EQ(lines(), shown("Pool.Grows", {file, "--filter", filter})) << filter;
  }
  type("#filter", "info,[load{rows=1]=trace");
  EXPECT_TRUE(becomes("ui.filterError.textContent !== ''"));
  EXPECT_EQ(evaluate("ui.filter.getAttribute('aria-invalid')"), "true");
  EXPECT_THAT(text_of("#filter-error"), HasSubstr("never closed"));
}

TEST_F(Report, FindsTextAndTests) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  type("#find", "CANNOT");
  ASSERT_TRUE(becomes("page.visible.length === 1"));
  EXPECT_THAT(lines(), HasSubstr("cannot grow size=4096"));
  EXPECT_THAT(text_of("#panel-records .filters .note"), HasSubstr("1 of 10 lines, 0 of 3 spans"));
  EXPECT_THAT(selected(), HasSubstr("cannot grow")) << "what is selected is in sight";
  EXPECT_EQ(evaluate("ui.timeline.shown.lines.filter((one) => one).length"), 1);
  type("#find", "no such text");
  ASSERT_TRUE(becomes("page.visible.length === 0"));
  EXPECT_EQ(evaluate("ui.timeline.instant"), nullptr);
  evaluate("goToFailure()");
  EXPECT_EQ(selected(), "src/pool_test.cc:21: Failure");
  EXPECT_EQ(evaluate("ui.timeline.shown"), nullptr);
  type("#search", "s:passed");
  ASSERT_TRUE(becomes("page.shown.length === 1"));
  EXPECT_EQ(evaluate("page.index.tests[page.shown[0]].name"), "Pool.Shrinks");
  type("#search", "[load{rows}] pool");
  ASSERT_TRUE(becomes("page.shown.length === 1 && page.index.tests[page.shown[0]].name === 'Pool.Grows'"));
  type("#search", "[nothing]");
  ASSERT_TRUE(becomes("page.shown.length === 0"));
}

TEST_F(Report, ListsTestsInTheOrderOfTheRun) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Pool.Shrinks", [] { return "passed"; });
    work_and_fail(recorder);
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  std::string const names = "page.shown.map((test) => page.index.tests[test].name).join()";
  EXPECT_EQ(evaluate(names), "Pool.Grows,Pool.Shrinks");
  evaluate("document.querySelector('nav .filters button').click()");
  EXPECT_EQ(evaluate(names), "Pool.Shrinks,Pool.Grows");
}

TEST_F(Report, ShowsPathsFromTheFolderOfAllSources) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  EXPECT_THAT(evaluate("page.root").get<std::string>(), testing::EndsWith("/testlog/cli/page/"));
  evaluate("goTo(page.block.failure - 1)");
  EXPECT_THAT(text_of(".details"), HasSubstr("statementreport_test_support.h:"));
  EXPECT_EQ(evaluate("[[], [''], ['/x.cc'], ['a/x.cc', 'b/x.cc'], ['/a/b/x.cc', '/a/c/y.cc', '/a/bb/c/z.cc'], "
                     "['/a/b/c.cc']].map(rootOf)"),
            (Json{"", "", "", "", "/a/", "/a/b/"}));
  EXPECT_THAT(text_of("#panel-about"), AllOf(HasSubstr("GoogleTest1.14.0"), HasSubstr("sources")));
}

TEST_F(Report, ObeysKeys) {
  ASSERT_NO_FATAL_FAILURE(open({"--all", record()}));
  evaluate("document.activeElement.blur()");
  auto const press = [this](std::string const& key) { browser_->press(key); };
  press("N");
  EXPECT_THAT(selected(), HasSubstr("cannot grow"));
  press("N");
  EXPECT_THAT(selected(), HasSubstr("slow took_us=-1200"));
  press("[");
  EXPECT_EQ(selected(), "load{rows=16 ratio=0.5}");
  press("[");
  EXPECT_EQ(selected(), R"(request{id=7 path="a,b"})");
  press("]");
  EXPECT_THAT(selected(), HasSubstr("preparing"));
  press("n");
  EXPECT_THAT(selected(), HasSubstr("slow"));
  press("t");
  EXPECT_THAT(selected(), HasSubstr("Z  WARN"));
  double const before = evaluate("ui.timeline.to - ui.timeline.from");
  press("w");
  EXPECT_LT(evaluate("ui.timeline.to - ui.timeline.from").get<double>(), before);
  press("j");
  EXPECT_TRUE(becomes("page.block && page.index.tests[page.test].name === 'Pool.Shrinks'"));
  press("k");
  EXPECT_TRUE(becomes("page.block && page.index.tests[page.test].name === 'Pool.Grows'"));
  press("/");
  EXPECT_EQ(evaluate("document.activeElement.id"), "search");
  press("Escape");
  press("f");
  EXPECT_EQ(evaluate("document.activeElement.id"), "filter");
  press("Escape");
  press("?");
  EXPECT_EQ(evaluate("ui.help.open"), true);
}

TEST_F(Report, FoldsSpansFromTheKeyboard) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  evaluate("ui.rowsElement.focus()");
  browser_->press("Home");
  EXPECT_EQ(selected(), "---- Pool.Grows ----");
  for (int i = 0; i < 3; ++i) browser_->press("ArrowDown");
  EXPECT_EQ(selected(), R"(request{id=7 path="a,b"})");
  int const rows = evaluate("page.visible.length");
  browser_->press("ArrowLeft");
  EXPECT_LT(evaluate("page.visible.length").get<int>(), rows);
  EXPECT_EQ(evaluate("document.querySelector('#rows [aria-selected=true]').getAttribute('aria-expanded')"), "false");
  browser_->press("ArrowRight");
  EXPECT_EQ(evaluate("page.visible.length").get<int>(), rows);
  EXPECT_THAT(selected(), HasSubstr("preparing"));
}

TEST_F(Report, KeepsItsStateInTheAddress) {
  std::string const file = record();
  ASSERT_NO_FATAL_FAILURE(open({"--all", file}, "#test=Pool.Shrinks&record=1&filter=info"));
  EXPECT_EQ(evaluate("page.index.tests[page.test].name"), "Pool.Shrinks");
  EXPECT_THAT(selected(), HasSubstr("shrinks"));
  EXPECT_EQ(evaluate("ui.filter.value"), "info");
  evaluate("selectRow(0)");
  EXPECT_EQ(evaluate("location.hash"), "#test=Pool.Shrinks&record=0&filter=info");
}

TEST_F(Report, ComparesAttemptsAndRunsThatPassed) {
  std::vector<std::string> files;
  for (int run = 0; run < 5; ++run) {
    files.push_back(folder_ / (std::to_string(run) + "/pool_test.rec"));
    std::filesystem::create_directory(folder_ / std::to_string(run));
    bool const fails = run == 3;
    why::TestRecorder recorder(files.back());
    recorder.run("Pool.Waits", [&] {
      TRACE_SPAN(info, "session", tracing::kv("id", run * 17));
      TRACE_INFO("waited", tracing::kv("in_time", !fails));
      if (fails) recorder.fail("too late");
      return fails ? "failed" : "passed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open(files));
  EXPECT_THAT(text_of("h1"), HasSubstr("flaky"));
  EXPECT_THAT(selected(), HasSubstr("waited in_time=false")) << "the first difference of the attempt that failed";
  EXPECT_THAT(text_of("#rows [aria-selected=true]"), StartsWith("\u2460 "));
  EXPECT_THAT(text_of(".summary"), HasSubstr("in_time is false; true in"));
  // A difference selects its record, even if a filter hides it.
  type("#filter", "error");
  ASSERT_TRUE(becomes("page.visible.length < 5 && location.hash.includes('filter=error')"));
  evaluate("document.querySelector('.summary li button').click()");
  ASSERT_TRUE(becomes("ui.filter.value === '' && page.selected !== null"));
  EXPECT_THAT(selected(), HasSubstr("waited in_time=false"));
  EXPECT_EQ(evaluate("ui.timeline.instant === page.block.time[page.selected]"), true);
  EXPECT_EQ(text_of(".summary li code"), evaluate("relativeTime(page.block, page.block.time[page.selected]).trim()"));
  EXPECT_EQ(evaluate("ui.tabs.get('attempts').tabButton.click(), document.querySelectorAll('#panel-attempts "
                     "tbody')[0].rows.length"),
            5);
  EXPECT_THAT(text_of("#panel-attempts .diff .differs"), AllOf(HasSubstr("in_time=false"), HasSubstr("in_time=true")));
  keep_screenshot("report_attempts");
}

TEST_F(Report, OpensAtTheFirstDifferenceHoweverFarItIsFromTheFailure) {
  std::vector<std::string> files;
  for (int run = 0; run < 4; ++run) {
    files.push_back(folder_ / (std::to_string(run) + "/pool_test.rec"));
    std::filesystem::create_directory(folder_ / std::to_string(run));
    bool const fails = run == 3;
    why::TestRecorder recorder(files.back());
    recorder.run("Pool.Waits", [&] {
      for (int i = 0; i < 100; ++i) TRACE_INFO("step");
      TRACE_INFO("waited", tracing::kv("in_time", !fails));
      for (int i = 0; i < 100; ++i) TRACE_INFO("step");
      if (fails) recorder.fail("too late");
      return fails ? "failed" : "passed";
    });
  }
  std::filesystem::rename(folder_ / "3/pool_test.rec", folder_ / "4.rec");  // the newest
  files.back() = folder_ / "4.rec";
  ASSERT_NO_FATAL_FAILURE(open(files));
  keep_screenshot("report_difference");
  EXPECT_THAT(text_of(".causes button"), MatchesRegex("1 test: failed at pool_test.cc:21: .* \"waited\": in_time is "
                                                      "false; true in 3 of 3 passing runs"));
  EXPECT_THAT(text_of("#rows [aria-selected=true]"), AllOf(StartsWith("\u2460 "), HasSubstr("in_time=false")));
  EXPECT_TRUE(
      becomes("document.querySelector('#rows .row:last-of-type').getBoundingClientRect().bottom >= "
              "document.querySelector('#rows').getBoundingClientRect().bottom"))
      << "rows fill the list";
  evaluate("document.querySelector('.actions button').click()");
  EXPECT_EQ(selected(), "src/pool_test.cc:21: Failure");
}

TEST_F(Report, CausesSayWhatTheAssertionSaid) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Pool.Grows", [&recorder] {
      recorder.fail("Expected: pool.grow()\nto be true");
      return "failed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  EXPECT_EQ(text_of(".causes button"), "1 test: failed at pool_test.cc:21: Expected: pool.grow() to be true");
}

TEST_F(Report, SaysWhichCallLaunchedWorkOfAGpu) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Pool.Grows", [&recorder] {
      static tracing::RuntimeCallsite const site({.kind = tracing::Kind::span, .name = "memset", .fields = {"bytes"}});
      tracing::Value const values[] = {tracing::Value::of_u64(4)};
      tracing::Span const call = TRACE_MAKE_SPAN(info, "set", tracing::kv("value", 7));
      tracing::emit_past_span(site.callsite(), values, {{9001, "GPU 0 stream 1"}, {1000}, {2000}}, call);
      recorder.fail("wrong");
      return "failed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  evaluate("goTo(-[...page.block.spanSite.keys()].find((s) => s > 0 && spanParts(page.block, s)[0][1] === 'memset'))");
  EXPECT_THAT(text_of("#rows [aria-selected=true]"), testing::EndsWith("memset{bytes=4} 1.00 µs from set{value=7}"));
  EXPECT_THAT(text_of(".details"), HasSubstr("fromset{value=7}"));
}

TEST_F(Report, PutsWhatWasNotReachedAfterTheDifferences) {
  std::vector<std::string> files;
  for (int run = 0; run < 3; ++run) {
    files.push_back(folder_ / (std::to_string(run) + "/pool_test.rec"));
    std::filesystem::create_directory(folder_ / std::to_string(run));
    bool const fails = run == 2;
    why::TestRecorder recorder(files.back());
    recorder.run("Pool.Waits", [&] {
      {
        TRACE_SPAN(info, "session");
        if (!fails) TRACE_INFO("closed");
      }
      recorder.thread("helper", [] { TRACE_INFO("helps"); }).join();
      if (!fails) recorder.thread("cleaner", [] { TRACE_INFO("cleans"); }).join();
      TRACE_INFO("waited", tracing::kv("in_time", !fails));
      if (fails) recorder.fail("too late");
      for (int i = 0; i < 300 && !fails; ++i) {
        TRACE_INFO("step");
        TRACE_INFO("rest");
      }
      return fails ? "failed" : "passed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open(files));
  evaluate("showTab('attempts')");
  EXPECT_EQ(evaluate("page.index.tests[0].diff.slice(0, 10).map((row) => row.join('|'))"),
            (Json{"|... 1 equal|... 1 equal", "|session|session", "+||  \"closed\"",
                  "~|\"waited\" in_time=false|\"waited\" in_time=true", "=|What the failing run did not reach|",
                  "+||[cleaner]", "+||  \"cleans\"", "+||\"step\"", "+||\"rest\"", "+||\"step\""}));
  EXPECT_THAT(text_of("#panel-attempts"),
              AllOf(HasSubstr("107 further rows are left out"), HasSubstr("+ only in the run that passed, ~ differs")));
}

TEST_F(Report, SumsUpSpansAsATree) {
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  evaluate("ui.tabs.get('tree').tabButton.click()");
  EXPECT_EQ(evaluate("[...document.querySelectorAll('.tree tbody th')].map((one) => one.textContent).sort().join()"),
            "job,load,request");
  EXPECT_EQ(evaluate("treeOf(page.block).every((row) => row.total >= row.self && row.self >= 0)"), true);
}

TEST_F(Report, ShowsWhereATestEndedThatDidNotSayHow) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Pool.Hangs", [] {
      TRACE_INFO("the last record");
      return "";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  EXPECT_THAT(text_of("h1"), HasSubstr("did not end"));
  EXPECT_THAT(selected(), HasSubstr("the last record"));
}

// Nothing of these texts may become markup, a script or a style, or end the page's own.
TEST_F(Report, ShowsHostileTextAsText) {
  std::string const evil = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>\u2028`${owned}`";
  std::string const megabyte(1 << 20, 'x');
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    for (std::string const& name : {evil, std::string("__proto__"), std::string("constructor"), megabyte + "\xff"}) {
      recorder.run(name, [&] {
        TRACE_SPAN(info, "__proto__", tracing::kv("__proto__", evil), tracing::kv("toString", megabyte));
        TRACE_INFO("{}", evil, tracing::kv("bytes", "\xff\xfe\x80"), tracing::kv("text", name));
        recorder.thread(evil, [&] { TRACE_INFO("hasOwnProperty", tracing::kv("constructor", evil)); }).join();
        recorder.fail(evil);
        return "failed";
      });
    }
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  int const scripts = evaluate("document.querySelectorAll('script:not([type])').length");
  EXPECT_EQ(scripts, 1);
  EXPECT_EQ(evaluate("document.querySelectorAll('img, iframe, object').length"), 0);
  for (std::string const& test : {evil, std::string("__proto__"), std::string("constructor")}) {
    ASSERT_NO_FATAL_FAILURE(choose(test));
    EXPECT_EQ(lines(), shown(test, {folder_ / "a.rec"}));
    for (std::string const tab : {"tree", "attempts", "about", "records"}) evaluate("showTab('" + tab + "')");
    EXPECT_THAT(evaluate("markdownOf(page.index.tests[page.test])").get<std::string>(), HasSubstr("</script>"));
  }
  evaluate("void openTest(page.index.tests.findIndex((one) => one.name.startsWith('xxxx')))");
  ASSERT_TRUE(becomes("page.block !== null && page.index.tests[page.test].name.startsWith('xxxx')"));
  type("#filter", "[__proto__{__proto__=.*}]=info");
  EXPECT_TRUE(becomes("page.filter !== null"));
  type("#search", "constructor");
  EXPECT_TRUE(becomes("page.shown.length === 1"));
  EXPECT_EQ(evaluate("window.owned === undefined && ({}).owned === undefined"), true);
}

TEST_F(Report, ShowsAnEmptyRun) {
  { why::TestRecorder const recorder(folder_ / "a.rec"); }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  EXPECT_THAT(text_of("h1"), HasSubstr("a"));
  browser_->press("n");
  browser_->press("j");
  browser_->press("w");
}

TEST_F(Report, CutsTheMiddleOfLongTests) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Long.Test", [&] {
      for (int i = 0; i < 20'000; ++i) TRACE_INFO("step", tracing::kv("hash", i * 2654435761U));
      recorder.fail("at last");
      return "failed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec", "--max=150k"}));
  EXPECT_LT(folder_.read("report.html").size(), 150'000U);
  EXPECT_THAT(text_of("#panel-records .note"), HasSubstr("lines in the middle are left out"));
  EXPECT_THAT(lines(), AllOf(StartsWith("---- Long.Test"), HasSubstr("at last")));
  evaluate("selectRow(rowOf(page.block.cut - 1))");
  EXPECT_EQ(evaluate("document.querySelectorAll('.before-cut').length"), 1);
}

TEST_F(Report, PutsTheRowsAroundTheFailureOnPaper) {
  {
    why::TestRecorder recorder(folder_ / "a.rec");
    recorder.run("Long.Test", [&] {
      for (int i = 0; i < 1000; ++i) TRACE_INFO("step", tracing::kv("i", i));
      recorder.fail("at last");
      return "failed";
    });
  }
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "a.rec"}));
  Json const printed = evaluate(
      "(dispatchEvent(new Event('beforeprint')), [...document.querySelectorAll('#rows .row')].map((row) => "
      "row.textContent))");
  EXPECT_EQ(printed.size(), 300);
  EXPECT_THAT(printed, testing::Contains("src/pool_test.cc:21: Failure"));
  EXPECT_EQ(evaluate("ui.paper.textContent"), "Rows 705 to 1004 of 1004:");
  evaluate("dispatchEvent(new Event('afterprint'))");
  EXPECT_LT(evaluate("document.querySelectorAll('#rows .row').length").get<int>(), 100);
}

// Returns the script of axe-core, which finds what hinders users of screen readers and keyboards. It is installed on
// first use. If it cannot be installed, returns an empty text and sets `why`.
std::string axe_script(std::string& why) {
  std::string const folder = TESTLOG_AXE, file = folder + "/node_modules/axe-core/axe.min.js";
  if (!std::filesystem::exists(file)) {
    std::filesystem::create_directories(folder);
    Outcome const installed =
        testdata::run({"/usr/bin/env", "npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit",
                       "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000", "axe-core@4.10.3"});
    if (!std::filesystem::exists(file)) return why = "npm did not install axe-core: " + installed.err, "";
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(Report, IsAccessible) {
  std::string why;
  std::string const axe = axe_script(why);
  if (axe.empty()) GTEST_SKIP() << why;
  ASSERT_NO_FATAL_FAILURE(open({"--all", record()}));
  evaluate(axe + "; undefined");
  for (std::string const tab : {"records", "tree", "attempts", "about"}) {
    evaluate(
        "showTab('" + tab +
        "'), window.found = undefined, void axe.run({resultTypes: ['violations']}).then((result) => { window.found = "
        "result.violations.flatMap((one) => one.nodes.map((node) => one.id + ': ' + node.target + ': ' + "
        "node.failureSummary)); })");
    ASSERT_TRUE(becomes("window.found !== undefined")) << tab;
    EXPECT_THAT(evaluate("window.found"), testing::IsEmpty()) << tab;
  }
}

TEST_F(Report, WorksInFirefox) {
  std::string const program = tracing_test::find_firefox();
  if (program.empty()) GTEST_SKIP() << "Firefox is not installed (tools/setup.sh browser installs it)";
  std::string const file = record();
  ASSERT_EQ(write({file}).exit_code, 0);
  tracing_test::Firefox firefox(program);
  firefox.open("file://" + folder_ / "report.html#filter=[load{rows=16}]=trace");
  auto const is_ready = [&firefox] { return firefox.run("return document.documentElement.dataset.ready") == "true"; };
  for (int i = 0; i < 500 && !is_ready(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(is_ready());
  EXPECT_EQ(firefox.run(R"(return [...document.querySelectorAll("#rows .line")].map((row) => {
              const parts = [...row.childNodes], time = parts.findIndex((one) => one.className === "time");
              if (time >= 0) parts.splice(time, 2);  // with the blank after it
              return parts.map((one) => one.textContent).join("") + "\n";
            }).join(""))"),
            shown("Pool.Grows", {file, "--time=none", "--filter", "[load{rows=16}]=trace"}));
  EXPECT_EQ(firefox.run("return document.querySelector('#rows [aria-selected=true]').textContent"),
            "src/pool_test.cc:21: Failure");
}

// 320 pixels are what 400% zoom leaves of 1280.
TEST_F(Report, FitsInANarrowWindow) {
  browser_ = std::make_unique<tracing_test::Browser>(tracing_test::find_browser(), 500, 900);
  ASSERT_NO_FATAL_FAILURE(open({record()}));
  evaluate("document.documentElement.style.width = '320px'");
  EXPECT_LE(evaluate("Math.max(...[...document.querySelectorAll('main > *, nav > *')].map((one) => "
                     "one.getBoundingClientRect().right))")
                .get<double>(),
            320);
  EXPECT_LT(evaluate("document.querySelector('.summary').getBoundingClientRect().top"), 150)
      << "the failure comes first";
  evaluate("document.querySelector('.skip').click()");
  EXPECT_EQ(evaluate("document.activeElement.id"), "search");
  EXPECT_EQ(evaluate("getComputedStyle(document.querySelector('#rows .row')).whiteSpace"), "pre-wrap");
  evaluate("scrollTo(0, 0)");
  keep_screenshot("report_narrow");
}

}}  // namespace testlog::cli::page
