#include "tracing_core/format/format_parts.h"

namespace tracing::inline v1::internal {
namespace {

class Compact final : public EventFormat {
 public:
  explicit Compact(FormatOptions const& options)
      : options_(options),
        fields_(options.fields != nullptr ? options.fields : default_fields()),
        style_{options.ansi, options.ansi_sanitization},
        key_(text_key(*fields_, style_, 1)) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    append_time(out, options_.timer.get(), event, style_);
    if (options_.level) append_level(out, event.metadata.level(), style_.ansi);
    if (options_.thread_names || options_.thread_ids) {
      append_thread(out, event.context.track(), options_.thread_names, options_.thread_ids);
    }
    if (event.shown) {
      for_each_from_root(event.shown, [&](SpanRef span) {
        append_painted(out, style_.ansi, kBold, span.metadata().name());
        out.push_back(':');
      });
      out.push_back(' ');
    }
    append_place(out, event.metadata);
    fields_->append(out, event.fields, style_);
    for_each_from_root(event.scope, [&](SpanRef span) {
      append_cached(out, span, key_, [&](TextBuffer& text) { append_span(text, span); });
    });
    out.push_back('\n');
    return true;
  }

 private:
  // A blank and the span's fields, or nothing where it has none.
  void append_span(TextBuffer& out, SpanRef span) const noexcept {
    std::size_t const before = out.size();
    out.push_back(' ');
    if (style_.ansi) out.append(kDim);
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) return out.resize_down(before);
    if (style_.ansi) out.append(kReset);
  }

  // `target: file:12: `
  void append_place(TextBuffer& out, Metadata const& metadata) const noexcept {
    bool any = options_.target;
    if (options_.target) {
      append_painted(out, style_.ansi, kDim, metadata.target());
      append_painted(out, style_.ansi, kDim, ":");
    }
    if (options_.file.value_or(false) && !metadata.file().empty()) {
      if (options_.target) out.push_back(' ');
      append_painted(out, style_.ansi, kDim, metadata.file());
      append_painted(out, style_.ansi, kDim, ":");
      any = true;
    }
    if (options_.line_number.value_or(false) && metadata.line() != 0) {
      if (style_.ansi) out.append(kDim);
      out.append_uint(metadata.line());
      if (style_.ansi) out.append(kReset);
      append_painted(out, style_.ansi, kDim, ":");
      any = true;
    }
    if (any) out.push_back(' ');
  }

  FormatOptions const options_;
  std::shared_ptr<FieldFormat const> const fields_;
  TextStyle const style_;
  void const* const key_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options) {
  return std::make_shared<Compact const>(options);
}

}  // namespace tracing::inline v1::internal
