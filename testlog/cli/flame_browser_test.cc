// The pictures of `testlog flame` in a browser: zooming, searching, details. If TESTLOG_SCREENSHOTS names a folder,
// screenshots are put there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/browser.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;
using tracing_test::Browser;
using tracing_test::TemporaryFolder;

constexpr char kRun[] =
    "main 100\n"
    "main;kernels::launch 100\n"
    "main;kernels::launch;kernels::compile 300\n"
    "main;kernels::launch;kernels::compile;passes::unroll<std::vector<int> > 100\n"
    "main;kernels::launch;kernels::run 200\n"
    "main;memory::copy_to_host 190\n"
    "main;memory::copy_to_host;a<b>&c 10\n";

// A frame as the picture shows it.
struct Shown {
  double x = 0;  // of its left upper corner
  double y = 0;
  double width = 0;
  bool is_gone = false;
  std::string classes;
  std::string text;
  std::string title;
};

class FlameInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    std::string const program = tracing_test::find_browser();
    if (program.empty()) GTEST_SKIP() << "Chromium is not installed (tools/setup.sh browser installs it)";
    browser_ = std::make_unique<Browser>(program, 1240, 260);
  }
  void TearDown() override {
    if (browser_ == nullptr) return;
    EXPECT_THAT(browser_->script_errors(), IsEmpty());
    EXPECT_THAT(browser_->requests(), testing::Each(StartsWith("file://" + folder_ / "")))
        << "a picture makes no requests";
  }

  void open(std::vector<std::string> const& options, std::string_view lines = kRun) {
    std::vector<std::string> words{TESTLOG_COMMAND, "flame", folder_.write("run.folded", lines), "-o",
                                   folder_ / "run.svg"};
    words.insert(words.end(), options.begin(), options.end());
    testlog::testdata::Outcome const outcome = testlog::testdata::run(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    browser_->open("file://" + folder_ / "run.svg");
  }

  // Returns the frame whose title begins with `name`.
  Shown frame(std::string const& name) {
    Browser::Json const found = browser_->evaluate(R"((function (name) {
      const node = Array.from(document.querySelectorAll(".f")).find(
        (f) => f.querySelector("title").textContent.startsWith(name + " ("));
      const box = node.querySelector("rect").getBoundingClientRect();
      const text = node.querySelector("text");
      return [box.x, box.y, box.width, getComputedStyle(node).display === "none", node.getAttribute("class"),
              text ? text.textContent : "", node.querySelector("title").textContent];
    })()" + std::string("(") + Browser::Json(name).dump() +
                                                   "))");
    return {found[0], found[1], found[2], found[3], found[4], found[5], found[6]};
  }
  std::string text_of(std::string const& selector) {
    return browser_->evaluate("document.querySelector('" + selector + "').textContent");
  }
  std::string state(std::string const& name) { return browser_->evaluate("document.documentElement.dataset." + name); }
  bool is_shown(std::string const& selector) {
    return browser_->evaluate("getComputedStyle(document.querySelector('" + selector + "')).display !== 'none'");
  }

  void click(Shown const& frame) { browser_->click(frame.x + frame.width / 2, frame.y + 8); }
  void click(std::string const& selector) {
    Browser::Json const box =
        browser_->evaluate("(function () { const box = document.querySelector('" + selector +
                           "').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()");
    browser_->click(box[0], box[1]);
  }
  void keep_screenshot(std::string const& name) {
    char const* const folder = std::getenv("TESTLOG_SCREENSHOTS");
    if (folder == nullptr) return;
    std::ofstream(std::string(folder) + '/' + name + ".png", std::ios::binary) << browser_->screenshot();
  }

  TemporaryFolder const folder_;
  std::unique_ptr<Browser> browser_;
};

// Matches the width of a frame with this share of 1180 pixels.
auto is_percent(double percent) { return testing::DoubleNear(11.8 * percent, 0.1); }

