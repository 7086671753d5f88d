// ThreadLabelFormat: names the thread of a record in its line.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/format/event_format.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Appends `worker-1`, or `thread 3` if the thread has no name. Async-signal-safe if `out` need not grow.
void append_thread_name(TextBuffer& out, Track const& track) noexcept;

/// Appends `[worker-1] `.
void append_thread_label(TextBuffer& out, Track const& track) noexcept;

/// Adds members to the JSON object on the line that ends a text.
class JsonMembers {
 public:
  /// Opens the object. is_open() is false if the text does not end with an object, as when memory ran out.
  explicit JsonMembers(TextBuffer& out) noexcept;
  JsonMembers(JsonMembers const&) = delete;
  JsonMembers& operator=(JsonMembers const&) = delete;
  /// Closes the object.
  ~JsonMembers();

  bool is_open() const noexcept { return is_open_; }
  /// `name` needs no escapes. Returns the buffer to which the value must be appended.
  TextBuffer& add(std::string_view name) noexcept;
  void add_thread(Track const& track) noexcept;

 private:
  TextBuffer& out_;
  bool const is_open_;
};

/// Wraps another format. In text, a label precedes all lines or, depending on `labels`, the lines of all threads but
/// the thread that made this object. JSON objects end with the member "thread" unless labels are off.
class ThreadLabelFormat final : public EventFormat {
 public:
  ThreadLabelFormat(std::shared_ptr<EventFormat const> format, bool is_json, ThreadLabels labels) noexcept;

  bool append(TextBuffer& out, EventView const& event) const noexcept override;

 private:
  bool names(Track const& track) const noexcept;

  std::shared_ptr<EventFormat const> const format_;
  bool const is_json_;
  ThreadLabels const labels_;
  std::uint64_t const own_number_;
};

}}}  // namespace tracing::v1::environment
