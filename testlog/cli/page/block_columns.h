// make_block(): the records of a test as bytes that the script of the page reads.
//
//     block  = u32 size of the JSON, JSON, column*
//     column = u32 size, bytes
//
// Numbers have their lowest byte first. Columns are varints (7 bits a byte, the lowest first); those of differences are
// zigzag. The columns of spans are begin (difference), duration + 1 or 0 if open, track, index - parent or 0, cause or
// 0, site, and the number of lines before; those of lines are time (difference), track, span, site, kind, label,
// context and text. The last column has the values of all spans, then of all lines, as many as their sites have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testlog/cli/page/page_records.h"

namespace testlog::cli::page {

struct Block {
  std::string bytes{};
  std::size_t lines = 0, spans = 0;
  std::size_t left_out = 0;                       ///< lines in the middle
  std::vector<tracing::Metadata const*> sites{};  ///< its statements; valid as long as the recording
};

/// Returns a callsite as a JSON object.
std::string json_of_site(tracing::Metadata const& metadata);

/// Returns the block of the records with this tag, and the spans around them. Keeps at most `max_lines` lines: the
/// first half and the last half.
Block make_block(PageRecords const& records, std::uint32_t tag, std::size_t max_lines = SIZE_MAX);

}  // namespace testlog::cli::page
