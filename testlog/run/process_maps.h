// Reads the memory mappings of the process from /proc/self/maps.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace testlog { inline namespace v1 {

/// Calls `f(line)` for each line of a file until it returns true. A line that does not fit into 1 KiB is cut.
/// Async-signal-safe.
template <class F>
void for_each_line(int file, F&& f) noexcept {
  char bytes[1024];
  std::size_t size = 0;
  bool is_in_line = false;  // `f` was called for the beginning of the line
  for (ssize_t got; (got = read(file, bytes + size, sizeof(bytes) - size)) > 0;) {
    size += static_cast<std::size_t>(got);
    char const* begin = bytes;
    for (char const* end;
         (end = static_cast<char const*>(std::memchr(begin, '\n', static_cast<std::size_t>(bytes + size - begin)))) !=
         nullptr;
         begin = end + 1) {
      if (!std::exchange(is_in_line, false) && f(std::string_view(begin, static_cast<std::size_t>(end - begin))))
        return;
    }
    size = static_cast<std::size_t>(bytes + size - begin);
    if (size == sizeof(bytes)) {
      if (!std::exchange(is_in_line, true) && f(std::string_view(bytes, size))) return;
      size = 0;
    }
    std::memmove(bytes, begin, size);
  }
}

/// A line of /proc/self/maps: 7f12-7f34 r-xp 00001000 08:01 1234   /lib/libc.so.6
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  bool is_code = false;  ///< may be executed
  std::uint64_t offset = 0;
  std::string_view path;  ///< empty if it maps no file

  explicit Mapping(std::string_view line) noexcept {
    char const* const last = line.data() + line.size();
    char const* at = std::from_chars(line.data(), last, begin, 16).ptr;
    if (at != last) at = std::from_chars(at + 1, last, end, 16).ptr;
    if (last - at > 6) {
      is_code = at[3] == 'x';
      (void)std::from_chars(at + 6, last, offset, 16);
    }
    std::size_t const slash = line.find('/');
    if (slash != line.npos) path = line.substr(slash);
  }
  bool contains(std::uintptr_t address) const noexcept { return address >= begin && address < end; }
};

/// Calls `f(Mapping const&)` for each mapping, in the order of addresses, until it returns true. Returns false if the
/// mappings cannot be read. Async-signal-safe.
template <class F>
bool for_each_mapping(F&& f) noexcept {
  int const file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  for_each_line(file, [&f](std::string_view line) { return f(Mapping(line)); });
  close(file);
  return true;
}

}}  // namespace testlog::v1
