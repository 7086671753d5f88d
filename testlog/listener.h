// Declares what links testlog to GoogleTest: the listeners, and the symbol that keeps them in a program.
#pragma once

#include <gtest/gtest.h>

namespace testlog::inline v1::internal {

/// Adds the listeners, once.
void install_listeners();

}  // namespace testlog::inline v1::internal

/// Named by an object in every program that links testlog::testlog, so that this library, which nothing else may name, stays.
extern "C" int const testlog_keep_linked;
