#include "tracing_core/format/format_parts.h"

namespace tracing::inline v1::internal {
namespace {

class Full final : public EventFormat {
 public:
  explicit Full(FormatOptions const& options)
      : options_(options),
        fields_(options.fields != nullptr ? options.fields : default_fields()),
        style_{options.ansi, options.ansi_sanitization},
        key_(text_key(*fields_, style_, 0)) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    Metadata const& metadata = event.metadata;
    append_time(out, options_.timer.get(), event, style_);
    if (options_.level) append_level(out, metadata.level(), style_.ansi);
    if (options_.thread_names || options_.thread_ids) [[unlikely]] {
      append_thread(out, event.context.track(), options_.thread_names, options_.thread_ids);
    }
    if (event.scope) {
      for_each_from_root(event.scope, [&](SpanRef span) {
        append_cached(out, span, key_, [&](TextBuffer& text) { append_span(text, span); });
      });
      out.push_back(' ');
    }
    if (options_.target) {
      append_painted(out, style_.ansi, kDim, metadata.target());
      append_painted(out, style_.ansi, kDim, ":");
      out.push_back(' ');
    }
    append_place(out, metadata);
    fields_->append(out, event.fields, style_);
    out.push_back('\n');
    return true;
  }

 private:
  // `name{fields}:`
  void append_span(TextBuffer& out, SpanRef span) const noexcept {
    append_painted(out, style_.ansi, kBold, span.metadata().name());
    std::size_t const before = out.size();
    append_painted(out, style_.ansi, kBold, "{");
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) {
      out.resize_down(before);
    } else {
      append_painted(out, style_.ansi, kBold, "}");
    }
    append_painted(out, style_.ansi, kDim, ":");
  }

  // `file: `, `file:12: ` or `12: `
  void append_place(TextBuffer& out, Metadata const& metadata) const noexcept {
    bool const line = options_.line_number.value_or(false) && metadata.line() != 0;
    if (options_.file.value_or(false) && !metadata.file().empty()) {
      append_painted(out, style_.ansi, kDim, metadata.file());
      append_painted(out, style_.ansi, kDim, ":");
      if (!line) out.push_back(' ');
    }
    if (!line) return;
    if (style_.ansi) out.append(kDim);
    out.append_uint(metadata.line());
    out.push_back(':');
    if (style_.ansi) out.append(kReset);
    out.push_back(' ');
  }

  FormatOptions const options_;
  std::shared_ptr<FieldFormat const> const fields_;
  TextStyle const style_;
  void const* const key_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_full(FormatOptions const& options) { return std::make_shared<Full const>(options); }

}  // namespace tracing::inline v1::internal
