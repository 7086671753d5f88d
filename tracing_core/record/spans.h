// Spans: the spans of a recording at the entry that a reader visits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "tracing_core/model/stored_values.h"
#include "tracing_core/record/decode/span_tracker.h"
#include "tracing_core/record/entry.h"

namespace tracing { inline namespace v1 { namespace recording {

/// A span with its values at the visited entry.
struct Span {
  Span() = default;
  Span(Span const&) = delete;
  Span& operator=(Span const&) = delete;
  ~Span();  // handles spans of any depth

  std::uint64_t key = 0;
  Metadata const* metadata = nullptr;  ///< valid as long as the Recording
  std::shared_ptr<Span> parent{};
  std::uint32_t tag = 0;  ///< when it began
  bool shown = false;     ///< see Entry::was_shown()
  StoredValues values{};  ///< one group from its beginning, and one for each later record of values

  /// The names of the spans around it and its own, outermost first: `request:load`.
  std::string path() const;
};

/// Follows a recording entry by entry. Keeps a span until the entry after its end, and as long as it has children.
/// Single-thread.
class Spans {
 public:
  /// Call it for each entry, restated ones included, before the entry is used.
  void follow(Entry const& entry);
  /// Returns the span that the last entry is about or, for an event, the span around it. Null if the event is in no
  /// span.
  Span const* current() const noexcept { return current_; }

 private:
  Span* find(std::uint64_t key) const noexcept;
  void add(Entry const& entry, std::uint64_t parent, std::uint32_t tag);
  void add_values(Span* span, Entry const& entry);
  std::uint64_t innermost(Entry const& entry) const;

  std::unordered_map<std::uint64_t, std::shared_ptr<Span>> spans_;
  std::unordered_map<std::uint64_t, SpanTracker<std::uint64_t>> foreign_;  // spans that other tracks are in
  std::unordered_map<std::uint64_t, std::uint64_t> restored_;  // by writer: the span whose restated values are new
  std::uint64_t ended_ = 0;
  Span const* current_ = nullptr;
};

}}}  // namespace tracing::v1::recording
