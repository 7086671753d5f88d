// CrashLine: a line of a report that a signal handler may write.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "tracing_core/environment/output.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/model/value.h"
#include "tracing_core/record/decode/crash_reader.h"
#include "tracing_core/support/utf8.h"

namespace testlog { inline namespace v1 {

using tracing::environment::Output;
using tracing::recording::CrashReader;

/// A line that is being composed. Drops what does not fit. One thread at a time. Async-signal-safe.
class CrashLine {
 public:
  CrashLine& operator<<(std::string_view text) noexcept {
    if (is_cut_) return *this;
    if (text.size() > room()) {
      is_cut_ = true;
      text = text.substr(0, tracing::support::char_start(text, room()));
    }
    std::memcpy(bytes_ + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  CrashLine& operator<<(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t at = sizeof(digits);
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << std::string_view(digits + at, sizeof(digits) - at);
  }
  void add_hexadecimal(std::uint64_t number) noexcept {
    char digits[16];
    *this << "0x"
          << std::string_view(
                 digits, static_cast<std::size_t>(std::to_chars(digits, std::end(digits), number, 16).ptr - digits));
  }
  /// Adds `1.204 ms`, or `12.204 s` from one second on.
  void add_duration(std::uint64_t nanoseconds) noexcept;
  /// Adds `thread main (1234)` or `thread 6 (1234)`: the name that its records have, and the system's number.
  void add_thread(tracing::Track const& track, std::int64_t os_thread) noexcept;
  /// Returns how many bytes can be added.
  std::size_t room() const noexcept { return end_ - size_; }
  /// Adds a span in at most `max_bytes`. A longer span uses all of them: `load{path="a.b...}`. `for_each_group(f)` must
  /// call `f(FieldValues const&)` for each group of the span's values.
  template <class F>
  void add_span(tracing::Metadata const& metadata, std::size_t max_bytes, F&& for_each_group) noexcept {
    constexpr std::string_view kCutEnd = "...}";
    if (is_cut_) return;
    std::size_t const max_uncut = std::max(max_bytes, kCutEnd.size()) - kCutEnd.size();
    std::size_t const end_before = std::exchange(end_, size_ + std::min(room(), max_uncut));
    bool any = metadata.is_perf();
    if (any) {
      *this << "perf{name=";
      add_value(tracing::Value::of_text(metadata.name()));
    } else {
      add_text(metadata.name());
    }
    // A field that was recorded several times has its last value in the place of the first.
    std::array<tracing::Value, 256> last;
    std::array<std::uint8_t, 256> in_order;
    std::size_t count = 0;
    for_each_group([&](tracing::FieldValues const& group) {
      for (std::size_t i = 0; i < group.size() && i < last.size(); ++i) {
        tracing::Value const value = group.value(i);
        if (value.is_empty()) continue;
        if (last[i].is_empty()) in_order[count++] = static_cast<std::uint8_t>(i);
        last[i] = value;
      }
    });
    for (std::size_t i = 0; i < count && in_order[i] < metadata.fields().size(); ++i) {
      *this << (std::exchange(any, true) ? " " : "{");
      add_field(metadata.fields()[in_order[i]], last[in_order[i]]);
    }
    end_ = end_before;
    if (std::exchange(is_cut_, false)) *this << "...";
    if (any) *this << "}";
  }
  // Adds text of the program, with control characters as in other reports: `\n`, `\x1b`.
  void add_text(std::string_view text) noexcept {
    while (!text.empty() && !is_cut_) {
      auto const c = tracing::support::decode_utf8(text);
      bool const is_plain = c.valid && c.value >= 0x20 && c.value < 0x7f;
      tracing::InlineTextBuffer<32> escaped;
      if (!is_plain) tracing::append_sanitized_in_line(escaped, text.substr(0, c.size));
      *this << (escaped.view().empty() ? text.substr(0, c.size) : escaped.view());
      text.remove_prefix(c.size);
    }
  }
  // Adds a text value. Cuts a long text, to leave room for other values: `the first of i... (1048576 bytes)`.
  void add_shortened(std::string_view text) noexcept {
    std::size_t const whole_size = reader_ == nullptr ? text.size() : reader_->whole_size(text);
    std::string_view const shown = text.substr(0, tracing::support::char_start(text, kMaxTextBytes));
    add_text(shown);
    if (whole_size > shown.size()) *this << "... (" << std::uint64_t{whole_size} << " bytes)";
  }
  /// Sets the reader of the recording from which the next texts come, or null. It knows the whole size of a text that
  /// the recording has cut.
  void set_reader(CrashReader const* reader) noexcept { reader_ = reader; }
  void add_value(tracing::Value const& value) noexcept;
  void add_error(tracing::Value const& value) noexcept;
  void add_message(tracing::Value const& value) noexcept;
  void add_field(std::string_view name, tracing::Value const& value) noexcept;
  /// Adds the fields that have a value, with `before` in front of the first. Returns false if no field has a value.
  bool add_fields(tracing::FieldValues const& fields, std::string_view before = "") noexcept;

  /// Sets the member "kind" of lines that are written as JSON.
  void set_kind(std::string_view kind) noexcept { kind_ = kind; }
  /// Writes the line and starts an empty line.
  void write_to(Output& output) noexcept;
  void clear() noexcept { cut_back_to(0); }
  std::size_t size() const noexcept { return size_; }
  /// Removes what was added since the line had `size` bytes.
  void cut_back_to(std::size_t size) noexcept {
    size_ = size;
    is_cut_ = false;
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kMaxTextBytes = 512;
  static constexpr std::size_t kMaxKind = 16;

  void write_json_to(Output& output) noexcept;

  CrashReader const* reader_ = nullptr;
  std::string_view kind_;
  std::size_t size_ = 0;
  std::size_t end_ = kBytes;  // further text is cut here
  bool is_cut_ = false;
  char bytes_[kBytes] = {};
};

}}  // namespace testlog::v1
