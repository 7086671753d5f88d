// RecordedSpans: what a reader of a recording knows of the spans at the record that it visits.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tracing_core/model/stored_values.h"
#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

/// A span with the values that it had at the visited record.
struct RecordedSpan {
  RecordedSpan() = default;
  RecordedSpan(RecordedSpan const&) = delete;
  RecordedSpan& operator=(RecordedSpan const&) = delete;
  ~RecordedSpan();  // of any depth

  std::uint64_t key = 0;
  Metadata const* metadata = nullptr;  ///< valid as long as the Recording
  std::shared_ptr<RecordedSpan> parent{};
  std::uint32_t tag = 0;  ///< when it began
  bool shown = false;     ///< see kShown
  StoredValues values{};  ///< a group from its beginning and one for each time that it got values
};

/// Follows a recording entry by entry. Keeps a span until the entry after its end, and as long as it has children.
class RecordedSpans {
 public:
  /// To be called for each entry, restated ones as well, before the entry is used.
  void follow(RecordEntry const& entry);
  /// The span that the followed entry is about or, of an event, in which it is. Null if there is none.
  RecordedSpan const* current() const noexcept { return current_; }

 private:
  RecordedSpan* find(std::uint64_t key) const noexcept;
  void add(RecordEntry const& entry, std::uint64_t parent, std::uint32_t tag);
  void add_values(RecordedSpan* span, RecordEntry const& entry);
  std::uint64_t innermost(RecordEntry const& entry) const;

  std::unordered_map<std::uint64_t, std::shared_ptr<RecordedSpan>> spans_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> foreign_;  // which spans other tracks are in
  std::unordered_map<std::uint64_t, std::uint64_t> restored_;  // by writer: the span whose restated values are news
  std::uint64_t ended_ = 0;
  RecordedSpan const* current_ = nullptr;
};

}  // namespace tracing::inline v1::internal
