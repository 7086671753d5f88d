// ChromeCallsites: the constant parts of the records of spans in a Chrome trace, formatted once for each callsite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/chrome/chrome_record.h"
#include "tracing_core/export/chrome/chrome_stream.h"

namespace tracing { inline namespace v1 { namespace internal {

// Appends the usual records of spans. Formatting the constant parts each time would take more than half of the writer's
// time. Single-thread.
class ChromeCallsites {
 public:
  // REQUIRES: records.are_plain().
  ChromeCallsites(ChromeRecords const& records, std::int64_t pid) noexcept : records_(records), pid_(pid) {}

  // Appends what records.append_stored() would, up to the thread's number. Handles `B` whose arguments have different
  // names, and `E` without arguments; returns false and appends nothing for other records.
  bool append(TextBuffer& out, ChromeValuesRecord const& record, std::string_view groups) noexcept;

 private:
  struct Texts {
    bool has_unique_keys = true;
    bool has_place = false;         // whether `start` has the arguments `.file` and `.line`
    std::string start;              // beginning of `B`, up to the values
    std::vector<std::string> keys;  // keys of the values, each after a comma
    std::string rest;               // rest of `B`, after the arguments
    std::string end;                // the whole `E`
  };

  Texts make(Metadata const& metadata) const;
  std::string without_values(char phase, Metadata const& metadata) const;

  ChromeRecords const& records_;
  std::int64_t const pid_;
  std::unordered_map<Metadata const*, Texts> texts_;
};

}}}  // namespace tracing::v1::internal
