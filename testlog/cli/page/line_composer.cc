#include "testlog/cli/page/line_composer.h"

#include <array>
#include <vector>

#include "tracing_core/format/timer.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli::page {
namespace {

using tracing::Metadata;
using tracing::Value;
using tracing::ValueKind;

constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 47;
constexpr std::size_t kMaxSpans = 100;  // of a line, as formats print

std::uint64_t made(ValueType type, std::uint64_t payload = 0) { return payload * 8 + static_cast<std::uint64_t>(type); }

// Returns the value if the page has it as a number or a boolean; `none` for others.
std::uint64_t simple_value_of(Value const& value) {
  switch (value.kind()) {
    case ValueKind::boolean: return made(value.as_bool() ? ValueType::yes : ValueType::no);
    case ValueKind::u64: return value.as_u64() < kMaxNumber ? made(ValueType::natural, value.as_u64()) : 0;
    case ValueKind::i64: {
      std::int64_t const number = value.as_i64();
      auto const bits = static_cast<std::uint64_t>(number);
      std::uint64_t const size = number < 0 ? -bits : bits;
      if (size >= kMaxNumber) return 0;
      return made(number < 0 ? ValueType::negative : ValueType::natural, size);
    }
    default: return 0;
  }
}

bool is_message(tracing::internal::FieldEntry const& field) {
  return field.value_index == tracing::internal::kMessageValue;
}

std::string_view spec_of(Metadata const& metadata, tracing::internal::MessagePlaceholder const& placeholder) {
  return {metadata.parts().text + placeholder.spec_offset, placeholder.spec_size};
}

}  // namespace

std::size_t value_count_of(Metadata const& metadata) {
  std::size_t count = metadata.parts().placeholder_count;
  for (std::size_t i = 0; i < metadata.parts().field_count; ++i)
    count += is_message(metadata.parts().fields[i]) ? 0 : 1;
  return count;
}

std::uint64_t LineComposer::value_of(Value const& value) {
  if (value.is_empty()) return made(ValueType::none);
  if (std::uint64_t const simple = simple_value_of(value); simple != 0) return simple;
  tracing::InlineTextBuffer<256> printed;
  tracing::append_debug(printed, value);
  bool const is_text = value.kind() == ValueKind::text;
  bool const is_real = value.kind() == ValueKind::f64 || value.kind() == ValueKind::f32;
  if (is_text) return made(ValueType::text, records_.texts.number_of(printed.view()));
  tracing::InlineTextBuffer<256> safe;
  tracing::append_sanitized_lines(safe, printed.view());
  return made(is_real ? ValueType::real : ValueType::other, records_.texts.number_of(safe.view()));
}

// Returns the value of a placeholder as the message has it.
std::uint64_t LineComposer::value_of(Metadata const& metadata, Value const* values, std::size_t placeholder) {
  tracing::internal::MessagePlaceholder const& at = metadata.parts().placeholders[placeholder];
  Value const& value = values[at.value_index];
  if (at.spec_size == 0) {
    if (std::uint64_t const simple = simple_value_of(value); simple != 0) return simple;
  }
  tracing::InlineTextBuffer<256> printed, safe;
  tracing::append_formatted(printed, value, spec_of(metadata, at));
  tracing::append_sanitized_lines(safe, printed.view());
  return made(ValueType::other, records_.texts.number_of(safe.view()));
}

std::size_t LineComposer::add_values(Metadata const& metadata, Value const* values) {
  std::size_t const first = records_.values.size();
  if (values == nullptr) {
    records_.values.resize(first + value_count_of(metadata), made(ValueType::none));
    return first;
  }
  auto const& parts = metadata.parts();
  for (std::size_t i = 0; i < parts.field_count; ++i)
    if (!is_message(parts.fields[i])) records_.values.push_back(value_of(values[parts.fields[i].value_index]));
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) records_.values.push_back(value_of(metadata, values, i));
  return first;
}

void LineComposer::replace_values(std::size_t first, Metadata const& metadata, Value const* values) {
  auto const& parts = metadata.parts();
  for (std::size_t i = 0; values != nullptr && i < parts.field_count; ++i) {
    if (is_message(parts.fields[i])) continue;
    Value const& value = values[parts.fields[i].value_index];
    if (!value.is_empty()) records_.values[first] = value_of(value);
    ++first;
  }
}

