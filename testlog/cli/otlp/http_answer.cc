// Reads the answers of receivers of OTLP.
#include <algorithm>
#include <charconv>
#include <optional>

#include "testlog/cli/otlp/http_sender.h"

namespace testlog::cli::otlp {
namespace {

constexpr std::size_t kMaxMessageBytes = 300;

std::optional<std::uint64_t> read_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    auto const byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// A field of a protobuf message: a number, or bytes.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes{};
};

// Takes the next field of a message. Returns nothing at its end, and if the bytes are no message.
std::optional<Field> next_field(std::string_view& from) {
  auto const key = read_varint(from);
  if (!key) return std::nullopt;
  Field field{.number = *key >> 3};
  std::uint64_t size = 0;
  switch (*key & 7) {
    case 0: {
      auto const value = read_varint(from);
      if (!value) return std::nullopt;
      field.value = *value;
      return field;
    }
    case 1: size = 8; break;
    case 2: size = read_varint(from).value_or(~std::uint64_t{0}); break;
    case 5: size = 4; break;
    default: return std::nullopt;
  }
  if (size > from.size()) return std::nullopt;
  field.bytes = from.substr(0, size);
  from.remove_prefix(size);
  return field;
}

// Returns what follows the key of a JSON object, without white space. Empty if the text has no such key.
std::string_view after_key(std::string_view json, std::string_view key) {
  std::size_t at = json.find('"' + std::string(key) + '"');
  if (at == json.npos) return {};
  at = json.find_first_not_of(" \t\r\n:", at + key.size() + 2);
  return at == json.npos ? std::string_view() : json.substr(at);
}

// Returns the string at the beginning of the text, with simple escapes.
std::string string_at(std::string_view json) {
  std::string text;
  if (!json.starts_with('"')) return text;
  for (std::size_t i = 1; i < json.size() && json[i] != '"'; ++i) {
    if (json[i] == '\\' && i + 1 < json.size()) ++i;
    text.push_back(json[i]);
  }
  return text;
}

std::uint64_t number_at(std::string_view json) {
  if (json.starts_with('"')) json.remove_prefix(1);
  std::uint64_t number = 0;
  (void)std::from_chars(json.data(), json.data() + json.size(), number);
  return number;
}

}  // namespace

PartialSuccess read_partial_success(std::string_view body, bool is_json) {
  PartialSuccess success;
  if (is_json) {
    std::string_view const spans = after_key(body, "rejectedSpans");
    success.rejected = number_at(spans.empty() ? after_key(body, "rejectedLogRecords") : spans);
    success.message = string_at(after_key(body, "errorMessage"));
    return success;
  }
  auto const of_response = next_field(body);
  if (!of_response || of_response->number != 1) return success;
  std::string_view rest = of_response->bytes;
  while (auto const field = next_field(rest)) {
    if (field->number == 1) success.rejected = field->value;
    if (field->number == 2) success.message = field->bytes;
  }
  return success;
}

std::string read_error(std::string_view body, std::string_view content_type) {
  std::string message;
  if (content_type.find("protobuf") != content_type.npos) {
    while (auto const field = next_field(body))
      if (field->number == 2) message = field->bytes;
  } else {
    message = string_at(after_key(body, "message"));
    if (message.empty()) message = body;
  }
  message.resize(std::min(message.size(), kMaxMessageBytes));
  return message;
}

}  // namespace testlog::cli::otlp
