#include "tracing_core/internal/file_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tracing::inline v1::internal {
namespace {

constexpr std::size_t kMaxBytes = 160;  // so that filesystems also take the program and a suffix around it
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kHashBytes = 1 + kHashDigits;

// Control characters would also break lines that name the file.
bool is_replaced(char c) noexcept { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool ends_with_hash(std::string_view name) noexcept {
  if (name.size() < kHashBytes || name[name.size() - kHashBytes] != '~') return false;
  return name.find_last_not_of("0123456789abcdef") == name.size() - kHashBytes;
}

}  // namespace

std::string file_name_of(std::string_view name) {
  bool const is_as_it_is = name.size() <= kMaxBytes && std::none_of(name.begin(), name.end(), is_replaced) && !ends_with_hash(name);
  if (is_as_it_is) return std::string(name);
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  std::string made(name.substr(0, kMaxBytes - kHashBytes));
  std::replace_if(made.begin(), made.end(), is_replaced, '_');
  return made + fmt::format("~{:0{}x}", hash, kHashDigits);
}

}  // namespace tracing::inline v1::internal
