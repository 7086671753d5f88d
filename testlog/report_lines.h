// ReportLines: which lines of a long report are printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace testlog::inline v1 {

/// Chooses at most `limit` lines, a line for each gap between them included. First come failures with the lines around
/// them, then errors, then warnings; if there is no room for all of one kind, the first and the last ones are chosen. Then
/// come the first lines, up to a quarter of the limit, and the last lines, up to half of it. Takes memory in proportion
/// to the limit. Single-thread.
class ReportLines {
 public:
  enum class Kind : std::uint8_t { failure, error, warning, other };
  static constexpr std::size_t kAround = 5;  ///< so many lines before a failure, and so many after it

  /// Zero: all lines.
  explicit ReportLines(std::size_t limit) noexcept : limit_(limit) {}

  /// Adds the next line. Throws std::bad_alloc, as choose() does.
  void add(Kind kind);
  /// To be called after the last line.
  void choose();
  /// Whether a line was chosen; lines count from zero.
  bool keeps(std::size_t line) const;

 private:
  // The first and the last lines of a kind.
  struct Ends {
    std::vector<std::size_t> first;
    std::deque<std::size_t> last;
  };

  bool keeps_all() const noexcept { return limit_ == 0 || count_ <= limit_; }
  void choose_important();
  void choose_ends();
  void offer(std::size_t line);
  void offer_with_surroundings(std::size_t line);
  void fill_gaps_of_one_line();

  std::size_t const limit_;
  std::size_t count_ = 0;
  Ends important_[3];            // by kind
  std::set<std::size_t> chosen_;
  std::size_t printed_ = 1;      // the chosen lines and the gaps; at first all is one gap
};

}  // namespace testlog::inline v1
