// CodePlaces: finds the function and the file of an address on a stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace testlog { inline namespace v1 {

/// Addresses and what is known about them. Names come from the symbol tables of the files that are mapped, so static
/// functions have names unless the program is stripped. Add addresses, then call resolve(). Needs 600 KiB, but touches
/// only what it uses. Async-signal-safe; single-thread.
class CodePlaces {
 public:
  static constexpr std::size_t kMax = 4096;

  struct Place {
    std::uintptr_t address = 0;
    std::string_view file;       ///< its path; empty for code outside of files
    std::uint64_t offset = 0;    ///< of the instruction, as addr2line takes it
    std::string_view function;   ///< mangled; empty if it is not known
    std::string_view line;       ///< `/src/load.cc:88`; empty if it is not known
    std::string_view inlined{};  ///< where the code of `line` was inlined into the function; empty if it was not
    bool has_lines = false;      ///< its file has a line table

    std::string_view module() const noexcept { return file.substr(file.rfind('/') + 1); }
  };

  void clear() noexcept { count_ = text_size_ = 0; }
  /// Adds an address. Drops it if there are already kMax.
  void add(std::uintptr_t address) noexcept {
    if (count_ < kMax) places_[count_++].address = address;
  }
  void resolve() noexcept;
  /// Called after resolve(). Runs another program and waits for its answers, `max_wait_ns` at most.
  void find_lines(std::uint64_t max_wait_ns) noexcept;
  /// Returns the place of an address that was added and resolved. Returns a place with only the address for other
  /// addresses.
  Place place_of(std::uintptr_t address) const noexcept;

 private:
  class File;

  std::string_view keep(std::string_view text) noexcept;
  std::string_view keep_line(std::string_view line) noexcept;
  void find_lines_of_file(Place* first, Place* last, std::uint64_t deadline_ns) noexcept;
  void resolve_in_file(std::string_view path, std::uintptr_t begin, std::uint64_t file_offset, Place* first,
                       Place* last) noexcept;

  static constexpr std::size_t kTextBytes = 256 << 10;
  std::size_t count_ = 0;
  std::size_t text_size_ = 0;
  Place places_[kMax] = {};
  char text_[kTextBytes] = {};
};

}}  // namespace testlog::v1
