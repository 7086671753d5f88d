// Declares the parts of a flame graph's picture that stand in files of their own and are put into the library when it is
// built.
#pragma once

#include <string_view>

namespace tracing::inline v1::internal {

extern std::string_view const kFlameStyle;   // flame.css
extern std::string_view const kFlameScript;  // flame.js

}  // namespace tracing::inline v1::internal
