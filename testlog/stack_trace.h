// StackTrace: where a thread was when a signal came.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace testlog::inline v1 {

/// Async-signal-safe, but for prepare(). Names come from the symbol tables of the files that are mapped, so static functions
/// have names unless the program is stripped. Without optimisation every call is a frame; functions that were inlined have none.
class StackTrace {
 public:
  static constexpr std::size_t kMaxFrames = 256;

  struct Frame {
    std::string_view module;        ///< the file, without its folder; empty for code outside of files
    std::uint64_t offset = 0;       ///< of the instruction, as addr2line takes it
    std::string_view function;      ///< mangled; empty if it is not known
  };

  /// Loads what unwinds, once.
  static void prepare() noexcept;

  /// The frames of the calling thread from the one that was interrupted; `context` is the third argument of the handler.
  explicit StackTrace(void const* context) noexcept;
  StackTrace(StackTrace const&) = delete;
  StackTrace& operator=(StackTrace const&) = delete;
  ~StackTrace();

  std::size_t size() const noexcept { return count_; }
  /// Whether two frames are of the same call, as in a recursion.
  bool is_same(std::size_t a, std::size_t b) const noexcept { return addresses_[a] == addresses_[b]; }
  /// Valid until the next call.
  Frame frame(std::size_t index) noexcept;

 private:
  void map_module(std::uintptr_t address) noexcept;
  std::string_view function_at(std::uint64_t offset) const noexcept;
  void unmap() noexcept;

  void* addresses_[kMaxFrames];
  std::size_t count_ = 0;
  // The module of the last frame().
  std::uintptr_t begin_ = 0, end_ = 0;
  std::uint64_t file_offset_ = 0;
  char const* file_ = nullptr;
  std::size_t file_size_ = 0;
  char path_[512] = {};
  std::size_t path_size_ = 0;
};

/// `(anonymous namespace)::Pool::take` of `_ZN12_GLOBAL__N_14Pool4takeEv`: names without arguments, as far as they are simple.
/// Calls `append(std::string_view)` for each piece. Other names are appended as they are.
template <class F>
void append_function_name(std::string_view mangled, F&& append) noexcept {
  std::string_view rest = mangled;
  auto const skip = [&rest](std::string_view prefix) {
    bool const has = rest.starts_with(prefix);
    if (has) rest.remove_prefix(prefix.size());
    return has;
  };
  if (!skip("_Z")) return append(mangled);
  bool const is_local = skip("Z");
  bool const is_lambda = rest.find("Ul") != rest.npos || rest.find("$_") != rest.npos;  // of GCC, of Clang
  if (is_local && !is_lambda) return append(mangled);
  bool const is_nested = skip("N");
  while (is_nested && !rest.empty() && (rest[0] == 'K' || rest[0] == 'V' || rest[0] == 'r')) rest.remove_prefix(1);
  bool any = skip("St");
  if (any) append("std");
  while (!rest.empty() && rest[0] >= '1' && rest[0] <= '9') {
    std::size_t size = 0;
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1))
      size = std::min(size * 10 + static_cast<std::size_t>(rest[0] - '0'), mangled.size());
    if (size > rest.size()) return append(mangled);
    if (any) append("::");
    any = true;
    std::string_view const name = rest.substr(0, size);
    append(name.starts_with("_GLOBAL__N") ? std::string_view("(anonymous namespace)") : name);
    rest.remove_prefix(size);
    if (!is_nested) break;
  }
  if (!any) return append(mangled);
  if (!rest.empty() && rest[0] == 'I') append("<...>");
  if (is_local) append("::{lambda}");
}

}  // namespace testlog::inline v1