void LineComposer::append_value(std::string& out, std::uint64_t value) const {
  std::uint64_t const payload = value / 8;
  switch (static_cast<ValueType>(value % 8)) {
    case ValueType::none: break;
    case ValueType::no: out += "false"; break;
    case ValueType::yes: out += "true"; break;
    case ValueType::natural: out += std::to_string(payload); break;
    case ValueType::negative: out.append("-").append(std::to_string(payload)); break;
    case ValueType::text:
    case ValueType::other:
    case ValueType::real: out += records_.texts[static_cast<std::uint32_t>(payload)]; break;
  }
}

void LineComposer::append_fields(std::string& out, PageSite const& site, std::size_t first_value) const {
  auto const& parts = site.metadata->parts();
  std::uint64_t const* field_value = records_.values.data() + first_value;
  std::uint64_t const* placeholder_value = field_value + site.value_count - parts.placeholder_count;
  bool is_first = true;
  for (std::size_t i = 0; i < parts.field_count; ++i) {
    if (is_message(parts.fields[i])) {
      if (!is_first) out += ' ';
      is_first = false;
      std::string_view const literal = tracing::internal::message_literal(parts);
      std::size_t done = 0;
      for (std::size_t k = 0; k < parts.placeholder_count; ++k) {
        std::size_t const offset = parts.placeholders[k].offset;
        out += literal.substr(done, offset - done);
        append_value(out, *placeholder_value++);
        done = offset;
      }
      out += literal.substr(done);
      continue;
    }
    std::uint64_t const value = *field_value++;
    if (value == made(ValueType::none)) continue;
    if (!is_first) out += ' ';
    is_first = false;
    out.append(site.metadata->fields()[i]).append("=");
    append_value(out, value);
  }
}

// Returns `span{fields}:span{fields}:`.
std::string const& LineComposer::context_of(std::uint32_t span) {
  if (span == context_span_) return context_;
  context_span_ = span;
  context_.clear();
  std::vector<std::uint32_t> path;
  for (std::uint32_t at = span; at != 0 && path.size() <= kMaxSpans; at = records_.spans[at].parent) path.push_back(at);
  for (std::size_t i = path.size(); i-- > 0;) {
    PageSpan const& here = records_.spans[path[i]];
    context_ += records_.sites[here.site].metadata->name();
    std::size_t const before = context_.size();
    context_ += '{';
    append_fields(context_, records_.sites[here.site], here.first_value);
    context_.size() == before + 1 ? context_.resize(before) : (context_ += '}', void());
    context_ += ':';
  }
  return context_;
}

void LineComposer::divide(PageLine& line, std::string_view text) {
  tracing::InlineTextBuffer<64> time;
  (void)tracing::utc_timer()->append(time, tracing::Instant{line.time_ns});
  std::size_t const at = text.find(time.view());
  Metadata const* const metadata = records_.sites[line.site].metadata;
  composed_.assign(" ");
  auto const level = tracing::name(metadata->level());
  composed_.append(5 - std::min<std::size_t>(5, level.size()), ' ').append(level).append(" ");
  bool const has_head = at != text.npos && text.substr(at + time.size()).starts_with(composed_);
  if (!has_head) {  // the line is taken as it is
    line.site = 0;
    line.text = own(text);
    return;
  }
  line.label = records_.texts.number_of(text.substr(0, at));
  text.remove_prefix(at + time.size() + composed_.size());
  composed_.assign(metadata->target()).append(": ");
  append_fields(composed_, records_.sites[line.site], line.first_value);
  // The context, and the blank after it.
  std::string const& context = context_of(line.span);
  std::size_t const size = context.size() + (context.empty() ? 0 : 1);
  bool const is_as_composed = !records_.spans[line.span].has_late_values && text.starts_with(context) &&
                              (context.empty() || text.substr(context.size()).starts_with(' '));
  if (is_as_composed && text.substr(size) == composed_) return;
  if (text.ends_with(composed_)) {
    line.context = own(text.substr(0, text.size() - composed_.size()));
    return;
  }
  std::string const target = std::string(metadata->target()) + ": ";
  std::size_t const after = is_as_composed ? size : text.find(target);
  if (after == text.npos || !text.substr(after).starts_with(target)) {
    line.context = own({});
    line.text = own(text);
    return;
  }
  if (!is_as_composed) line.context = own(text.substr(0, after));
  line.text = own(text.substr(after));
}

}  // namespace testlog::cli::page
