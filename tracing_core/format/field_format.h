// FieldFormat: prints the fields of events and spans. The formats are default_fields() and pretty_fields().
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/format/style.h"
#include "tracing_core/model/field_values.h"

namespace tracing { inline namespace v1 {

/// Prints the fields of events and spans. Thread-safe. The text of a span's fields is cached until values are recorded,
/// so a format must always print the same text for equal values.
class FieldFormat {
 public:
  FieldFormat() noexcept;
  FieldFormat(FieldFormat const&) = delete;
  FieldFormat& operator=(FieldFormat const&) = delete;
  virtual ~FieldFormat() = default;

  /// Appends the fields that have a value.
  virtual void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept = 0;
  /// Appends values that a later record() added. The span's other fields are in `out` from `begin` on; there may be
  /// none. Unless overridden, appends a blank if there are any, and calls append().
  virtual void append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields,
                               TextStyle style) const noexcept;

  /// Appends all fields of a span: calls append() for the fields that the span was made with, and append_recorded() for
  /// the fields of each later record(). A field that was recorded several times is passed to the first of these calls,
  /// with its last value, unless the style wants all values. For a perf span, calls append() for the span's name and
  /// append_recorded() for everything else.
  void append_span(TextBuffer& out, SpanRef span, TextStyle style) const noexcept;

  /// Returns a number that identifies this format's cached texts. Unique in the process.
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t const number_;
};

/// Prints `hello count=3 name="x"`, as in the formats full and compact.
std::shared_ptr<FieldFormat const> default_fields();
/// Prints `hello, count: 3, name: "x"`, as in the format pretty.
std::shared_ptr<FieldFormat const> pretty_fields();

/// Makes a field format that calls `append`, a `void(TextBuffer& out, FieldValues const& fields, TextStyle style)`. It
/// must be thread-safe and must not throw.
template <class F>
std::shared_ptr<FieldFormat const> make_field_format(F append) {
  class Calling final : public FieldFormat {
   public:
    explicit Calling(F&& f) : append_(std::move(f)) {}
    void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
      append_(out, fields, style);
    }

   private:
    F append_;
  };
  return std::make_shared<Calling const>(std::move(append));
}

/// Appends the value of the field `message`: text without quotes, other kinds as append_debug() does. Sanitizes it if
/// the style says so.
void append_message_text(TextBuffer& out, Value const& value, TextStyle style) noexcept;

}}  // namespace tracing::v1
