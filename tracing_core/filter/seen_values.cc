#include "tracing_core/filter/seen_values.h"

#include <bit>
#include <functional>
#include <string_view>
#include <utility>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::size_t kMaxSeenBytes = 200;

bool is_typed(ValueKind kind) noexcept {
  return kind == ValueKind::boolean || kind == ValueKind::i64 || kind == ValueKind::u64 || kind == ValueKind::f64 ||
         kind == ValueKind::f32;
}

// Calls `f` with the text that a directive would have to contain in quotes.
template <class F>
auto with_text(Value const& value, F&& f) {
  if (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim) return f(value.as_text());
  InlineTextBuffer<256> printed;
  append_debug(printed, value);
  return f(printed.view());
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t x) noexcept {
  hash = (std::rotl(hash, 27) ^ x) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

}  // namespace

SeenValues::~SeenValues() {
  for (auto& slot : slots_) delete slot.load(std::memory_order_relaxed);
}

std::uint64_t SeenValues::hash_of(Value const& value, std::uint64_t hash) noexcept {
  if (value.is_empty() || value.kind() == ValueKind::redacted || hash == 0) return 0;
  return with_text(value, [&](std::string_view text) -> std::uint64_t {
    if (text.size() > kMaxSeenBytes) return 0;
    return mix(mix(hash, std::uint64_t{is_typed(value.kind())}), std::hash<std::string_view>()(text)) | 1;
  });
}

std::string SeenValues::text_of(Value const& value) {
  return with_text(value, [&](std::string_view text) {
    if (is_typed(value.kind())) return std::string(text);
    InlineTextBuffer<256> quoted;
    append_quoted(quoted, text);
    return std::string(quoted.view());
  });
}

bool SeenValues::wants(std::uint64_t hash) noexcept {
  offered_.store(offered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return hash != 0 && slots_[hash >> 56].load(std::memory_order_relaxed) == nullptr;
}

void SeenValues::add(std::uint64_t hash, std::vector<SeenValue> values) {
  auto const* const added = new std::vector<SeenValue> const(std::move(values));
  std::vector<SeenValue> const* none = nullptr;
  auto& slot = slots_[hash >> 56];
  if (!slot.compare_exchange_strong(none, added, std::memory_order_release, std::memory_order_relaxed)) delete added;
}

}}}  // namespace tracing::v1::internal
