// record_of(): a record as a value that tests can inspect.
#pragma once

#include "testlog/records.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/record_view.h"

namespace testlog::inline v1 {

Record record_of(tracing::RecordView const& view);
/// Of an event that a layer receives. Throws std::bad_alloc.
Record record_of(tracing::Event const& event, tracing::Context const& context);

}  // namespace testlog::inline v1
