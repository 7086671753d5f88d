// TEST_LOG, TEST_LOG_F, ...: GoogleTest's macros with optional settings (see Settings).
//
// In a program that links testlog, TEST does the same; TEST_LOG only adds the settings.
#pragma once

#include <gtest/gtest.h>

#include "testlog/settings.h"

// Names a symbol of the library: a linker leaves out a library if no symbol of it is needed, and TEST needs none. For
// programs that do not include this header, the CMake targets name the symbol.
extern "C" int const testlog_keep_linked;
namespace testlog { inline namespace v1 { namespace internal {
[[gnu::used]] static int const* const keep_linked = &testlog_keep_linked;
}}}  // namespace testlog::v1::internal

#define TESTLOG_INTERNAL_SETTINGS_(suite, name, ...) \
  __VA_OPT__(TESTLOG_INTERNAL_REGISTER_(testlog_settings_##suite##_##name, #suite, #name, __VA_ARGS__);)
// The lambda makes the names of the levels visible to the settings only.
// clang-format off
#define TESTLOG_INTERNAL_REGISTER_(variable, suite, name, ...)                    \
  [[maybe_unused]] static ::testlog::internal::RegisteredSettings const variable( \
      suite, name, []() -> ::testlog::Settings {                                  \
        using enum ::tracing::v1::Level;                                          \
        return {__VA_ARGS__};                                                     \
      }())
// clang-format on

/// Settings of all tests of a suite, which their own settings override one by one:
/// TEST_LOG_SUITE(Suite, .fail_on = warn);
#define TEST_LOG_SUITE(suite, ...) \
  TESTLOG_INTERNAL_REGISTER_(testlog_settings_of_suite_##suite, #suite, "", __VA_ARGS__)

/// Like TEST, with settings: TEST_LOG(Suite, Name, .default_filter = "gpu=debug", .fail_on = warn).
#define TEST_LOG(suite, name, ...)                                   \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST(suite, name)
/// Like TEST_F.
#define TEST_LOG_F(fixture, name, ...)                                 \
  TESTLOG_INTERNAL_SETTINGS_(fixture, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST_F(fixture, name)
/// Like TEST_P; every instance has the settings.
#define TEST_LOG_P(suite, name, ...)                                 \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TEST_P(suite, name)
/// Like TYPED_TEST; every instance has the settings.
#define TYPED_TEST_LOG(suite, name, ...)                             \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TYPED_TEST(suite, name)
/// Like TYPED_TEST_P; every instance has the settings.
#define TYPED_TEST_LOG_P(suite, name, ...)                           \
  TESTLOG_INTERNAL_SETTINGS_(suite, name __VA_OPT__(, ) __VA_ARGS__) \
  TYPED_TEST_P(suite, name)
