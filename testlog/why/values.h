// Values: the different values of a field in one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/value.h"

namespace testlog::why {

/// A place in a run.
struct Moment {
  std::uint64_t order = 0;  ///< how many records of the run came before, plus 1; 0: never
  std::int64_t ns = 0;
  std::uint64_t thread = 0;  ///< its number in the recording

  explicit operator bool() const noexcept { return order != 0; }
};

struct SeenValue {
  std::uint64_t id = 0;  ///< equal for equal values, in all runs
  std::string text{};    ///< as formats print it after `name=`, cut
  Moment first{};
};

/// The class of a value. Values may vary from run to run and yet never be negative.
enum class ValueClass : std::uint8_t { other, negative, not_negative, not_a_number, null, empty_text, error };
std::string_view name(ValueClass value_class) noexcept;

/// Keeps the first kMax different values, and the first value of each class. Single-thread.
class Values {
 public:
  static constexpr std::size_t kMax = 64;

  void see(tracing::Value const& value, Moment const& moment);
  /// Adds a number that stands for something else, such as a site.
  void see(std::uint64_t id, Moment const& moment) {
    if (!is_volatile_ && !has_seen(id)) add(id, moment);
  }

  bool empty() const noexcept { return seen_.empty(); }
  /// Returns true if there are more than kMax values, or if they are pointers.
  bool is_volatile() const noexcept { return is_volatile_; }
  std::vector<SeenValue> const& seen() const noexcept { return seen_; }
  SeenValue const* find(std::uint64_t id) const noexcept;
  /// Returns the classes as bits: 1 << ValueClass.
  unsigned classes() const noexcept { return classes_; }
  /// Returns the first value of a class. REQUIRES: classes() has it.
  SeenValue const& first_of(ValueClass value_class) const noexcept;
  /// Returns true if both have the same values.
  bool equals(Values const& other) const noexcept;

 private:
  struct FirstOfClass {
    ValueClass value_class;
    SeenValue value;
  };

  bool has_seen(std::uint64_t id) noexcept {
    if (last_ < seen_.size() && seen_[last_].id == id) return true;
    for (last_ = 0; last_ < seen_.size(); ++last_) {
      if (seen_[last_].id == id) return true;
    }
    return false;
  }
  SeenValue* add(std::uint64_t id, Moment const& moment);

  std::vector<SeenValue> seen_;
  std::vector<FirstOfClass> firsts_;
  std::size_t last_ = 0;
  unsigned classes_ = 0;
  bool is_volatile_ = false;
};

/// Returns a number that is equal for equal values, in all runs.
std::uint64_t id_of(tracing::Value const& value) noexcept;
/// Returns the value as formats print it after `name=`, cut after 120 bytes.
std::string text_of(tracing::Value const& value);
/// Returns true if two records with this value are about the same thing: a number, text or pointer, such as `id=7`.
bool can_be_shared(tracing::Value const& value) noexcept;

}  // namespace testlog::why
