// Takes the place of tracing.h in this folder's sources: includes the statements without testlog.
#pragma once

#define TRACING_OPTIONAL 0
#include "tracing_core/tracing_optional.h"
