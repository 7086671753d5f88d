#include "testlog/why/noise.h"

#include <algorithm>

#include "testlog/why/cause.h"

namespace testlog::why {
namespace {

template <class T>
T const& at(std::vector<T> const& all, std::size_t index) {
  static T const kNothing{};
  return index < all.size() ? all[index] : kNothing;
}

}  // namespace

Noise::Noise(Sites const& sites, std::span<RunFeatures const> passing) {
  if (passing.size() < kMinPassing) return;
  fields_.resize(sites.field_count());
  known_.resize(sites.field_count());
  for (FieldId field = 0; field < fields_.size(); ++field) {
    Values const& first = at(passing.front().fields, field);
    bool const is_known = std::any_of(passing.begin(), passing.end(),
                                      [field](RunFeatures const& run) { return !at(run.fields, field).empty(); });
    bool const agree = std::all_of(passing.begin(), passing.end(),
                                   [&](RunFeatures const& run) { return at(run.fields, field).equals(first); });
    known_[field] = &first;
    fields_[field] = !is_known ? How::shape : agree ? How::exact : How::masked;
  }
  varies_.resize(sites.size());
  longest_.resize(sites.size());
  for (SiteId site = 0; site < sites.size(); ++site) {
    for (RunFeatures const& run : passing) {
      longest_[site] = std::max(longest_[site], at(run.sites, site).longest_ns);
      if (at(run.sites, site).count != at(passing.front().sites, site).count) varies_[site] = true;
    }
  }
}

std::uint64_t Noise::id_of(SpanTree::FieldValue const& value, ValueTexts const& texts) const noexcept {
  switch (how(value.field)) {
    case How::shape: return texts.shape(value.text);
    case How::exact: return texts.exact(value.text);
    case How::masked: break;
  }
  return 0;
}

bool Noise::is_much_longer(SiteId site, std::int64_t ns, std::int64_t than) const noexcept {
  std::int64_t const known = site < longest_.size() ? longest_[site] : 0;
  return why::is_much_longer(ns, std::max(than, known));
}

}  // namespace testlog::why
