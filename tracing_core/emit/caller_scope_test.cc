// A library that records for its callers, and its callers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/printed.h"
#include "tracing_core/emit/caller.h"
#define TRACE_TARGET "gpu::memory"  // of the library; its callers have no target of their own
#include "tracing_core/emit/for_callers.h"

using tracing::Caller;
using tracing::internal::CallerScope;
using tracing::internal::CurrentCaller;
using tracing::internal::SilenceScope;

// ---- the library ----

namespace gpu {

int const library = 0;

void free(int pointer, Caller caller = Caller::here()) {
  CallerScope const called(caller, &library);
  TRACE_DEBUG("freed {:#x}", pointer, tracing::kv("device", 0));
}

void reserve(int bytes, Caller caller = Caller::here()) {
  CallerScope const called(caller, &library);
  TRACE_SPAN(trace, "reserve", bytes, tracing::kv("pointer", tracing::empty));
  free(16);
}

void unknown() {
  CallerScope const called(CurrentCaller{});
  TRACE_INFO("reset");
}

}  // namespace gpu

// ---- its callers ----

namespace solver {

void run() { gpu::reserve(64); }

struct Mesh {
  void refine() { gpu::free(32); }
};

}  // namespace solver

void in_no_namespace() { gpu::free(48); }

namespace {

// Returns the lines of `emit` without times.
template <class F>
std::string lines(F emit, std::string_view directives = "trace") {
  tracing::FormatOptions format;
  format.timer = nullptr;
  return tracing_test::printed({.event_format = tracing::make_event_format(format)}, emit, directives);
}

#if defined(__cpp_lib_source_location)
std::string all() {
  return lines([] {
    solver::run();
    solver::Mesh().refine();
  });
}

TEST(ForCallers, HaveTheTargetOfTheCaller) {
  EXPECT_EQ(all(),
            "DEBUG reserve{bytes=64}: solver: freed 0x10 device=0\n"
            "DEBUG solver::Mesh: freed 0x20 device=0\n");
}

TEST(ForCallers, HaveTheFileOfACallerInNoNamespace) {
  EXPECT_EQ(lines(in_no_namespace), "DEBUG caller_scope_test: freed 0x30 device=0\n");
}

TEST(ForCallers, HaveTheTargetThatTheFileOfTheCallerDefines) {
  EXPECT_EQ(lines([] { gpu::free(64, Caller::here(std::source_location::current(), "files::own")); }),
            "DEBUG files::own: freed 0x40 device=0\n");
}

TEST(ForCallers, AreShownByTheirTarget) {
  auto const emit = [] {
    solver::run();
    solver::Mesh().refine();
    in_no_namespace();
  };
  EXPECT_EQ(lines(emit, "solver=trace"), all());
  EXPECT_EQ(lines(emit, "solver::Mesh=debug"), "DEBUG solver::Mesh: freed 0x20 device=0\n");
  EXPECT_EQ(lines(emit, "solver=info"), "");
}

TEST(ForCallers, AreShownByThePartOfTheLibrary) {
  for (std::string_view const filter : {"gpu=trace", "gpu::memory=trace", "off,gpu::memory=trace"})
    EXPECT_EQ(lines(solver::run, filter), "DEBUG reserve{bytes=64}: solver: freed 0x10 device=0\n") << filter;
  EXPECT_EQ(lines(solver::run, "gpu::launch=trace"), "");
}

TEST(ForCallers, AreDecidedByThePartBeforeTheTarget) {
  EXPECT_EQ(lines(solver::run, "solver=trace,gpu=off"), "");
  EXPECT_EQ(lines(solver::run, "trace,gpu::memory=info"), "");
  EXPECT_EQ(lines(solver::run, "solver=off,gpu=debug"), "DEBUG solver: freed 0x10 device=0\n");
}

TEST(ForCallers, MatchDirectivesWithASpanByBothNames) {
  for (std::string_view const filter : {"gpu[reserve]=trace", "solver[reserve]=trace", "[reserve{bytes=64}]=trace"})
    EXPECT_EQ(lines(solver::run, filter), "DEBUG reserve{bytes=64}: solver: freed 0x10 device=0\n") << filter;
}
#endif

TEST(ForCallers, HaveTheLineOfTheCaller) {
  tracing::FormatOptions format;
  format.timer = nullptr;
  format.file = format.line_number = true;
  std::string const text =
      tracing_test::printed({.event_format = tracing::make_event_format(format)}, [] { gpu::free(32); });
  EXPECT_THAT(text, testing::HasSubstr("caller_scope_test.cc:" + std::to_string(__LINE__ - 1) + ": ")) << text;
}

TEST(ForCallers, HaveTheNameOfTheLibraryIfTheCallerIsUnknown) {
  EXPECT_EQ(lines(gpu::unknown), " INFO gpu::memory: reset\n");
  EXPECT_EQ(lines([] { TRACE_INFO("outside of a call"); }), " INFO gpu::memory: outside of a call\n");
}

TEST(ForCallers, FindTheTargetWhenTheFirstRecordNeedsIt) {
  static int found = 0;
  auto const call = [] {
    CurrentCaller caller;
    caller.find = [](CurrentCaller& its) noexcept {
      ++found;
      its.target = "named";
    };
    CallerScope const called(caller);
    gpu::free(1);
    gpu::free(2);
  };
  EXPECT_EQ(lines(call), "DEBUG named: freed 0x1 device=0\nDEBUG named: freed 0x2 device=0\n");
  EXPECT_EQ(found, 1);
  EXPECT_EQ(lines(call, "off"), "");
  EXPECT_EQ(found, 1) << "nothing is recorded, so nobody needs the target";
}

TEST(ForCallers, AreDroppedInASilence) {
  auto const emit = [] {
    CallerScope const called(Caller::here(), &gpu::library);
    SilenceScope const silence(true);
    gpu::free(1);
    SilenceScope const heard(false);
    gpu::free(2);
  };
  EXPECT_THAT(lines(emit), testing::EndsWith("freed 0x2 device=0\n"));
  EXPECT_THAT(lines(emit), testing::Not(testing::HasSubstr("0x1")));
}

TEST(ForCallers, HaveTheirTargetInThreadsThatRace) {
  constexpr int kThreads = 8;
  std::array<std::string, kThreads> printed;
  std::atomic<int> waiting{kThreads};
  std::array<std::thread, kThreads> threads;
  for (int i = 0; i < kThreads; ++i)
    threads[i] = std::thread([&, i] {
      printed[i] = lines([&] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        CurrentCaller caller;
        caller.target = "racer";
        CallerScope const called(caller);
        TRACE_INFO("there");
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(printed, testing::Each(std::string(" INFO racer: there\n")));
}

}  // namespace
