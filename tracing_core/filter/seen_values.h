// SeenValues: keeps values that spans recorded where a directive requires others, for the note that the directive
// matched nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace internal {

/// A value in the form in which a directive that matches it is written: a number, a boolean, or text in quotes.
struct SeenValue {
  std::uint32_t field = 0;  // index in the directive's fields
  std::string text;
};

/// Keeps the values of up to 256 spans whose values differ, from the first 4096 spans that are offered. Thread-safe,
/// without an order between the threads that add.
class SeenValues {
 public:
  SeenValues() = default;
  SeenValues(SeenValues const&) = delete;
  SeenValues& operator=(SeenValues const&) = delete;
  ~SeenValues();

  /// Returns the hash of a value, continuing `hash`. Returns 0 for a value that cannot be kept, because it is empty,
  /// hidden or longer than 200 bytes.
  static std::uint64_t hash_of(Value const& value, std::uint64_t hash) noexcept;
  static std::string text_of(Value const& value);

  /// Returns false if the slot for this hash is taken, or if the hash is 0 (a value that cannot be kept). Counts one
  /// offered span.
  bool wants(std::uint64_t hash) noexcept;
  bool wants_any() const noexcept { return offered_.load(std::memory_order_relaxed) < kMaxOffered; }
  void add(std::uint64_t hash, std::vector<SeenValue> values);

  template <class F>
  void for_each(F&& f) const {
    for (auto const& slot : slots_) {
      if (auto const* const values = slot.load(std::memory_order_acquire)) f(*values);
    }
  }

 private:
  static constexpr std::uint32_t kMaxOffered = 4096;

  std::atomic<std::uint32_t> offered_{0};  // too low if several threads offer at a time
  std::array<std::atomic<std::vector<SeenValue> const*>, 256> slots_{};
};

}}}  // namespace tracing::v1::internal
