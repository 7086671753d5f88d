// PageRecords: the lines and spans of a recording as the page of `testlog report` needs them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/value.h"

namespace testlog::cli::page {

/// Texts by number, each once. Number 0 is the empty text.
class Texts {
 public:
  Texts() { number_of({}); }
  Texts(Texts const&) = delete;  // numbers_ refers to all_
  Texts& operator=(Texts const&) = delete;

  std::uint32_t number_of(std::string_view text);
  std::string const& operator[](std::uint32_t number) const { return all_[number]; }

 private:
  std::deque<std::string> all_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// What a value of a column is. A value is `payload * 8 + type`; the payload of texts is a number of Texts.
enum class ValueType : std::uint8_t {
  none,
  no,
  yes,
  natural,   ///< an integer below 2^47
  negative,  ///< its absolute value
  text,      ///< as printed, in quotes
  other,     ///< as printed
  real,      ///< as printed
};

/// A statement, with what the page needs to print its records.
struct PageSite {
  tracing::Metadata const* metadata = nullptr;
  /// The values of a record: its fields except the message, in order, then the placeholders of the message.
  std::size_t value_count = 0;
};

enum class LineKind : std::uint8_t { event, headline, failure, skip, continuation };

/// A line as `testlog show --report lines` prints it: `label time LEVEL context target: text`.
struct PageLine {
  std::int64_t time_ns = 0;
  std::uint32_t track = 0;      ///< an index
  std::uint32_t span = 0;       ///< an index; 0: none
  std::uint32_t site = 0;       ///< an index; 0: the whole line is `text`
  std::uint32_t label = 0;      ///< a text
  std::uint32_t context = 0;    ///< 0: the page composes it of the spans; otherwise a text's number + 1
  std::uint32_t text = 0;       ///< 0: the page composes it of the values; otherwise a text's number + 1
  std::uint32_t tag = 0;        ///< of the test
  std::size_t first_value = 0;  ///< an index
  LineKind kind = LineKind::event;
};

struct PageSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = -1;  ///< -1: it was open at the end
  std::uint32_t track = 0;
  std::uint32_t parent = 0;  ///< an index, less than the span's own; 0: none
  std::uint32_t cause = 0;   ///< an index: it follows from this span, as what a GPU does from its launch; 0: none
  std::uint32_t site = 0;
  std::uint32_t tag = 0;
  std::size_t first_value = 0;
  std::size_t first_line = 0;  ///< the index of the next line
  bool has_late_values =
      false;               ///< it, or a span around it: a line shows the values of its time, so its context is a text
  bool has_track = false;  ///< a thread has entered it
};

struct PageTrack {
  std::uint64_t number = 0;
  std::string name;
  bool is_foreign = false;  ///< no thread: a stream of a GPU
};

/// All of a recording. The first element of lists with indices from 1 is unused.
struct PageRecords {
  Texts texts;
  std::vector<PageSite> sites{1};
  std::vector<PageTrack> tracks;
  std::vector<PageSpan> spans{1};
  std::vector<PageLine> lines;
  std::vector<std::uint64_t> values;
  std::vector<std::pair<std::string, std::string>> environment;  ///< what the process says about itself
  std::string stopped;                                           ///< why the lines end early; empty if all are there
};

}  // namespace testlog::cli::page
