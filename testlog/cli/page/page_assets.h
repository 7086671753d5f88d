// The style and the script of the page of `testlog report`, embedded by the build, with their SHA-256 in hexadecimal.
#pragma once

#include <string_view>

namespace testlog::cli::page {

extern std::string_view const kPageStyle, kPageStyleSha256;
extern std::string_view const kPageScript, kPageScriptSha256;

}  // namespace testlog::cli::page
