// Declares FieldFormat, which prints the fields of events and spans, and the formats there are.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/format/style.h"
#include "tracing_core/model/field_values.h"

namespace tracing::inline v1 {

/// Prints the fields of events and spans. Thread-safe. The text of a span's fields is kept and made again only when
/// values were recorded, so a format must print the same for the same values.
class FieldFormat {
 public:
  FieldFormat() noexcept;
  FieldFormat(FieldFormat const&) = delete;
  FieldFormat& operator=(FieldFormat const&) = delete;
  virtual ~FieldFormat() = default;

  /// Appends the fields that have a value.
  virtual void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept = 0;
  /// Appends what record() added to a span whose fields already print as something from `begin` of `out` on, which may
  /// be nothing. A blank and append() unless overridden.
  virtual void append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields, TextStyle style) const noexcept;

  /// Appends all fields of a span: append() for those it was made with, append_recorded() for each record() since. Of a
  /// perf span its name first, append_recorded() for all that follows.
  void append_span(TextBuffer& out, SpanRef span, TextStyle style) const noexcept;

  /// Tells this format's texts from other formats'. Never used again.
  std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t const number_;
};

/// `hello count=3 name="x"`: what the formats full and compact use.
std::shared_ptr<FieldFormat const> default_fields();
/// `hello, count: 3, name: "x"`: what the format pretty uses.
std::shared_ptr<FieldFormat const> pretty_fields();

/// A field format that calls `append`, a `void(TextBuffer& out, FieldValues const& fields, TextStyle style)` that is
/// thread-safe and does not throw.
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

/// Appends a value as it stands behind a message's name: text bare, all else as by append_debug(); made safe where the
/// style says so.
void append_message_text(TextBuffer& out, Value const& value, TextStyle style) noexcept;

}  // namespace tracing::inline v1
