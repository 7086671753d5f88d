#include "helper.h"

#include <testlog/records.h>
#include <tracing_core/tracing.h>

void helper() {
  TRACE_INFO("helper");
  TRACE_DEBUG("records seen by the helper: {}", testlog::records().size());
}
