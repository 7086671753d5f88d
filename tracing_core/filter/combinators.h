// filter_all(), filter_any() and filter_none() combine filters; to_filter() converts other types to a filter.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tracing_core/filter/filter.h"
#include "tracing_core/filter/predicate.h"

namespace tracing { inline namespace v1 {

/// Converts a movable filter, a level, or an optional or smart pointer to a filter. An empty pointer or optional
/// becomes a filter that lets everything pass.
inline std::unique_ptr<Filter> to_filter(std::unique_ptr<Filter> filter) {
  return filter != nullptr ? std::move(filter) : level_filter(internal::max_level_trace);
}
inline std::unique_ptr<Filter> to_filter(LevelFilter level) { return level_filter(level); }
template <std::derived_from<Filter> F>
std::unique_ptr<Filter> to_filter(F filter) {
  return std::make_unique<F>(std::move(filter));
}
template <std::derived_from<Filter> F>
std::unique_ptr<Filter> to_filter(std::unique_ptr<F> filter) {
  return to_filter(std::unique_ptr<Filter>(std::move(filter)));
}
/// Makes a filter that is shared with others.
std::unique_ptr<Filter> to_filter(std::shared_ptr<Filter> filter);
template <class F>
std::unique_ptr<Filter> to_filter(std::optional<F> filter) {
  return filter ? to_filter(*std::move(filter)) : to_filter(std::unique_ptr<Filter>());
}

namespace internal {

std::unique_ptr<Filter> filter_all(std::vector<std::unique_ptr<Filter>> filters);
std::unique_ptr<Filter> filter_any(std::vector<std::unique_ptr<Filter>> filters);
std::unique_ptr<Filter> filter_none(std::unique_ptr<Filter> filter);

template <class... F>
std::vector<std::unique_ptr<Filter>> to_filters(F&&... filters) {
  std::vector<std::unique_ptr<Filter>> all;
  all.reserve(sizeof...(filters));
  (all.push_back(to_filter(std::forward<F>(filters))), ...);
  return all;
}

}  // namespace internal

/// Lets a record pass if all of the filters do. Takes all types that to_filter() takes.
template <class... F>
std::unique_ptr<Filter> filter_all(F&&... filters) {
  return internal::filter_all(internal::to_filters(std::forward<F>(filters)...));
}

/// Lets a record pass if at least one of the filters does.
template <class... F>
std::unique_ptr<Filter> filter_any(F&&... filters) {
  return internal::filter_any(internal::to_filters(std::forward<F>(filters)...));
}

/// Lets a record pass if all of the filters reject its metadata. Ignores their decisions about the values of events.
template <class... F>
std::unique_ptr<Filter> filter_none(F&&... filters) {
  return internal::filter_none(internal::filter_any(internal::to_filters(std::forward<F>(filters)...)));
}

}}  // namespace tracing::v1
