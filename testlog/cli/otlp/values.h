// Makes attributes of recorded values.
#pragma once

#include <string_view>

#include "testlog/cli/otlp/otlp_model.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/metadata.h"

namespace testlog::cli::otlp {

/// Returns a value with its type. Numbers that do not fit 64 bits with a sign, and objects, become texts; an error is
/// its own text.
Any any_of(tracing::Value const& value);

/// Adds an attribute, unless there is one with this key.
void add_attribute(Attributes& to, std::string_view key, Any value);
/// Adds the fields that have a value, except `message`. The causes of an error are a second attribute, `error.causes`.
void add_fields(Attributes& to, tracing::FieldValues const& fields);
/// Adds the target and the place of a statement.
void add_place(Attributes& to, tracing::Metadata const& metadata);

}  // namespace testlog::cli::otlp
