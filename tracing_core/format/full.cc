#include "tracing_core/format/format_parts.h"
#include "tracing_core/format/perf_line.h"
#include "tracing_core/format/repeated_fields.h"
#include "tracing_core/format/span_prefix.h"

namespace tracing { inline namespace v1 { namespace formatting {
namespace {

template <bool kAnsi>
class Full : public TextFormat<kAnsi> {
 public:
  explicit Full(FormatOptions const& options)
      : TextFormat<kAnsi>(options, default_fields(), false, 0), has_default_fields_(fields_ == default_fields()) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    if (timer_ != nullptr) append_known_time(out, *timer_, event, kAnsi);
    if (options_.level) append_level(out, event.metadata.level(), kAnsi);
    if (options_.thread_names || options_.thread_ids) [[unlikely]]
      append_thread(out, event.context.track(), options_);
    if (event.scope) {
      append_all_spans(out, event);
      out.push_back(' ');
    }
    append_message(out, event);
    return true;
  }

 protected:
  using Base = TextFormat<kAnsi>;
  using Base::append_name, Base::fields_, Base::file_, Base::needs_escaping, Base::key_, Base::line_number_,
      Base::options_, Base::shows_file, Base::shows_line, Base::style_, Base::timer_;

  // Appends the spans of an event that is in a span.
  void append_all_spans(TextBuffer& out, EventView const& event) const noexcept {
    if (prints_once(event)) [[unlikely]] {
      append_perf_spans(out, event.scope);
    } else {
      append_spans(out, event.scope);
    }
  }

  // Does what append_spans() does, and tells `notes` where the fields are.
  template <class Notes>
  void append_noted_spans(TextBuffer& out, SpanRef leaf, Notes& notes) const noexcept {
    auto const append = [&](SpanRef span) {
      append_name(out, span.metadata(), kBold, printed_name(span.metadata()));
      std::size_t const begin = out.size();
      append_fields(out, span);
      notes.add_fields(out, begin, span);
      append_painted(out, kAnsi, kDim, ":");
    };
    for_each_from_root(leaf, append, [&] { append_more_spans(out); });
  }

  static void append_more_spans(TextBuffer& out) noexcept {
    out.append(kMoreSpans);
    append_painted(out, kAnsi, kDim, ":");
  }

  // Appends everything after the spans: `target: message fields`.
  void append_message(TextBuffer& out, EventView const& event) const noexcept {
    Metadata const& metadata = event.metadata;
    if (options_.target) {
      if (needs_escaping(metadata)) [[unlikely]] {
        append_escaped_target(out, metadata);
      } else {
        append_target(out, metadata.target(), kAnsi);
      }
    }
    if (file_ || line_number_) [[unlikely]]
      append_location(out, metadata);
    if (!metadata.parts().ends_perf_span || !append_end(out, event.fields)) [[likely]]
      fields_->append(out, event.fields, style_);
    out.push_back('\n');
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
          leaf, [&](SpanRef span) { append_cached(out, span, key_, *this); }, [&] { append_more_spans(out); });
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
    append_fields(out, span);
    append_painted(out, kAnsi, kDim, ":");
  }

  // Appends `{fields}`, or nothing if there are none.
  void append_fields(TextBuffer& out, SpanRef span) const noexcept {
    std::size_t const before = out.size();
    append_painted(out, kAnsi, kBold, "{");
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) return out.resize_down(before);
    append_painted(out, kAnsi, kBold, "}");
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

// Lets a SpanPrefix decide which spans have their fields.
template <bool kAnsi>
class FullWithPrefix final : public Full<kAnsi> {
 public:
  using Full<kAnsi>::Full;

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    SpanPrefix& prefix = *options_.prefix;
    append_time(out, options_.timer.get(), event, style_);
    prefix.begin_line(out);
    if (options_.level) append_level(out, event.metadata.level(), kAnsi);
    append_thread(out, event.context.track(), options_);
    prefix.begin_spans(out);
    this->append_noted_spans(out, event.scope, prefix);
    prefix.end_spans(out);
    if (event.scope) out.push_back(' ');
    this->append_message(out, event);
    return true;
  }

 private:
  using Full<kAnsi>::options_, Full<kAnsi>::style_;
};

// Lets RepeatedFields leave out fields that the line above has.
template <bool kAnsi>
class FullWithoutRepeats final : public Full<kAnsi> {
 public:
  using Full<kAnsi>::Full;

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    RepeatedFields const& repeated = *options_.repeated;
    append_time(out, options_.timer.get(), event, style_);
    if (options_.level) append_level(out, event.metadata.level(), kAnsi);
    append_thread(out, event.context.track(), options_);
    repeated.begin_spans(event.scope);
    if (event.scope) {
      std::size_t const begin = out.size();
      this->append_all_spans(out, event);
      if (repeated.wants_fields(out.size() - begin, event.metadata.level())) {
        out.resize_down(begin);
        this->append_noted_spans(out, event.scope, repeated);
        repeated.end_spans(out, begin);
      }
      out.push_back(' ');
    }
    this->append_message(out, event);
    return true;
  }

 private:
  using Full<kAnsi>::options_, Full<kAnsi>::style_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_full(FormatOptions const& options) {
  if (options.prefix != nullptr) return make_text_format<FullWithPrefix>(options);
  if (options.repeated != nullptr) return make_text_format<FullWithoutRepeats>(options);
  return make_text_format<Full>(options);
}

}}}  // namespace tracing::v1::formatting
