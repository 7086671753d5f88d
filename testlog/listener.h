// The listeners that connect testlog to GoogleTest, and the symbol that keeps them in a program.
#pragma once

#include <gtest/gtest.h>

namespace testlog { inline namespace v1 { namespace internal {

/// Adds the listeners, once.
void install_listeners();

}}}  // namespace testlog::v1::internal

/// Named by an object in every program that links testlog::testlog, so that the linker keeps the library.
extern "C" int const testlog_keep_linked;
