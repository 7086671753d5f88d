// The style and the script of a flame graph's picture, embedded into the library by the build.
#pragma once

#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

extern std::string_view const kFlameStyle;   // flame.css
extern std::string_view const kFlameScript;  // flame.js

}}}  // namespace tracing::v1::internal
