// ReportLines: chooses which lines of a long report are printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace testlog { inline namespace v1 {

/// Chooses at most `limit` lines, counting a line for each gap between them. Chooses failures with the lines around
/// them first, then errors, then warnings. If a kind does not fit, chooses its first and its last lines. Then chooses
/// the first lines of the report, up to a quarter of the limit, and its last lines, up to half of the limit. Takes
/// memory in proportion to the limit. Single-thread.
class ReportLines {
 public:
  enum class Kind : std::uint8_t { failure, error, warning, other };
  static constexpr std::size_t kAround = 5;  ///< lines before a failure, and as many after it

  /// A limit of zero keeps all lines.
  explicit ReportLines(std::size_t limit) noexcept : limit_(limit) {}

  /// Adds the next line. Throws std::bad_alloc, as choose() does.
  void add(Kind kind);
  /// Called after the last line.
  void choose();
  /// Returns true if a line was chosen. Lines count from zero.
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
  Ends important_[3];  // by kind
  std::set<std::size_t> chosen_;
  std::size_t printed_ = 1;  // the chosen lines and the gaps; at first everything is one gap
};

}}  // namespace testlog::v1