TEST_F(FlameInBrowser, ZoomsByClicks) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  keep_screenshot("opened");
  EXPECT_THAT(frame("kernels::launch").width, is_percent(70));
  EXPECT_THAT(frame("kernels::compile").width, is_percent(40));
  EXPECT_THAT(frame("passes::unroll<std::vector<int> >").text, AllOf(StartsWith("unroll<"), EndsWith("\xe2\x80\xa6")));
  EXPECT_FALSE(is_shown(".reset"));
  double const y = frame("kernels::compile").y;

  click(frame("kernels::compile"));
  keep_screenshot("zoomed");
  EXPECT_EQ(state("zoom"), "kernels::compile");
  EXPECT_THAT(frame("kernels::compile").width, is_percent(100));
  EXPECT_EQ(frame("kernels::compile").y, y) << "a frame stays in its row";
  EXPECT_THAT(frame("kernels::compile").x, testing::DoubleNear(10, 0.1));
  // The frame follows compile's own part, 300 of its 400.
  EXPECT_THAT(frame("passes::unroll<std::vector<int> >").width, is_percent(25));
  EXPECT_THAT(frame("passes::unroll<std::vector<int> >").x - 10, is_percent(75));
  EXPECT_EQ(frame("passes::unroll<std::vector<int> >").text, "passes::unroll<std::vector<int> >")
      << "there is room now";
  for (char const* const below : {"all", "main", "kernels::launch"}) {
    EXPECT_THAT(frame(below).width, is_percent(100)) << below;
    EXPECT_EQ(frame(below).classes, "f under") << below;
  }
  EXPECT_TRUE(frame("kernels::run").is_gone);
  EXPECT_TRUE(frame("memory::copy_to_host").is_gone);
  EXPECT_TRUE(is_shown(".reset"));

  click(frame("kernels::launch"));
  EXPECT_EQ(state("zoom"), "kernels::launch") << "from a zoom to a frame below";
  EXPECT_THAT(frame("kernels::run").width, is_percent(100 * 200 / 700.0));

  click(".reset");
  EXPECT_EQ(state("zoom"), "");
  EXPECT_FALSE(is_shown(".reset"));
  EXPECT_THAT(frame("kernels::launch").width, is_percent(70));
  EXPECT_THAT(frame("memory::copy_to_host").width, is_percent(20));
  EXPECT_FALSE(frame("memory::copy_to_host").is_gone);
  EXPECT_EQ(frame("main").classes, "f");

  click(frame("kernels::run"));
  EXPECT_EQ(state("zoom"), "kernels::run");
  browser_->press("Escape");
  EXPECT_EQ(state("zoom"), "");
  click(frame("kernels::run"));
  click(frame("all"));
  EXPECT_EQ(state("zoom"), "");
}

TEST_F(FlameInBrowser, SearchesByPattern) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  browser_->press("f", /*with_control=*/true);
  browser_->type("^KERNELS::(compile|run)$");
  keep_screenshot("searched");
  EXPECT_EQ(text_of(".matched"), "matched 60.00%") << "without regard to case";
  EXPECT_EQ(frame("kernels::compile").classes, "f hit");
  EXPECT_EQ(frame("kernels::run").classes, "f hit");
  EXPECT_EQ(frame("kernels::launch").classes, "f");

  click(frame("kernels::launch"));
  EXPECT_EQ(state("matched"), "85.71") << "600 of the 700 that are shown";
  browser_->press("Escape");
  EXPECT_EQ(text_of(".matched"), "") << "first the search ends";
  EXPECT_EQ(frame("kernels::run").classes, "f");
  EXPECT_EQ(state("zoom"), "kernels::launch");
  browser_->press("Escape");
  EXPECT_EQ(state("zoom"), "") << "then the zoom";

  click("input");
  browser_->type("kernels");
  EXPECT_EQ(state("matched"), "70.00") << "nested matches count once";
  browser_->press("Escape");
  click("input");
  browser_->type("a<b>&c");
  EXPECT_EQ(state("matched"), "1.00");
  browser_->press("Escape");
  click("input");
  browser_->type("unroll<(");
  EXPECT_EQ(state("matched"), "0.00") << "an invalid pattern is searched for as text";
  EXPECT_EQ(browser_->evaluate("document.querySelector('input').getAttribute('class')"), "wrong");
  browser_->press("Escape");
  click("input");
  browser_->type("nothing of this name");
  EXPECT_EQ(state("matched"), "0.00");
}

