// Makes callsites and spans for tests of filters, without a subscriber.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/filter/filter.h"

namespace tracing {

using Recorded = std::vector<std::pair<std::string_view, Value>>;

inline RuntimeCallsite site(Kind kind, std::string_view target, std::string_view name, Level level,
                            std::vector<std::string_view> fields = {}) {
  CallsiteDescription description;
  description.kind = kind;
  description.target = target;
  description.name = name;
  description.level = level;
  description.fields = std::move(fields);
  return RuntimeCallsite(description);
}
inline RuntimeCallsite event_site(std::string_view target, Level level,
                                  std::vector<std::string_view> fields = {"message"}) {
  return site(Kind::event, target, "event", level, std::move(fields));
}
inline RuntimeCallsite span_site(std::string_view target, std::string_view name, Level level = Level::info,
                                 std::vector<std::string_view> fields = {}) {
  return site(Kind::span, target, name, level, std::move(fields));
}

// Values in the order of the callsite's fields.
class Values {
 public:
  Values(Metadata const& metadata, Recorded const& recorded) : metadata_(metadata) {
    for (auto const& [name, value] : recorded) values_[metadata.fields().index_of(name)] = value;
  }
  FieldValues fields() const { return FieldValues(metadata_, values_.data()); }

 private:
  Metadata const& metadata_;
  std::array<Value, 256> values_;
};

// A span with the filter's state, as in a subscriber.
class FilteredSpan {
 public:
  FilteredSpan(Filter& filter, RuntimeCallsite const& site, Recorded const& recorded = {})
      : filter_(filter), metadata_(site.metadata()) {
    if (filter.follows_spans()) filter.on_new_span(NewSpan{Values(metadata_, recorded).fields()}, state_);
  }
  FilteredSpan(FilteredSpan const&) = delete;
  FilteredSpan& operator=(FilteredSpan const&) = delete;
  ~FilteredSpan() {
    if (state_ != 0) filter_.on_close(state_);
  }

  void enter() const {
    if (state_ != 0) filter_.on_enter(state_);
  }
  void exit() const {
    if (state_ != 0) filter_.on_exit(state_);
  }
  void record(Recorded const& recorded) {
    if (state_ != 0) filter_.on_record(Values(metadata_, recorded).fields(), state_);
  }

 private:
  Filter& filter_;
  Metadata const& metadata_;
  std::uintptr_t state_ = 0;
};

}  // namespace tracing
