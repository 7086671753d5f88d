#include "tracing_core/format/format_parts.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 { namespace formatting {
namespace {

template <bool kAnsi>
class Pretty final : public TextFormat<kAnsi> {
 public:
  explicit Pretty(FormatOptions const& options)
      : TextFormat<kAnsi>(options, pretty_fields(), true, options.target ? 2 : 3) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    append_first_line(out, event);
    append_location(out, event);
    SpanRef span = event.shown;
    for (std::size_t count = 0; span && count < kMaxShownSpans; ++count, span = span.parent())
      append_cached(out, span, key_, *this);
    if (span) out.append("    in ...\n");
    out.push_back('\n');
    return true;
  }

 private:
  using Base = TextFormat<kAnsi>;
  using Base::append_name, Base::fields_, Base::file_, Base::needs_escaping, Base::key_, Base::line_number_,
      Base::options_, Base::shows_file, Base::shows_line, Base::style_, Base::timer_;

  void append_first_line(TextBuffer& out, EventView const& event) const noexcept {
    Metadata const& metadata = event.metadata;
    Level const level = metadata.level();
    bool const colored = kAnsi && options_.level;
    std::string_view const color = colored ? level_color(level) : "";
    std::string_view const bold = !kAnsi ? "" : colored ? bold_level_color(level) : kBold;
    // Ends bold text with a reset, then sets the colour again.
    char plain_buffer[16];
    std::string_view plain = "";
    if (kAnsi) {
      kReset.copy(plain_buffer, kReset.size());
      color.copy(plain_buffer + kReset.size(), color.size());
      plain = {plain_buffer, kReset.size() + color.size()};
    }
    out.append("  ");
    if (timer_ != nullptr) append_known_time(out, *timer_, event, kAnsi);
    if (options_.level) append_level(out, level, kAnsi);
    if (options_.target) {
      append_target(out, metadata, bold, plain);
      out.push_back(':');
    }
    if (shows_line(metadata) && !file_) {
      out.append(color);
      out.append_uint(metadata.line());
      out.push_back(':');
    }
    out.push_back(' ');
    append_pretty_fields(out, event.fields, style_, color, bold, plain, true);
    if (colored) out.append(kReset);
    out.push_back('\n');
  }

  void append_target(TextBuffer& out, Metadata const& metadata, std::string_view before,
                     std::string_view after) const noexcept {
    if (needs_escaping(metadata)) [[unlikely]]
      return append_escaped_name(out, before, metadata.target(), after);
    out.append(before);
    out.append(metadata.target());
    out.append(after);
  }

  // Appends `    at file:12 on main ThreadId(1)`.
  void append_location(TextBuffer& out, EventView const& event) const noexcept {
    Metadata const& metadata = event.metadata;
    bool const thread = options_.thread_names || options_.thread_ids;
    if (shows_file(metadata)) {
      out.append("    ");
      append_painted(out, kAnsi, kDimItalic, "at");
      out.push_back(' ');
      needs_escaping(metadata) ? append_sanitized_in_line(out, metadata.file()) : out.append(metadata.file());
      if (shows_line(metadata)) {
        out.push_back(':');
        out.append_uint(metadata.line());
      }
      out.push_back(thread ? ' ' : '\n');
    } else if (thread) {
      out.append("    ");
    }
    if (!thread) return;
    append_painted(out, kAnsi, kDimItalic, "on");
    out.push_back(' ');
    Track const& track = event.context.track();
    if (options_.thread_names && !track.name.empty()) {
      append_thread_name(out, track.name, options_);
      if (options_.thread_ids) out.push_back(' ');
    }
    if (options_.thread_ids) append_thread_id(out, track, 1);
    out.push_back('\n');
  }

  // Appends `    in target::name with fields`.
  void append_span(TextBuffer& out, SpanRef span) const noexcept override {
    Metadata const& metadata = span.metadata();
    out.append("    ");
    append_painted(out, kAnsi, kDimItalic, "in");
    out.push_back(' ');
    if (options_.target) {
      append_target(out, metadata, "", "");
      out.append("::");
    }
    append_name(out, metadata, kBold, printed_name(metadata));
    std::size_t const before = out.size();
    out.push_back(' ');
    append_painted(out, kAnsi, kDimItalic, "with");
    out.push_back(' ');
    std::size_t const begin = out.size();
    fields_->append_span(out, span, style_);
    if (out.size() == begin) out.resize_down(before);
    out.push_back('\n');
  }
};

}  // namespace

std::shared_ptr<EventFormat const> make_pretty(FormatOptions const& options) {
  return make_text_format<Pretty>(options);
}

}}}  // namespace tracing::v1::formatting
