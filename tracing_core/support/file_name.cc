#include "tracing_core/support/file_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace tracing { inline namespace v1 { namespace support {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kHashBytes = 1 + kHashDigits;

// Replaces control characters too, since they would break lines that name the file.
bool is_replaced(char c) noexcept { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool ends_with_hash(std::string_view name) noexcept {
  if (name.size() < kHashBytes || name[name.size() - kHashBytes] != '~') return false;
  return name.find_last_not_of("0123456789abcdef") == name.size() - kHashBytes;
}

}  // namespace

std::string file_name_of(std::string_view name, std::size_t max_bytes) {
  bool const is_as_it_is =
      name.size() <= max_bytes && std::none_of(name.begin(), name.end(), is_replaced) && !ends_with_hash(name);
  if (is_as_it_is) return std::string(name);
  std::string made(name.substr(0, max_bytes - kHashBytes));
  std::replace_if(made.begin(), made.end(), is_replaced, '_');
  return made + fmt::format("~{:0{}x}", hash_of(name), kHashDigits);
}

std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept {
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}}}  // namespace tracing::v1::support
