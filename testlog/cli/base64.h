// Base64, for the page and for OTLP.
#pragma once

#include <string>
#include <string_view>

namespace testlog::cli {

/// Returns the bytes in base64, with padding. Source: RFC 4648, section 4.
std::string base64_of(std::string_view bytes);

}  // namespace testlog::cli
