// The spans that an exception left, for the report of a test that it ends.
//
// A span that ends while std::uncaught_exceptions() counts an exception was left by it. The path of the first one is
// kept until the exception was caught and the thread records something else. So if a test catches an exception and,
// without a record in between, throws another one outside of spans, the path is that of the first.
#pragma once

#include <string_view>

#include "tracing_core/collect/span_ref.h"

namespace testlog::inline v1 {

/// The path of the innermost span that the last exception on this thread left, `launch{count=4}:check`; empty if it
/// left none. Valid until the thread's next record.
std::string_view unwound_path() noexcept;
/// Forgets it.
void forget_unwound() noexcept;

// To be called for each record of the thread. Destructors that run during the unwinding may make records and spans of
// their own.
void observe_record() noexcept;
void observe_enter() noexcept;
void observe_exit(tracing::SpanRef span) noexcept;

}  // namespace testlog::inline v1
