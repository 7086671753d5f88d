// Declares ChromeCallsites, the parts of a Chrome trace's records that are the same each time, as text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/chrome_record.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// Appends the records of spans from texts made when their callsite was first seen. Single-thread. A callsite stays as long as
// the program, and so does its text.
class ChromeCallsites {
 public:
  // REQUIRES: records.are_plain().
  ChromeCallsites(ChromeRecords const& records, std::int64_t pid) noexcept : records_(records), pid_(pid) {}

  // Appends a `B` or `E` up to its time; `tid` is the number with which it ends. False, and nothing is appended, where it is
  // not one of those that most are: with values recorded once, and no two of a name.
  bool append(TextBuffer& out, char phase, Metadata const& metadata, std::string_view groups, std::string_view tid) noexcept;

 private:
  struct Callsite {
    bool is_usual = true;             // no two arguments have one name
    std::string begin;                // up to the first argument
    std::vector<std::string> keys;    // each behind a comma, where it is not the first
    std::string place;                // the arguments `.file` and `.line`
    std::string begin_without_args;   // where there are none
    std::string after_args;           // up to the number of the thread
    std::string end;                  // the whole `E` up to there
  };
  struct Known {
    Metadata const* metadata = nullptr;
    Callsite const* callsite = nullptr;
  };

  Callsite const* find(Metadata const& metadata) noexcept;
  std::unique_ptr<Callsite> describe(Metadata const& metadata) const;
  static void append_begin(TextBuffer& out, Callsite const& callsite, Metadata const& metadata,
                           std::string_view groups) noexcept;

  ChromeRecords const& records_;
  std::int64_t const pid_;
  std::array<Known, 256> last_;  // by address
  std::unordered_map<Metadata const*, std::unique_ptr<Callsite>> all_;
};

}  // namespace tracing::inline v1::internal
