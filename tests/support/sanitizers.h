// Defines TESTLOG_ASAN and TESTLOG_TSAN: 1 in builds with AddressSanitizer and ThreadSanitizer, by GCC and Clang,
// otherwise 0.
#pragma once

#if defined(__clang__)
#define TESTLOG_ASAN __has_feature(address_sanitizer)
#define TESTLOG_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define TESTLOG_ASAN 1
#else
#define TESTLOG_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define TESTLOG_TSAN 1
#else
#define TESTLOG_TSAN 0
#endif
#endif
