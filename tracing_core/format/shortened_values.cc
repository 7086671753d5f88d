#include "tracing_core/format/shortened_values.h"

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 { namespace formatting {
namespace {

constexpr std::size_t kMark = 32;  // as long as `... (N bytes)`, or longer

void append_mark(TextBuffer& out, std::size_t size) noexcept {
  out.append("... (");
  out.append_uint(size);
  out.append(" bytes)");
}

std::size_t size_of(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: return value.as_text().size();
    case ValueKind::error: {
      std::size_t size = 0;
      value.error_type().visit(value.as_pointer(), &size, [](void* sum, std::string_view text) {
        *static_cast<std::size_t*>(sum) += text.size();
      });
      return size;
    }
    default: return 0;
  }
}

bool is_long(Value const& value) noexcept { return size_of(value) > kMaxShownValueBytes + kMark; }

// Appends a shortened value, for an error only its own text. Appends at most kMaxShownValueBytes and twice kMark.
void append_value(TextBuffer& out, Value const& value) noexcept {
  if (value.kind() == ValueKind::bytes) {
    std::string_view const bytes = value.as_text();
    append_debug(out, Value::of_bytes(bytes.data(), kMaxShownValueBytes / 3));  // each byte prints as three characters
    return append_mark(out, bytes.size());
  }
  if (value.kind() != ValueKind::error) return append_shortened(out, value.as_text());
  InlineTextBuffer<256> text;
  append_debug(text, value);
  append_shortened(out, text.view());
}

}  // namespace

void append_shortened(TextBuffer& out, std::string_view text) noexcept {
  if (text.size() <= kMaxShownValueBytes + kMark) return out.append(text);
  out.append(text.substr(0, char_start(text, kMaxShownValueBytes)));
  append_mark(out, text.size());
}

ShortenedValues::ShortenedValues(FieldValues const& fields, bool shorten) noexcept
    : metadata_(fields.metadata()), values_(fields.statement_values()) {
  if (!shorten || values_ == nullptr) return;
  std::size_t const count = metadata_.parts().value_count;
  auto const longer = static_cast<std::size_t>(std::count_if(values_, values_ + count, is_long));
  if (longer == 0) return;
  shortened_.reset(new (std::nothrow) std::array<Value, 256>);
  // Reserves all memory at once, so that the texts do not move later.
  bool const has_room = texts_.reserve(longer * (kMaxShownValueBytes + 2 * kMark)) != nullptr;
  Value const* const given = std::exchange(values_, shortened_ != nullptr ? shortened_->data() : nullptr);
  for (std::size_t i = 0; i < count && shortened_ != nullptr; ++i) {
    Value& value = (*shortened_)[i];
    value = given[i];
    if (!is_long(value)) continue;
    std::size_t const begin = texts_.size();
    if (has_room) append_value(texts_, value);
    std::string_view const text = texts_.view().substr(begin);
    value = !has_room ? Value() : value.kind() == ValueKind::text ? Value::of_text(text) : Value::of_verbatim(text);
  }
}

}}}  // namespace tracing::v1::formatting
