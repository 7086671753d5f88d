#include "testlog/cli/otlp/values.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace testlog::cli::otlp {
namespace {

using tracing::Value;
using tracing::ValueKind;

// Returns the text of an error and then those of its causes.
std::vector<std::string> texts_of_error(Value const& error) {
  std::vector<std::string> texts;
  error.error_type().visit(error.as_pointer(), &texts, [](void* to, std::string_view text) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(text);
  });
  return texts;
}

std::string printed(Value const& value) {
  tracing::InlineTextBuffer<256> text;
  if (value.kind() == ValueKind::message) {
    append_message(text, value);
  } else {
    append_debug(text, value);
  }
  return std::string(text.view());
}

}  // namespace

Any any_of(Value const& value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  switch (value.kind()) {
    case ValueKind::boolean: return value.as_bool();
    case ValueKind::i64: return value.as_i64();
    case ValueKind::u64: return value.as_u64() <= kMax ? Any(value.as_i64()) : Any(std::to_string(value.as_u64()));
    case ValueKind::f64:
    case ValueKind::f32: return value.as_double();
    case ValueKind::text:
    case ValueKind::verbatim: return std::string(value.as_text());
    case ValueKind::bytes: return Bytes{std::string(value.as_text())};
    case ValueKind::error: {
      auto const texts = texts_of_error(value);
      return texts.empty() ? std::string() : texts.front();
    }
    default: return printed(value);
  }
}

void add_attribute(Attributes& to, std::string_view key, Any value) {
  bool const is_there =
      std::any_of(to.begin(), to.end(), [key](Attribute const& attribute) { return attribute.key == key; });
  if (!is_there && !key.empty()) to.push_back({std::string(key), std::move(value)});
}

void add_fields(Attributes& to, tracing::FieldValues const& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Value const value = fields.value(i);
    if (value.is_empty() || fields.name(i) == "message") continue;
    add_attribute(to, fields.name(i), any_of(value));
    if (value.kind() != ValueKind::error) continue;
    auto texts = texts_of_error(value);
    if (texts.size() < 2) continue;
    texts.erase(texts.begin());
    add_attribute(to, std::string(fields.name(i)) + ".causes", std::move(texts));
  }
}

void add_place(Attributes& to, tracing::Metadata const& metadata) {
  if (!metadata.target().empty()) add_attribute(to, "testlog.target", std::string(metadata.target()));
  if (!metadata.function().empty()) {
    std::string function(metadata.is_for_caller() ? metadata.target() : metadata.module_path());
    if (!function.empty()) function += "::";
    add_attribute(to, "code.function.name", function.append(metadata.function()));
  }
  if (metadata.file().empty()) return;
  add_attribute(to, "code.file.path", std::string(metadata.file()));
  add_attribute(to, "code.line.number", static_cast<std::int64_t>(metadata.line()));
}

}  // namespace testlog::cli::otlp
