// Includes what main() or a test framework needs: the registry, layers, filters and sinks.
#pragma once

#include "tracing_core/collect/registry.h"
#include "tracing_core/collect/reload.h"
#include "tracing_core/environment/init.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/non_blocking.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/predicate.h"
#include "tracing_core/filter/targets.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/record/record.h"
