// StackTrace: where a thread was when a signal came.
#pragma once

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

  /// Loads the unwinder, once.
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

}  // namespace testlog::inline v1
