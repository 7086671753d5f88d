// What main() or a test framework includes: the registry, layers, filters.
#pragma once

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print.h"
