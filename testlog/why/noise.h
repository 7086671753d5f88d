// Noise: what varies between runs of a test by itself, known from runs that passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "testlog/why/run_features.h"
#include "testlog/why/span_tree.h"

namespace testlog::why {

/// A difference of durations counts if the longer one is at least kMinFactor times the shorter one and kMinExcessNs
/// longer.
inline constexpr std::int64_t kMinExcessNs = 20'000'000;  // a shorter delay may come from other work of the machine
inline constexpr int kMinFactor = 4;                      // two powers of two
constexpr bool is_much_longer(std::int64_t ns, std::int64_t than) noexcept {
  return ns / kMinFactor >= than && ns - than >= kMinExcessNs;
}

class Noise {
 public:
  /// With fewer than two runs, values that look the same count as equal, see shape_of(), and no number varies. The runs
  /// must outlive the object.
  Noise(Sites const& sites, std::span<RunFeatures const> passing);

  /// Returns a number that is equal for values that do not differ beyond noise.
  std::uint64_t id_of(SpanTree::FieldValue const& value, ValueTexts const& texts) const noexcept;
  /// Returns true if `id_of()` is the same for all values of the field.
  bool is_masked(FieldId field) const noexcept { return how(field) == How::masked; }
  /// Returns true if all passing runs have the same values of the field, and this is another value.
  bool is_new(SpanTree::FieldValue const& value, ValueTexts const& texts) const noexcept {
    return how(value.field) == How::exact && known_[value.field]->find(texts.exact(value.text)) == nullptr;
  }
  /// Returns true if the number of spans or events of a site varies.
  bool varies(SiteId site) const noexcept { return site < varies_.size() && varies_[site]; }
  /// Returns true if the durations of two spans of a site differ beyond noise.
  bool is_much_longer(SiteId site, std::int64_t ns, std::int64_t than) const noexcept;

 private:
  enum class How : std::uint8_t { shape, exact, masked };
  How how(FieldId field) const noexcept { return field < fields_.size() ? fields_[field] : How::shape; }

  std::vector<How> fields_;
  std::vector<Values const*> known_;   // by field: the values of the passing runs if these agree
  std::vector<bool> varies_;           // by site
  std::vector<std::int64_t> longest_;  // by site
};

}  // namespace testlog::why
