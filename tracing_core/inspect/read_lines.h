// read_lines(): reads a file line by line.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace tracing { inline namespace v1 { namespace internal {

/// Calls `take(line)` for each line, without its end. Returns the error that stopped reading before the end, if any.
/// Takes memory for the longest line.
template <class F>
std::error_code read_lines(int file, F take) {
  std::string block(256 * 1024, '\0');
  std::string begun;  // the beginning of a line that ends in a later block
  for (;;) {
    ssize_t const size = read(file, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {errno, std::generic_category()};
    if (size == 0) break;
    std::string_view rest(block.data(), static_cast<std::size_t>(size));
    for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
      std::string_view const part = rest.substr(0, end);
      take(begun.empty() ? part : std::string_view(begun += part));
      begun.clear();
    }
    begun += rest;
  }
  if (!begun.empty()) take(std::string_view(begun));
  return {};
}

}}}  // namespace tracing::v1::internal
