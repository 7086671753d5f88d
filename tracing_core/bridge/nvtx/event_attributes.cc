#define NVTX_NO_IMPL  // the types alone
#include "tracing_core/bridge/nvtx/event_attributes.h"

#include <cstddef>
#include <cstring>

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {
namespace {

constexpr std::size_t kMaxTextSize = 4096;

void append_utf8(std::string& to, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
  auto const add = [&to](char32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      add(0xE0 | c >> 12);
    } else {
      add(0xF0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3F));
    }
    add(0x80 | (c >> 6 & 0x3F));
  }
  add(0x80 | (c & 0x3F));
}

// True if the structure has the member that ends at this offset.
bool reaches(nvtxEventAttributes_t const& attributes, std::size_t end) noexcept { return attributes.size >= end; }
#define TRACING_INTERNAL_HAS_(attributes, member) \
  reaches(attributes, offsetof(nvtxEventAttributes_t, member) + sizeof((attributes).member))

Value payload_of(nvtxEventAttributes_t const& attributes) noexcept {
  auto const& payload = attributes.payload;
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return Value::of_u64(payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64: return Value::of_i64(payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: return Value::of_f64(payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: return Value::of_u64(payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32: return Value::of_i64(payload.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT: return Value::of_f32(payload.fValue);
    default: return {};
  }
}

void read_message(RangeData& range, nvtxEventAttributes_t const& attributes, std::string& storage) {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: range.text = bounded(attributes.message.ascii); break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      if (attributes.message.unicode == nullptr) break;
      storage = to_utf8(attributes.message.unicode);
      range.text = storage;
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      range.name = reinterpret_cast<RangeName const*>(attributes.message.registered);
      if (range.name != nullptr) range.text = range.name->text;
      break;
    default: break;
  }
}

}  // namespace

std::string_view bounded(char const* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text, strnlen(text, kMaxTextSize));
}

std::string to_utf8(wchar_t const* text) {
  std::string result;
  while (*text != 0 && result.size() < kMaxTextSize) append_utf8(result, static_cast<char32_t>(*text++));
  return result;
}

RangeData read_attributes(Domain const& domain, nvtxEventAttributes_t const* attributes, std::string& storage) {
  RangeData range{.domain = domain};
  if (attributes == nullptr) return range;
  if (TRACING_INTERNAL_HAS_(*attributes, category)) range.category = attributes->category;
  if (TRACING_INTERNAL_HAS_(*attributes, payload)) range.payload = payload_of(*attributes);
  if (TRACING_INTERNAL_HAS_(*attributes, message)) read_message(range, *attributes, storage);
  return range;
}

}}}}  // namespace tracing::v1::bridge::nvtx
