// Declares SourceReader, which reads the line information of PTX into a SourceTable.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cuda_cpu/ptx/cursor.h"
#include "cuda_cpu/ptx/source_lines.h"

namespace cuda_cpu::ptx {

class SourceReader {
 public:
  SourceReader(Cursor& cursor, SourceTable& table) : cursor_(cursor), table_(table) {}

  /// Read the text that follows `.file` and `.loc`. It does not end with a ';', so the next statement may be on the
  /// same line.
  void file();
  void location();
  /// Reads the section .debug_str, from '{' to '}'.
  void strings();

  /// Returns the place of the instructions that follow: -1 until the first location of the function.
  std::int32_t place() const noexcept { return current_; }
  void begin_function() {
    current_ = -1;
    latest_.clear();
  }
  /// Resolves the names of functions. Called at the end, for .debug_str is the last section of a text.
  void finish();

 private:
  struct Key {
    std::uint64_t file = 0;
    std::uint64_t line = 0;
    std::uint64_t column = 0;

    auto operator<=>(Key const&) const = default;
  };
  struct Label {
    std::string name;
    std::uint64_t offset = 0;

    auto operator<=>(Label const&) const = default;
  };

  Key key();
  std::int32_t index_of(SourceTable::Place const& place);

  Cursor& cursor_;
  SourceTable& table_;
  std::int32_t current_ = -1;
  std::map<Key, std::int32_t> latest_;  // for the current function: the place that a location named last
  std::map<SourceTable::Place, std::int32_t> indices_;
  std::map<Label, std::int32_t> labels_;       // maps a label to its index in SourceTable::functions_
  std::map<std::string, std::size_t> begins_;  // where each label begins in `bytes_`
  std::string bytes_;                          // contents of .debug_str
};

}  // namespace cuda_cpu::ptx
