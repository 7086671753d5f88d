// SeenValues: values that spans recorded where a directive requires others, for the note that it matched nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {

/// A value as it is written in a directive that matches it: a number, a boolean, or text in quotes.
struct SeenValue {
  std::uint32_t field = 0;  // in the directive
  std::string text;
};

/// The values of up to 256 spans that differ in them, of the first 4096 that are offered. Thread-safe, without an order
/// between the threads that add.
class SeenValues {
 public:
  SeenValues() = default;
  SeenValues(SeenValues const&) = delete;
  SeenValues& operator=(SeenValues const&) = delete;
  ~SeenValues();

  /// The hash of a value that can be kept, continuing `hash`; 0 if it cannot: it is empty, hidden or longer than 200 bytes.
  static std::uint64_t hash_of(Value const& value, std::uint64_t hash) noexcept;
  static std::string text_of(Value const& value);

  /// False if there have been enough, or values with this hash.
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

  std::atomic<std::uint32_t> offered_{0};  // or fewer, if several threads offer at a time
  std::array<std::atomic<std::vector<SeenValue> const*>, 256> slots_{};
};

}  // namespace tracing::inline v1::internal
