// The listeners that connect testlog to GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include "testlog/framework.h"

namespace testlog { inline namespace v1 { namespace internal {

/// Adds the listeners, once.
void install_listeners();

/// Reads the flags of GoogleTest from the arguments of main() and the environment.
framework::Process read_process(int argc, char const* const* argv) noexcept;

}}}  // namespace testlog::v1::internal
