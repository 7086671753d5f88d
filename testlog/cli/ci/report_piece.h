// ReportPiece: the beginning and the end of a report as text of XML, in a number of bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace testlog::cli {

/// Keeps the lines of a report that fits. Of a longer one, a quarter of the room is for its beginning, the rest for its
/// end, and a line between them says how many lines are left out. Single-thread.
class ReportPiece {
 public:
  /// REQUIRES: `max_bytes` >= kMinBytes.
  explicit ReportPiece(std::size_t max_bytes) noexcept : room_(max_bytes) {}
  static constexpr std::size_t kMinBytes = 256;

  /// Adds a line, which has no line end. A line that would take more than half of the room is cut.
  void add(std::string_view line);
  /// Returns the lines, with their ends, as xml_text().
  std::string text() const;

 private:
  std::size_t const room_;
  std::string begin_;
  std::deque<std::string> end_;
  std::size_t end_bytes_ = 0, left_out_ = 0;
  bool is_begin_full_ = false;  // all lines from now on belong to the end
};

}  // namespace testlog::cli
