#include "tracing_core/format/format_parts.h"

namespace tracing::inline v1::internal {
namespace {

// ANSI is known when it is compiled: most of the text is constant then.
template <bool kAnsi>
class Compact final : public EventFormat, private SpanTextMaker {
 public:
  explicit Compact(FormatOptions const& options)
      : options_(options),
        timer_(options.timer.get()),
        fields_(options.fields != nullptr ? options.fields : default_fields()),
        style_{kAnsi, options.ansi_sanitization},
        key_(text_key(*fields_, style_, 1)) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    if (timer_ != nullptr) append_known_time(out, *timer_, event, kAnsi);
    if (options_.level) append_level(out, event.metadata.level(), kAnsi);
    if (options_.thread_names || options_.thread_ids) {
      append_thread(out, event.context.track(), options_.thread_names, options_.thread_ids);
    }
    if (event.shown) {
      for_each_from_root(event.shown, [&](SpanRef span) {
        append_painted(out, kAnsi, kBold, span.metadata().name());
        out.push_back(':');
      });
      out.push_back(' ');
    }
    append_place(out, event.metadata);
    fields_->append(out, event.fields, style_);
    for_each_from_root(event.scope, [&](SpanRef span) {
      append_cached(out, span, key_, *this);
    });
    out.push_back('\n');
    return true;
  }

 private:
  // A blank and the span's fields, or nothing where it has none.
  void append_span(TextBuffer& out, SpanRef span) const noexcept override {
    std::size_t const before = out.size();
    out.push_back(' ');
    if (kAnsi) out.append(kDim);
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) return out.resize_down(before);
    if (kAnsi) out.append(kReset);
  }

  // `target: file:12: `
  void append_place(TextBuffer& out, Metadata const& metadata) const noexcept {
    bool any = options_.target;
    if (options_.target) {
      append_painted(out, kAnsi, kDim, metadata.target());
      append_painted(out, kAnsi, kDim, ":");
    }
    if (options_.file.value_or(false) && !metadata.file().empty()) {
      if (options_.target) out.push_back(' ');
      append_painted(out, kAnsi, kDim, metadata.file());
      append_painted(out, kAnsi, kDim, ":");
      any = true;
    }
    if (options_.line_number.value_or(false) && metadata.line() != 0) {
      if (kAnsi) out.append(kDim);
      out.append_uint(metadata.line());
      if (kAnsi) out.append(kReset);
      append_painted(out, kAnsi, kDim, ":");
      any = true;
    }
    if (any) out.push_back(' ');
  }

  FormatOptions const options_;
  Timer const* const timer_;
  std::shared_ptr<FieldFormat const> const fields_;
  TextStyle const style_;
  void const* const key_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options) {
  if (options.ansi) return std::make_shared<Compact<true> const>(options);
  return std::make_shared<Compact<false> const>(options);
}

}  // namespace tracing::inline v1::internal