TEST_F(FlameInBrowser, ShowsTheFrameUnderThePointer) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  Shown const compile = frame("kernels::compile");
  EXPECT_EQ(compile.title, "kernels::compile (400 ns, 40.00%)") << "the tooltip";
  browser_->move_to(compile.x + 5, compile.y + 5);
  keep_screenshot("pointed");
  EXPECT_EQ(text_of(".details"), "kernels::compile: 400 ns, 40.00% of all; own 300 ns");
  Shown const special = frame("a<b>&c");
  browser_->move_to(special.x + 2, special.y + 5);
  EXPECT_EQ(text_of(".details"), "a<b>&c: 10 ns, 1.00% of all; own 10 ns");
  browser_->move_to(600, 10);
  EXPECT_EQ(text_of(".details"), "");

  ASSERT_NO_FATAL_FAILURE(open({"--unit", "ms"}));
  Shown const main = frame("main");
  browser_->move_to(main.x + 5, main.y + 5);
  EXPECT_EQ(text_of(".details"), "main: 1,000 ms = 1.000 s, 100.00% of all; own 100 ms");
}

TEST_F(FlameInBrowser, ShowsChartsAndComparisons) {
  ASSERT_NO_FATAL_FAILURE(open({"--flamechart", "--colors", "module", "--title", "Chart"}, "a 10\nb;c 20\na 70\n"));
  keep_screenshot("chart");
  click(frame("c"));
  EXPECT_EQ(state("zoom"), "c");
  EXPECT_THAT(frame("b").width, is_percent(100));

  std::string const before = folder_.write("before", "main;a 10\nmain;b 30\n");
  ASSERT_NO_FATAL_FAILURE(open({"--diff", before}, "main;a 20\nmain;b 20\n"));
  keep_screenshot("comparison");
  Shown const a = frame("a");
  EXPECT_THAT(a.width, is_percent(50));
  browser_->move_to(a.x + 5, a.y + 5);
  EXPECT_EQ(text_of(".details"), "a (20 ns, 50.00%; before 10, after 20: +10; own before 10, after 20: +10)");
}

TEST_F(FlameInBrowser, ExtractsNamesFromTitles) {
  std::string const name = "f (10 samples (99 Hz), x) (1";
  for (char const* const unit : {"samples (99 Hz)", "(99 Hz)", "samples", "a\t(b (1 (c)", " (10 x"}) {
    SCOPED_TRACE(unit);
    ASSERT_NO_FATAL_FAILURE(open({"--unit", unit}, "main (2);" + name + " 10\nmain (2);g 30\n"));
    EXPECT_EQ(frame("all").text, "all");
    EXPECT_EQ(frame("main (2)").text, "main (2)");
    EXPECT_EQ(frame("g").text, "g");
    Shown const f = frame(name);
    EXPECT_EQ(f.text, name);
    browser_->move_to(f.x + 5, f.y + 5);
    EXPECT_THAT(text_of(".details"), StartsWith(name + ": 10 "));
    click(f);
    EXPECT_EQ(state("zoom"), name);
    click("input");
    browser_->type("hz\\), x\\) \\(1$");
    EXPECT_EQ(state("matched"), "100.00");
    EXPECT_EQ(frame("g").classes, "f gone");
    browser_->press("Escape");

    std::string const before = folder_.write("before", "main (2);" + name + " 5\n");
    ASSERT_NO_FATAL_FAILURE(open({"--unit", unit, "--diff", before}, "main (2);" + name + " 10\n"));
    EXPECT_EQ(frame(name).text, name);
  }
}

TEST_F(FlameInBrowser, StaysUsableWithThousandsOfFrames) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) {
    lines += "main;group::of_" + std::to_string(i % 70) + ";namespaces::function_with_a_long_name_" +
             std::to_string(i) + ' ' + std::to_string(10 + i % 90) + '\n';
  }
  ASSERT_NO_FATAL_FAILURE(open({"--min-width", "0"}, lines));
  click(frame("group::of_7"));
  keep_screenshot("many");
  EXPECT_EQ(state("zoom"), "group::of_7");
  EXPECT_THAT(frame("group::of_7").width, is_percent(100));
}

}  // namespace
