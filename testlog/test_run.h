// test_run: what a test framework tells testlog, call by call. A listener of GoogleTest, Catch2 or doctest calls
// nothing else; a listener for another framework may do the same.
#pragma once

#include <string_view>
#include <vector>

#include "testlog/framework.h"
#include "testlog/settings.h"

namespace testlog { inline namespace v1 { namespace test_run {

/// Starts testlog in the process. To be called before main() and, as far as possible, before other initialisers, so
/// that testlog captures what they record. Does nothing on a second call, or if tests are only listed.
void start(framework::Framework const& framework, framework::Process const& process);

/// Returns true on the first call only, and never without start(): a program and a library that it loads may both add a
/// listener, but only the first may call the functions below. All of them but part() are called on the thread that runs
/// the tests.
bool take() noexcept;

/// Called when the first test is about to run.
void begin_program();
void begin_repetition(framework::Repetition const& repetition);
/// Around the set-up that precedes all suites, if the framework has it.
void begin_set_up();
void end_set_up();
void begin_suite(char const* name);
/// Called when the test begins, before its fixture is made.
void begin_test(framework::Test const& test, Settings const& settings);
/// Called at a failure or a skip, also outside any test, on any thread, one call at a time.
void part(framework::Part const& part);
/// Called when the framework is told of a fatal signal before testlog is, in its handler. Writes the report without the
/// stack of the thread; no other function may be called afterwards. Async-signal-safe.
void fatal_signal(std::string_view name) noexcept;
/// Raises the failures of `.fail_on` and TRACE_FAIL_ON. Called when the test has ended but can still fail.
void check_test(bool was_skipped);
/// Called when nothing more belongs to the test.
void end_test(framework::Result result);
void end_suite(std::string_view name, std::vector<framework::Property> const& properties);
/// Raises failures of the run, for events of tests that had ended. Called when the run can still fail.
void check_run();
void end_repetition(framework::Totals const& totals);
/// Called after the last test. `properties` are those of the run.
void end_program(framework::Totals const& totals, std::vector<framework::Property> const& properties);

}}}  // namespace testlog::v1::test_run
