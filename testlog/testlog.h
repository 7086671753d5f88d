// Declares TEST_LOG and its kin: GoogleTest's own test macros, with settings for what the test shows and tolerates.
//
// TEST in a program that links testlog does the same; TEST_LOG only adds the settings.
#pragma once

#include <gtest/gtest.h>

#include "testlog/settings.h"

// The levels are bare words: a lambda brings their names in for the settings alone.
#define TESTLOG_INTERNAL_SETTINGS_(suite, name, ...) __VA_OPT__(TESTLOG_INTERNAL_REGISTER_(suite, name, __VA_ARGS__))
#define TESTLOG_INTERNAL_REGISTER_(suite, name, ...)                                                \
  [[maybe_unused]] static ::testlog::internal::RegisteredSettings const testlog_settings_##suite##_##name( \
      #suite, #name, []() -> ::testlog::Settings {                                                  \
        using enum ::tracing::Level;                                                                \
        return {__VA_ARGS__};                                                                       \
      }());

/// A test, as TEST(suite, name) makes it, with settings: TEST_LOG(Suite, Name, .default_filter = "gpu=debug", .fail_on = warn).
#define TEST_LOG(suite, name, ...)                              \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST(suite, name)
/// As TEST_F.
#define TEST_LOG_F(fixture, name, ...)                            \
  TESTLOG_INTERNAL_SETTINGS_(fixture, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST_F(fixture, name)
/// As TEST_P; every instance has the settings.
#define TEST_LOG_P(suite, name, ...)                            \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST_P(suite, name)
/// As TYPED_TEST; every instance has the settings.
#define TYPED_TEST_LOG(suite, name, ...)                        \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TYPED_TEST(suite, name)
/// As TYPED_TEST_P; every instance has the settings.
#define TYPED_TEST_LOG_P(suite, name, ...)                      \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TYPED_TEST_P(suite, name)
