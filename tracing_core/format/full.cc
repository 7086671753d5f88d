#include "tracing_core/format/format_parts.h"
#include "tracing_core/format/perf_line.h"

namespace tracing { inline namespace v1 { namespace formatting {
namespace {

template <bool kAnsi>
class Full final : public TextFormat<kAnsi> {
 public:
  explicit Full(FormatOptions const& options)
      : TextFormat<kAnsi>(options, default_fields(), false, 0), has_default_fields_(fields_ == default_fields()) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    Metadata const& metadata = event.metadata;
    if (timer_ != nullptr) append_known_time(out, *timer_, event, kAnsi);
    if (options_.level) append_level(out, metadata.level(), kAnsi);
    if (options_.thread_names || options_.thread_ids) [[unlikely]]
      append_thread(out, event.context.track(), options_);
    append_context(out, event);
    if (file_ || line_number_) [[unlikely]]
      append_location(out, metadata);
    if (!metadata.parts().ends_perf_span || !append_end(out, event.fields)) [[likely]]
      fields_->append(out, event.fields, style_);
    out.push_back('\n');
    return true;
  }

 private:
  using Base = TextFormat<kAnsi>;
  using Base::append_name, Base::fields_, Base::file_, Base::needs_escaping, Base::key_, Base::line_number_,
      Base::options_, Base::shows_file, Base::shows_line, Base::style_, Base::timer_;

  // Appends `span{fields}:span{fields}: target: `.
  void append_context(TextBuffer& out, EventView const& event) const noexcept {
    if (SpanRef const leaf = event.scope) {
      if (prints_once(event)) [[unlikely]] {
        append_perf_spans(out, leaf);
      } else {
        append_spans(out, leaf);
      }
      out.push_back(' ');
    }
    if (!options_.target) return;
    if (needs_escaping(event.metadata)) [[unlikely]]
      return append_escaped_target(out, event.metadata);
    append_target(out, event.metadata.target(), kAnsi);
  }

  [[gnu::noinline]] void append_escaped_target(TextBuffer& out, Metadata const& metadata) const noexcept {
    append_name(out, metadata, kDim, metadata.target());
    append_painted(out, kAnsi, kDim, ":");
    out.push_back(' ');
  }

  // Appends `span{fields}:span{fields}:`.
  void append_spans(TextBuffer& out, SpanRef leaf) const noexcept {
    append_path(out, leaf, key_, [&] {
      for_each_from_root(
          leaf, [&](SpanRef span) { append_cached(out, span, key_, *this); },
          [&] {
            out.append(kMoreSpans);
            append_painted(out, kAnsi, kDim, ":");
          });
    });
  }

  // Does what append_spans() does, for a `leaf` that is a perf span and prints only this line. Not inlined, since it is
  // rare.
  [[gnu::noinline]] void append_perf_spans(TextBuffer& out, SpanRef leaf) const noexcept {
    if (SpanRef const parent = leaf.parent()) append_spans(out, parent);
    Value const* const numbers = kAnsi || !has_default_fields_ ? nullptr : leaf.values().only_numbers(leaf.metadata());
    if (numbers == nullptr || !append_perf_span_of_numbers(out, leaf.metadata(), numbers)) append_span(out, leaf);
  }

  // Appends `name{fields}:`.
  void append_span(TextBuffer& out, SpanRef span) const noexcept override {
    append_name(out, span.metadata(), kBold, printed_name(span.metadata()));
    std::size_t const before = out.size();
    append_painted(out, kAnsi, kBold, "{");
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) {
      out.resize_down(before);
    } else {
      append_painted(out, kAnsi, kBold, "}");
    }
    append_painted(out, kAnsi, kDim, ":");
  }

  [[gnu::noinline]] bool append_end(TextBuffer& out, FieldValues const& fields) const noexcept {
    return !kAnsi && has_default_fields_ && append_end_of_perf_span(out, fields.statement_values());
  }

  // Appends `file: `, `file:12: ` or `12: `.
  void append_location(TextBuffer& out, Metadata const& metadata) const noexcept {
    bool const line = shows_line(metadata);
    if (shows_file(metadata)) {
      append_name(out, metadata, kDim, metadata.file());
      append_painted(out, kAnsi, kDim, ":");
      if (!line) out.push_back(' ');
    }
    if (!line) return;
    if (kAnsi) out.append(kDim);
    out.append_uint(metadata.line());
    out.push_back(':');
    if (kAnsi) out.append(kReset);
    out.push_back(' ');
  }

  bool const has_default_fields_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_full(FormatOptions const& options) { return make_text_format<Full>(options); }

}}}  // namespace tracing::v1::formatting
