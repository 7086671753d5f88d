// ProtoWriter: appends the fields of a protobuf message.
//
// The format takes four functions, and the messages are written as a stream. So we need neither generated code nor
// libprotobuf, of which a process must not have two versions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 { namespace recording {

// Appends fields to a buffer. If memory runs out, the buffer is truncated(), and its content must be dropped. Source:
// https://protobuf.dev/programming-guides/encoding/.
class ProtoWriter {
 public:
  explicit ProtoWriter(TextBuffer& out) noexcept : out_(out) {}

  void number(std::uint32_t field, std::uint64_t value) noexcept {
    char* const at = out_.reserve(2 * kMaxVarint);
    if (at == nullptr) return;
    char* const end = put(put(at, field << 3 | kVarint), value);
    out_.commit(static_cast<std::size_t>(end - at));
  }
  // Appends an int64, without zigzag encoding.
  void integer(std::uint32_t field, std::int64_t value) noexcept { number(field, static_cast<std::uint64_t>(value)); }
  void fixed(std::uint32_t field, std::uint64_t value) noexcept {
    char* const at = out_.reserve(kMaxVarint + sizeof(value));
    if (at == nullptr) return;
    char* const end = put(at, field << 3 | kFixed64);
    std::memcpy(end, &value, sizeof(value));
    out_.commit(static_cast<std::size_t>(end - at) + sizeof(value));
  }
  void real(std::uint32_t field, double value) noexcept { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  void bytes(std::uint32_t field, std::string_view value) noexcept {
    char* const at = out_.reserve(2 * kMaxVarint + value.size());
    if (at == nullptr) return;
    char* const end = put(put(at, field << 3 | kLengthDelimited), value.size());
    if (!value.empty()) std::memcpy(end, value.data(), value.size());
    out_.commit(static_cast<std::size_t>(end - at) + value.size());
  }
  // Appends a text. Bytes that are not UTF-8 become U+FFFD, since readers reject a message with such bytes.
  void text(std::uint32_t field, std::string_view value) noexcept {
    if (is_utf8(value)) [[likely]]
      return bytes(field, value);
    InlineTextBuffer<512> valid;
    for (std::string_view rest = value; !rest.empty();) {
      support::DecodedChar const c = support::decode_utf8(rest);
      valid.append(c.valid ? rest.substr(0, c.size) : std::string_view("\xEF\xBF\xBD"));
      rest.remove_prefix(c.size);
    }
    bytes(field, valid.view());
  }
  // Appends fields that are already encoded.
  void encoded(std::string_view fields) noexcept {
    if (!fields.empty()) out_.append(fields);
  }
  // Appends a message as a field. `fill()` appends the fields of that message.
  template <class F>
  void message(std::uint32_t field, F&& fill) noexcept {
    char* const at = out_.reserve(kMaxVarint + 1);
    if (at == nullptr) return;
    // Leave room for a length of one byte, which is enough for most messages.
    out_.commit(static_cast<std::size_t>(put(at, field << 3 | kLengthDelimited) - at) + 1);
    std::size_t const begin = out_.size();
    fill();
    char length[kMaxVarint];
    std::size_t const size = out_.size() - begin;
    auto const length_size = static_cast<std::size_t>(put(length, size) - length);
    char* const end = out_.reserve(length_size - 1);
    if (end == nullptr) return;
    char* const body = end - size;
    if (length_size > 1) std::memmove(body + length_size - 1, body, size);
    std::memcpy(body - 1, length, length_size);
    out_.commit(length_size - 1);
  }
  // Appends the beginning of a message. Its fields, which take `size` bytes, are written elsewhere.
  void begin_message(std::uint32_t field, std::uint64_t size) noexcept {
    char* const at = out_.reserve(2 * kMaxVarint);
    if (at == nullptr) return;
    out_.commit(static_cast<std::size_t>(put(put(at, field << 3 | kLengthDelimited), size) - at));
  }

  // ---- sizes, of fields whose numbers are below 16 ----

  static constexpr std::uint64_t size_of_number(std::uint64_t value) noexcept { return 1 + size_of_varint(value); }
  static constexpr std::uint64_t size_of_message(std::uint64_t size) noexcept {
    return 1 + size_of_varint(size) + size;
  }

 private:
  enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };
  static constexpr std::size_t kMaxVarint = 10;

  static constexpr std::uint64_t size_of_varint(std::uint64_t value) noexcept {
    return (static_cast<std::uint64_t>(std::bit_width(value | 1)) + 6) / 7;
  }
  static char* put(char* at, std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    return at;
  }
  static bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
      if (static_cast<unsigned char>(text.front()) < 0x80) {
        text.remove_prefix(1);
        continue;
      }
      support::DecodedChar const c = support::decode_utf8(text);
      if (!c.valid) return false;
      text.remove_prefix(c.size);
    }
    return true;
  }

  TextBuffer& out_;
};

}}}  // namespace tracing::v1::recording
