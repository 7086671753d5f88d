#include "testlog/cli/base64.h"

#include <cstddef>
#include <cstdint>

namespace testlog::cli {

std::string base64_of(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace testlog::cli
