// Stops the compilation below C++20. Each public header includes this file, directly or through another header.
#pragma once

#if !(__cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L))
#error \
    "testlog needs C++20: compile with -std=c++20, in CMake with target_compile_features(... cxx_std_20). For code that must also compile without it see docs/optional.md (tracing_optional.h)"
// After #error alone, hundreds of further errors would follow. GCC and Clang stop at a missing include file.
#include "-std=c++20"
#endif
