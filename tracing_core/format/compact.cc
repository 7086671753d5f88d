#include "tracing_core/format/format_parts.h"

namespace tracing { inline namespace v1 { namespace formatting {
namespace {

template <bool kAnsi>
class Compact final : public TextFormat<kAnsi> {
 public:
  explicit Compact(FormatOptions const& options) : TextFormat<kAnsi>(options, default_fields(), false, 1) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    if (timer_ != nullptr) append_known_time(out, *timer_, event, kAnsi);
    if (options_.level) append_level(out, event.metadata.level(), kAnsi);
    if (options_.thread_names || options_.thread_ids) append_thread(out, event.context.track(), options_);
    if (event.shown) {
      for_each_from_root(
          event.shown,
          [&](SpanRef span) {
            append_name(out, span.metadata(), kBold, printed_name(span.metadata()));
            out.push_back(':');
          },
          [&] { out.append("...:"); });
      out.push_back(' ');
    }
    append_location(out, event.metadata);
    fields_->append(out, event.fields, style_);
    for_each_from_root(
        event.scope, [&](SpanRef span) { append_cached(out, span, key_, *this); }, [] {});
    out.push_back('\n');
    return true;
  }

 private:
  using Base = TextFormat<kAnsi>;
  using Base::append_name, Base::fields_, Base::key_, Base::options_, Base::shows_file, Base::shows_line, Base::style_,
      Base::timer_;

  // Appends a blank and the span's fields, or nothing if the span has no fields.
  void append_span(TextBuffer& out, SpanRef span) const noexcept override {
    std::size_t const before = out.size();
    out.push_back(' ');
    if (kAnsi) out.append(kDim);
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) return out.resize_down(before);
    if (kAnsi) out.append(kReset);
  }

  // Appends `target: file:12: `.
  void append_location(TextBuffer& out, Metadata const& metadata) const noexcept {
    bool any = options_.target;
    if (options_.target) {
      append_name(out, metadata, kDim, metadata.target());
      append_painted(out, kAnsi, kDim, ":");
    }
    if (shows_file(metadata)) {
      if (options_.target) out.push_back(' ');
      append_name(out, metadata, kDim, metadata.file());
      append_painted(out, kAnsi, kDim, ":");
      any = true;
    }
    if (shows_line(metadata)) {
      if (kAnsi) out.append(kDim);
      out.append_uint(metadata.line());
      if (kAnsi) out.append(kReset);
      append_painted(out, kAnsi, kDim, ":");
      any = true;
    }
    if (any) out.push_back(' ');
  }
};

}  // namespace

std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options) {
  return make_text_format<Compact>(options);
}

}}}  // namespace tracing::v1::formatting
