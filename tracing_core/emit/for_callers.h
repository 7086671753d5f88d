// Makes the statements of a source file record for the callers of the library: their target and line are those of the
// code that called the library, and filters also find them by TRACE_TARGET, the name of a part of the library, which
// the file defines first. For source files only.
#pragma once

#include "tracing_core/emit/caller_scope.h"
#include "tracing_core/tracing.h"

// A unity build may have included the macros before.
#undef TRACING_INTERNAL_TARGET_
#define TRACING_INTERNAL_TARGET_ TRACE_TARGET
#undef TRACING_INTERNAL_STATEMENT_
#define TRACING_INTERNAL_STATEMENT_(callsite) ::tracing::internal::for_caller(callsite)
