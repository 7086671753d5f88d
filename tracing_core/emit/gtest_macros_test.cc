// Each statement inside each macro of GoogleTest that takes a statement. These macros forward it to further macros,
// where a comma outside parentheses would separate arguments.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cassert>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/perf/perf_scope.h"
#include "tracing_core/perf/recorders.h"
#include "tracing_core/profile/annotate.h"
#include "tracing_core/tracing.h"

// GoogleTest makes a string literal of the expansions.
#pragma GCC diagnostic ignored "-Woverlength-strings"

namespace {

constexpr std::size_t kStatements = 19;

// Every statement once, with at least two arguments.
#define ALL_STATEMENTS                                                        \
  int const n = 1;                                                            \
  auto const took = std::chrono::microseconds(n);                             \
  TRACE_ERROR("a {}", n, tracing::kv("m", n));                                \
  TRACE_WARN("b {}", n, tracing::kv("m", n));                                 \
  TRACE_INFO("c {}", n, tracing::kv("m", n));                                 \
  TRACE_DEBUG("d {}", n, tracing::kv("m", n));                                \
  TRACE_TRACE("e {}", n, tracing::kv("m", n));                                \
  TRACE_LOG(warn, "f {}", n, tracing::target("t"), tracing::parent(nullptr)); \
  TRACE_VALUES(info, n, took);                                                \
  TRACE_FN(info, n, tracing::kv("m", n));                                     \
  TRACE_SPAN(info, "s", n, tracing::kv("m", n));                              \
  auto const handle = TRACE_MAKE_SPAN(info, "h", n, tracing::kv("m", n));     \
  if (TRACE_ENABLED(info, tracing::target("t"))) TRACE_INFO("enabled");       \
  TRACE_PERF("p", n, tracing::threshold(took));                               \
  TRACE_PERF_AT(info, "p", n, tracing::kv("m", n));                           \
  TRACE_PERF_AS(load, "p", n, tracing::kv("m", n));                           \
  static_cast<void>(load.elapsed_ns());                                       \
  TRACE_PERF_EVENT("p", n, tracing::kv("m", n));                              \
  TRACE_PERF_ALLOCATION(n, "pool");                                           \
  TRACE_PERF_EXECUTION("gemm", took);                                         \
  TRACE_PERF_TRANSFER(n, tracing::H2D, took);                                 \
  TRACE_PERF_THROUGHPUT(n, took);                                             \
  TRACE_PERF_FLOPS(n, took);                                                  \
  auto const measured = TRACE_MAKE_PERF("m", n, tracing::kv("m", n));         \
  if (TRACE_PERF_ENABLED(info, tracing::target("t"))) TRACE_INFO("measured"); \
  TRACE_STEP(n);                                                              \
  TRACE_ANNOTATE("a", n, tracing::kv("m", n));                                \
  TRACE_ANNOTATE_AT(verbose, "a", n, tracing::kv("m", n));                    \
  static_cast<void>(tracing::annotate("f", [m = n, took] { return m + took.count(); }))

class GTestMacro : public testing::Test {
 protected:
  std::size_t records() { return recording_->take().size(); }

  tracing_test::Recording recording_;
};

TEST_F(GTestMacro, ExpectAndAssertThrow) {
  EXPECT_THROW(
      {
        ALL_STATEMENTS;
        throw std::runtime_error("x");
      },
      std::runtime_error);
  EXPECT_GT(records(), kStatements);
  ASSERT_THROW(
      {
        ALL_STATEMENTS;
        throw std::runtime_error("x");
      },
      std::runtime_error);
  EXPECT_GT(records(), kStatements);
}

TEST_F(GTestMacro, ExpectAndAssertNoThrow) {
  EXPECT_NO_THROW({ ALL_STATEMENTS; });
  EXPECT_GT(records(), kStatements);
  ASSERT_NO_THROW({ ALL_STATEMENTS; });
  EXPECT_GT(records(), kStatements);
}

TEST_F(GTestMacro, ExpectAndAssertAnyThrow) {
  EXPECT_ANY_THROW({
    ALL_STATEMENTS;
    throw 1;
  });
  EXPECT_GT(records(), kStatements);
  ASSERT_ANY_THROW({
    ALL_STATEMENTS;
    throw 1;
  });
  EXPECT_GT(records(), kStatements);
}

TEST_F(GTestMacro, ExpectAndAssertDeath) {
  EXPECT_DEATH(
      {
        ALL_STATEMENTS;
        std::abort();
      },
      "");
  ASSERT_DEATH(
      {
        ALL_STATEMENTS;
        std::abort();
      },
      "");
  EXPECT_DEATH_IF_SUPPORTED(
      {
        ALL_STATEMENTS;
        std::abort();
      },
      "");
  ASSERT_DEATH_IF_SUPPORTED(
      {
        ALL_STATEMENTS;
        std::abort();
      },
      "");
}

TEST_F(GTestMacro, ExpectAndAssertDebugDeath) {
  EXPECT_DEBUG_DEATH(
      {
        ALL_STATEMENTS;
        assert(false);
      },
      "");
  ASSERT_DEBUG_DEATH(
      {
        ALL_STATEMENTS;
        assert(false);
      },
      "");
}

TEST_F(GTestMacro, ExpectAndAssertExit) {
  EXPECT_EXIT(
      {
        ALL_STATEMENTS;
        std::_Exit(3);
      },
      testing::ExitedWithCode(3), "");
  ASSERT_EXIT(
      {
        ALL_STATEMENTS;
        std::_Exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST_F(GTestMacro, ExpectFailures) {
  EXPECT_FATAL_FAILURE(
      {
        ALL_STATEMENTS;
        FAIL() << "x";
      },
      "x");
  EXPECT_GT(records(), kStatements);
  EXPECT_NONFATAL_FAILURE(
      {
        ALL_STATEMENTS;
        ADD_FAILURE() << "x";
      },
      "x");
  EXPECT_GT(records(), kStatements);
  EXPECT_FATAL_FAILURE_ON_ALL_THREADS(
      {
        ALL_STATEMENTS;
        FAIL() << "x";
      },
      "x");
  EXPECT_NONFATAL_FAILURE_ON_ALL_THREADS(
      {
        ALL_STATEMENTS;
        ADD_FAILURE() << "x";
      },
      "x");
}

TEST_F(GTestMacro, ExpectAndAssertNoFatalFailure) {
  EXPECT_NO_FATAL_FAILURE({ ALL_STATEMENTS; });
  EXPECT_GT(records(), kStatements);
  ASSERT_NO_FATAL_FAILURE({ ALL_STATEMENTS; });
  EXPECT_GT(records(), kStatements);
}

#define FORWARD(...) FORWARD_AGAIN(__VA_ARGS__)
#define FORWARD_AGAIN(first, ...) first __VA_OPT__(, ) __VA_ARGS__

TEST_F(GTestMacro, MacroThatForwardsItsArgumentsTwice) {
  FORWARD({ ALL_STATEMENTS; })
  EXPECT_GT(records(), kStatements);
}

}  // namespace
