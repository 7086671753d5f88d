#include "testlog/run/crash_line.h"

#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog { inline namespace v1 {

void CrashLine::write_to(Output& output) noexcept {
  constexpr std::string_view kCut = "...";
  if (is_cut_ || size_ == kBytes) {
    size_ = tracing::support::char_start({bytes_, size_}, kBytes - kCut.size() - 1);
    is_cut_ = false;
    *this << kCut;
  }
  if (output.is_json_file()) {
    write_json_to(output);
  } else {
    bytes_[size_++] = '\n';
    output.write_dying({bytes_, size_});
  }
  clear();
}

// Writes the text as a JSON object. The text has no control characters.
void CrashLine::write_json_to(Output& output) noexcept {
  constexpr std::string_view kBefore = "{\"kind\":\"";
  constexpr std::string_view kBetween = "\",\"text\":\"";
  constexpr std::string_view kAfter = "\"}\n";
  static constinit char object[kBefore.size() + kMaxKind + kBetween.size() + 2 * kBytes + kAfter.size()] = {};
  char* at = object + kBefore.copy(object, kBefore.size());
  at += kind_.copy(at, kMaxKind);
  at += kBetween.copy(at, kBetween.size());
  for (char const c : tracing::environment::without_frame({bytes_, size_})) {
    if (c == '"' || c == '\\') *at++ = '\\';
    *at++ = c;
  }
  at += kAfter.copy(at, kAfter.size());
  output.write_dying({object, static_cast<std::size_t>(at - object)});
}

void CrashLine::add_thread(tracing::Track const& track, std::int64_t os_thread) noexcept {
  tracing::InlineTextBuffer<512> name;  // has room for any name
  tracing::environment::append_thread_name(name, track);
  *this << (track.name.empty() ? "" : "thread ") << name.view() << " (" << static_cast<std::uint64_t>(os_thread) << ")";
}

void CrashLine::add_duration(std::uint64_t nanoseconds) noexcept {
  bool const is_long = nanoseconds >= 1'000'000'000;
  std::uint64_t const thousandths = nanoseconds / (is_long ? 1'000'000 : 1'000);
  std::uint64_t const rest = thousandths % 1000;
  *this << thousandths / 1000 << "." << rest / 100 << rest / 10 % 10 << rest % 10 << (is_long ? " s" : " ms");
}

// Numbers fit into the buffer below; objects and errors were captured as text.
void CrashLine::add_value(tracing::Value const& value) noexcept {
  switch (value.kind()) {
    case tracing::ValueKind::text:
    case tracing::ValueKind::bytes:
      *this << "\"";
      add_shortened(value.as_text());
      *this << "\"";
      break;
    case tracing::ValueKind::verbatim: return add_shortened(value.as_text());
    case tracing::ValueKind::redacted: return add_text(tracing::internal::redaction_token());
    case tracing::ValueKind::message: return add_message(value);
    case tracing::ValueKind::error: return add_error(value);
    case tracing::ValueKind::custom: *this << "?"; break;
    default: {
      tracing::InlineTextBuffer<128> text;
      tracing::append_debug(text, value);
      *this << text.view();
    }
  }
}

// Adds the error's own text, then the texts of its causes.
void CrashLine::add_error(tracing::Value const& value) noexcept {
  struct Visiting {
    CrashLine& to;
    bool first = true;
  } visiting{*this};
  value.error_type().visit(value.as_pointer(), &visiting, [](void* context, std::string_view text) {
    auto& [to, first] = *static_cast<Visiting*>(context);
    if (!std::exchange(first, false)) to << ": ";
    to.add_shortened(text);
  });
}

// Adds the literal with its placeholders filled. Ignores format specifications.
void CrashLine::add_message(tracing::Value const& value) noexcept {
  auto const& parts = value.message_metadata().parts();
  char const* const text =
      parts.text + parts.name_size + parts.target_size + parts.function_size + parts.module_path_size;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) {
    auto const& placeholder = parts.placeholders[i];
    add_text({text + at, placeholder.offset - at});
    at = placeholder.offset;
    auto const& filling = value.message_values()[placeholder.value_index];
    if (filling.kind() == tracing::ValueKind::text) {
      add_shortened(filling.as_text());
    } else {
      add_value(filling);
    }
  }
  add_text({text + at, parts.message_size - at});
}

bool CrashLine::add_fields(tracing::FieldValues const& fields, std::string_view before) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tracing::Value const value = fields.value(i);
    if (value.is_empty()) continue;
    *this << (std::exchange(any, true) ? " " : before);
    add_field(fields.name(i), value);
  }
  return any;
}

void CrashLine::add_field(std::string_view name, tracing::Value const& value) noexcept {
  if (name == "message") {
    value.kind() == tracing::ValueKind::text ? add_shortened(value.as_text()) : add_value(value);
    return;
  }
  add_text(name);
  *this << "=";
  add_value(value);
}

}}  // namespace testlog::v1
