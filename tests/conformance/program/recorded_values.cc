#include "recorded_values.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "tracing_core/model/debug_writer.h"

namespace conformance {
namespace {

using tracing::Value;

[[noreturn]] void bad(std::string const& what, std::string_view text) {
  throw BadCase("not " + what + ": " + std::string(text));
}

double to_double(std::string const& text) {
  char* end = nullptr;
  double const number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) bad("a number", text);
  return number;
}

Value::Uint128 to_uint128(std::string_view digits) {
  Value::Uint128 number = 0;
  if (digits.empty()) bad("a number", digits);
  for (char const c : digits) {
    if (c < '0' || c > '9') bad("a number", digits);
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number;
}

Value::Int128 to_int128(std::string_view text) {
  bool const negative = text.starts_with('-');
  Value::Uint128 const size = to_uint128(text.substr(negative ? 1 : 0));
  return static_cast<Value::Int128>(negative ? -size : size);
}

// A text whose debug form is the quoted text, as `?"text"` records it.
constexpr tracing::CustomType kDebugText{[](void const* object, tracing::DebugWriter& writer) {
                                           writer.value(Value::of_text(*static_cast<std::string const*>(object)));
                                         },
                                         [](void const* object, tracing::TextBuffer& out, std::string_view) {
                                           tracing::append_debug(
                                               out, Value::of_text(*static_cast<std::string const*>(object)));
                                         }};

// A list of texts: an error and its causes.
constexpr tracing::ErrorType kErrorTexts{
    [](void const* object, void* context, void (*each)(void* context, std::string_view text)) {
      for (Json const& text : *static_cast<Json const*>(object)) each(context, text.get_ref<std::string const&>());
    }};

Value error(Json const& texts) {
  bool const is_error = texts.is_array() && !texts.empty() &&
                        std::all_of(texts.begin(), texts.end(), [](Json const& text) { return text.is_string(); });
  if (!is_error) bad("an error with its causes", texts.dump());
  return Value::of_error(&texts, kErrorTexts);
}

}  // namespace

RecordedValues::RecordedValues(Json const& list, tracing::Metadata const& metadata)
    : values_(metadata.fields().size()) {
  if (!list.is_array()) bad("a list of values", list.dump());
  for (Json const& entry : list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) bad("a name and a value", entry.dump());
    std::size_t const index = metadata.fields().index_of(entry[0].get_ref<std::string const&>());
    Value const value = make(entry[1]);
    if (index == values_.size()) continue;
    values_[index] = value;
    names_a_field_ = true;
  }
}

Value RecordedValues::make(Json const& json) {
  if (!json.is_object() || json.size() != 1) bad("a value", json.dump());
  std::string const& kind = json.begin().key();
  Json const& value = *json.begin();
  try {
    if (kind == "bool") return Value::of_bool(value.get<bool>());
    if (kind == "i64") return Value::of_i64(value.get<std::int64_t>());
    if (kind == "u64") return Value::of_u64(value.get<std::uint64_t>());
    if (kind == "f64") return Value::of_f64(to_double(value.get_ref<std::string const&>()));
    if (kind == "i128") return Value::of_i128(to_int128(value.get_ref<std::string const&>()));
    if (kind == "u128") return Value::of_u128(to_uint128(value.get_ref<std::string const&>()));
    if (kind == "str") return Value::of_text(value.get_ref<std::string const&>());
    if (kind == "debug" || kind == "display" || kind == "args") {
      return Value::of_verbatim(value.get_ref<std::string const&>());
    }
    if (kind == "debug_str") return Value::of_custom(&value.get_ref<std::string const&>(), kDebugText);
    if (kind == "error") return error(value);
    if (kind == "bytes") return bytes(value.get_ref<std::string const&>());
  } catch (Json::exception const&) {
    bad("a value of its kind", json.dump());
  }
  if (kind == "empty" || kind == "none") return Value();
  throw BadCase("unknown kind of value: " + kind);
}

Value RecordedValues::bytes(std::string const& hexadecimal) {
  std::string& out = kept_.emplace_back();
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2) {
    unsigned byte = 0;
    char const* const begin = hexadecimal.data() + i;
    char const* const end = begin + std::min<std::size_t>(2, hexadecimal.size() - i);
    if (std::from_chars(begin, end, byte, 16).ptr != begin + 2) bad("bytes in hexadecimal", hexadecimal);
    out.push_back(static_cast<char>(byte));
  }
  return Value::of_bytes(out.data(), out.size());
}

}  // namespace conformance
