// Declares a shared library that has spdlog as headers only. It is built twice: with its symbols visible, and hidden.
#pragma once

#include <string>

namespace visible_library {

void log_by_default(std::string const& text);
void log_by_name(std::string const& text);

}  // namespace visible_library
namespace hidden_library {

[[gnu::visibility("default")]] void log_by_default(std::string const& text);
[[gnu::visibility("default")]] void log_by_name(std::string const& text);
[[gnu::visibility("default")]] bool attach();

}  // namespace hidden_library
