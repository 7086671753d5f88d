// Makes recordings, writes their page and opens it in a browser.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tests/support/browser.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::page {

using Json = tracing_test::Browser::Json;
using testdata::Outcome;
using testdata::run_command;

class ReportInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    std::string const program = tracing_test::find_browser();
    if (program.empty()) GTEST_SKIP() << "Chromium is not installed (tools/setup.sh browser installs it)";
    browser_ = std::make_unique<tracing_test::Browser>(program, 1300, 900);
  }
  void TearDown() override {
    if (browser_ == nullptr) return;
    EXPECT_THAT(browser_->script_errors(), testing::IsEmpty());
    EXPECT_THAT(browser_->requests(), testing::Each(testing::StartsWith("file://" + folder_ / "")))
        << "a page makes no requests";
  }

  // Writes the page of recordings in the folder.
  Outcome write(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", folder_ / "report.html"});
    return run_command("report", arguments);
  }
  void open(std::vector<std::string> const& arguments, std::string const& fragment = "") {
    Outcome const outcome = write(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    browser_->open("file://" + folder_ / ("report.html" + fragment));
    ASSERT_TRUE(becomes("document.documentElement.dataset.ready === 'true'"));
  }
  // Waits until the expression is true.
  bool becomes(std::string const& expression) {
    for (int i = 0; i < 500; ++i) {
      if (browser_->evaluate(expression) == true) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  Json evaluate(std::string const& expression) { return browser_->evaluate(expression); }

  // Opens a test of the page by its name.
  void choose(std::string const& test) {
    evaluate("void openTest(page.index.tests.findIndex((one) => one.name === " + Json(test).dump() + "))");
    ASSERT_TRUE(becomes("page.block !== null && page.index.tests[page.test].name === " + Json(test).dump())) << test;
  }
  // Returns the lines of the test that is open, each with its end. Its times are absolute, as `testlog show` prints
  // them.
  std::string lines() {
    return evaluate(R"((() => {
      const rows = [...page.visible].filter((row) => row >= 0);
      return rows.map((row) => textOf(lineParts(page.block, row, {isRelative: false, spanIsOn: page.spanIsOn})) + "\n").join("");
    })())");
  }
  std::string selected() {
    return evaluate("page.selected === null ? '' : textOf(rowParts(page.selected, lineOptions()))");
  }
  std::string text_of(std::string const& selector) {
    return evaluate("document.querySelector('" + selector + "').textContent");
  }
  void type(std::string const& selector, std::string const& text) {
    evaluate("document.querySelector('" + selector + "').select()");
    browser_->type(text);
  }
  void keep_screenshot(std::string const& name) {
    char const* const folder = std::getenv("TESTLOG_SCREENSHOTS");
    if (folder == nullptr) return;
    std::ofstream(std::string(folder) + '/' + name + ".png", std::ios::binary) << browser_->screenshot();
  }

  tracing_test::TemporaryFolder const folder_;
  std::unique_ptr<tracing_test::Browser> browser_;
};

// Records a test that fails, and one that passes.
inline void work_and_fail(why::TestRecorder& recorder) {
  recorder.run("Pool.Grows", [&] {
    recorder
        .thread("worker-1",
                [] {
                  TRACE_SPAN(info, "job", tracing::kv("stream", 7));
                  TRACE_INFO("done", tracing::kv("name", "k\"1"));
                })
        .join();
    TRACE_SPAN(info, "request", tracing::kv("id", 7), tracing::kv("path", "a,b"));
    TRACE_DEBUG("preparing");
    {
      TRACE_SPAN(debug, "load", tracing::kv("rows", 16), tracing::kv("ratio", 0.5));
      TRACE_TRACE("read {} of {:#x}", 12, 255, tracing::kv("done", true));
      TRACE_WARN("slow", tracing::kv("took_us", -1200));
    }
    TRACE_ERROR("cannot grow", tracing::kv("size", 4096U));
    recorder.fail("Expected: pool.grow()\nto be true");
    return "failed";
  });
  recorder.run("Pool.Shrinks", [] {
    TRACE_INFO("shrinks");
    return "passed";
  });
}

}  // namespace testlog::cli::page
