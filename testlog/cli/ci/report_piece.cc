#include "testlog/cli/ci/report_piece.h"

#include <fmt/format.h>

#include <utility>

#include "testlog/summary/run_summary.h"
#include "testlog/summary/xml_text.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

constexpr std::size_t kMaxNoteBytes = 60;
constexpr std::size_t kMaxEscape = 6;  // the most bytes that a byte of text takes: `&quot;`

}  // namespace

void ReportPiece::add(std::string_view line) {
  std::string text = summary::xml_text(line);
  if (text.size() > room_ / 2) text = summary::xml_text(summary::cut(line, room_ / 2 / kMaxEscape));
  text += '\n';
  is_begin_full_ |= begin_.size() + text.size() > room_ / 4;
  if (!is_begin_full_) {
    begin_ += text;
    return;
  }
  end_bytes_ += text.size();
  end_.push_back(std::move(text));
  while (begin_.size() + end_bytes_ + (left_out_ == 0 ? 0 : kMaxNoteBytes) > room_) {
    ++left_out_;
    end_bytes_ -= end_.front().size();
    end_.pop_front();
  }
}

std::string ReportPiece::text() const {
  std::string text = begin_;
  if (left_out_ > 0) text += fmt::format("... {} left out here ...\n", tracing::support::counted(left_out_, "line"));
  for (std::string const& line : end_) text += line;
  return text;
}

}  // namespace testlog::cli
