// TraceSource: the recording of a process, to be exported as a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

// The beginning or end of a part of the process's life that is no span, such as a test.
struct RecordedSection {
  bool begins;
  std::string_view name;  // of a beginning
};

struct TraceSource {
  explicit TraceSource(Recording& from) : recording(from), pid(from.process()) {}

  Recording& recording;
  std::uint64_t pid;                 // by which viewers know the processes of a trace apart
  std::string process{};             // its name
  std::unique_ptr<Filter> filter{};  // null: everything
  // Which records are written; the others are context of these. Null: all.
  std::function<bool(RecordEntry const&)> is_wanted{};
  // Is called for each record, before it is written. Null: nothing.
  std::function<void(RecordEntry const&)> each{};
  // The section that begins or ends with this record. Null: there are none.
  std::function<std::optional<RecordedSection>(RecordEntry const&)> section_of{};
};

// The test that begins or ends with this record, by the marks that test programs write.
std::optional<RecordedSection> test_of(RecordEntry const& entry);

// Which spans others follow, by their keys.
struct SpanLinks {
  std::unordered_set<std::uint64_t> causes;
  std::unordered_multimap<std::uint64_t, std::uint64_t> causes_of;

  static SpanLinks of(Recording& recording);
};

// Whether a span is a run of a kernel on a device; then its slice has the kernel's name, which is in its values.
bool is_kernel(Metadata const& metadata) noexcept;
void append_kernel_name(TextBuffer& out, SpanRef span) noexcept;

// Appends the name of a track, or `thread 3` if it has none: the same in all outputs.
void append_name_of_thread(TextBuffer& out, Track const& track) noexcept;

// The system's number of the thread whose track this is; none if it is another one, such as a GPU stream.
std::optional<std::int64_t> thread_of(Recording const& recording, std::uint64_t track);

}  // namespace tracing::inline v1::internal
