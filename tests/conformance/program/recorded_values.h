// RecordedValues holds the values of one statement, made from a case.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "object_reader.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/value.h"

namespace conformance {

/// Values as an instrumented program would record them. They borrow from the case and from this object. Throws BadCase
/// if a value has an unknown kind.
class RecordedValues {
 public:
  /// `list` is [[name, value]...]; data() is in the order of the callsite's fields. Ignores names that the callsite
  /// does not have.
  RecordedValues(Json const& list, tracing::Metadata const& metadata);

  tracing::Value const* data() const noexcept { return values_.data(); }
  /// Returns true if a name in the list is a field of the callsite.
  bool names_a_field() const noexcept { return names_a_field_; }

 private:
  tracing::Value make(Json const& json);
  tracing::Value bytes(std::string const& hexadecimal);

  std::vector<tracing::Value> values_;
  bool names_a_field_ = false;
  std::deque<std::string> kept_;
};

}  // namespace conformance
