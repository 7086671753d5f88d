// Declares filters made of filters: filter_all(), filter_any(), filter_none(), and boxed() for what stands for one.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/predicate.h"

namespace tracing::inline v1 {

// A filter on the heap: of a filter that can be moved, of a level, of one that is there or not. One that is not there
// lets everything pass.
inline std::unique_ptr<Filter> boxed(std::unique_ptr<Filter> filter) {
  return filter != nullptr ? std::move(filter) : level_filter(internal::max_level_trace);
}
inline std::unique_ptr<Filter> boxed(LevelFilter level) { return level_filter(level); }
template <std::derived_from<Filter> F>
std::unique_ptr<Filter> boxed(F filter) {
  return std::make_unique<F>(std::move(filter));
}
template <std::derived_from<Filter> F>
std::unique_ptr<Filter> boxed(std::unique_ptr<F> filter) {
  return boxed(std::unique_ptr<Filter>(std::move(filter)));
}
/// One that others hold, too.
std::unique_ptr<Filter> boxed(std::shared_ptr<Filter> filter);
template <class F>
std::unique_ptr<Filter> boxed(std::optional<F> filter) {
  return filter ? boxed(*std::move(filter)) : boxed(std::unique_ptr<Filter>());
}

namespace internal {

std::unique_ptr<Filter> filter_all(std::vector<std::unique_ptr<Filter>> filters);
std::unique_ptr<Filter> filter_any(std::vector<std::unique_ptr<Filter>> filters);
std::unique_ptr<Filter> filter_none(std::unique_ptr<Filter> filter);

template <class... F>
std::vector<std::unique_ptr<Filter>> boxes(F&&... filters) {
  std::vector<std::unique_ptr<Filter>> all;
  all.reserve(sizeof...(filters));
  (all.push_back(boxed(std::forward<F>(filters))), ...);
  return all;
}

}  // namespace internal

/// Lets pass what every one of the filters lets pass; each is whatever boxed() takes.
template <class... F>
std::unique_ptr<Filter> filter_all(F&&... filters) {
  return internal::filter_all(internal::boxes(std::forward<F>(filters)...));
}

/// Lets pass what at least one of the filters lets pass.
template <class... F>
std::unique_ptr<Filter> filter_any(F&&... filters) {
  return internal::filter_any(internal::boxes(std::forward<F>(filters)...));
}

/// Lets pass what none of the filters lets pass. What they say of an event's values is not turned round: only what they
/// say of its metadata is.
template <class... F>
std::unique_ptr<Filter> filter_none(F&&... filters) {
  return internal::filter_none(internal::filter_any(internal::boxes(std::forward<F>(filters)...)));
}

}  // namespace tracing::inline v1
