#include "testlog/report/report_lines.h"

#include <iterator>

namespace testlog { inline namespace v1 {

void ReportLines::add(Kind kind) {
  std::size_t const line = count_++;
  if (limit_ == 0 || kind == Kind::other) return;
  Ends& ends = important_[static_cast<std::size_t>(kind)];
  if (ends.first.size() < limit_) return ends.first.push_back(line);
  ends.last.push_back(line);
  if (ends.last.size() > limit_) ends.last.pop_front();
}

void ReportLines::choose() {
  if (keeps_all()) return;
  choose_important();
  choose_ends();
  fill_gaps_of_one_line();
}

bool ReportLines::keeps(std::size_t line) const { return keeps_all() || chosen_.contains(line); }

void ReportLines::choose_important() {
  for (std::size_t kind = 0; kind < std::size(important_); ++kind) {
    std::deque<std::size_t>& rest = important_[kind].last;
    rest.insert(rest.begin(), important_[kind].first.begin(), important_[kind].first.end());
    bool const is_failure = kind == static_cast<std::size_t>(Kind::failure);
    for (bool from_front = true; !rest.empty() && printed_ < limit_; from_front = !from_front) {
      std::size_t const line = from_front ? rest.front() : rest.back();
      from_front ? rest.pop_front() : rest.pop_back();
      is_failure ? offer_with_surroundings(line) : offer(line);
    }
  }
}

void ReportLines::choose_ends() {
  for (std::size_t i = 0; i < limit_ / 2; ++i) {
    offer(count_ - 1 - i);
    if (i % 2 == 0 && i / 2 < limit_ / 4) offer(i / 2);
  }
}

void ReportLines::offer(std::size_t line) {
  auto const next = chosen_.lower_bound(line);
  if (next != chosen_.end() && *next == line) return;
  bool const leaves_gap_before = line > (next == chosen_.begin() ? 0 : *std::prev(next) + 1);
  bool const leaves_gap_after = line + 1 < (next == chosen_.end() ? count_ : *next);
  std::size_t const more = std::size_t{leaves_gap_before} + std::size_t{leaves_gap_after};  // the line replaces a gap
  if (printed_ + more > limit_) return;
  chosen_.insert(next, line);
  printed_ += more;
}

void ReportLines::offer_with_surroundings(std::size_t line) {
  offer(line);
  for (std::size_t distance = 1; distance <= kAround; ++distance) {
    if (line >= distance) offer(line - distance);
    if (line + distance < count_) offer(line + distance);
  }
}

// Chooses a line that is alone in a gap: it takes no more room than the note of the gap.
void ReportLines::fill_gaps_of_one_line() {
  std::size_t next = 0;
  std::vector<std::size_t> lines;
  for (std::size_t const chosen : chosen_) {
    if (chosen == next + 1) lines.push_back(next);
    next = chosen + 1;
  }
  if (next + 1 == count_) lines.push_back(next);
  chosen_.insert(lines.begin(), lines.end());
}

}}  // namespace testlog::v1
