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
#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

// The beginning or end of a section: a part of the process's life other than a span, such as a test.
struct RecordedSection {
  bool begins;
  std::string_view name;  // empty for an end
};

struct TraceSource {
  explicit TraceSource(Recording& from) : recording(from), pid(from.process()) {}

  Recording& recording;
  std::uint64_t pid;                 // viewers tell the processes of a trace apart by it
  std::string process{};             // the name of the process
  std::unique_ptr<Filter> filter{};  // null: everything
  // Returns true for the records to write; the other records are their context. Null: all are written.
  std::function<bool(Entry const&)> is_wanted{};
  // Called for each record, before it is written. May be null.
  std::function<void(Entry const&)> each{};
  // Returns the section that begins or ends with this record, if any. Null: the recording has no sections.
  std::function<std::optional<RecordedSection>(Entry const&)> section_of{};
};

// Returns the test that begins or ends with this record, if any. Test programs write marks for this.
std::optional<RecordedSection> test_of(Entry const& entry);

// Says which spans follow from which others, by their keys.
struct SpanLinks {
  std::unordered_set<std::uint64_t> causes;
  std::unordered_multimap<std::uint64_t, std::uint64_t> causes_of;

  static SpanLinks of(Recording& recording);
};

// Returns true if a span is a run of a kernel on a device. Its slice then has the kernel's name, which is one of its
// values.
bool is_kernel(Metadata const& metadata) noexcept;
void append_kernel_name(TextBuffer& out, SpanRef span) noexcept;

// Appends the name of a track or, if it has no name, `thread 3`. All outputs use this.
void append_name_of_thread(TextBuffer& out, Track const& track) noexcept;

// Returns the system's number of the thread whose track this is; nothing for other tracks, such as a GPU stream.
std::optional<std::int64_t> thread_of(Recording const& recording, std::uint64_t track);

}}}  // namespace tracing::v1::recording
