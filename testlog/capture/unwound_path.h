// The spans that an exception left, for the report of a test that it ends.
//
// An exception leaves a span if the span ends while std::uncaught_exceptions() counts the exception. The path of the
// first such span is kept until the exception was caught and the thread records something else. So if a test catches an
// exception and, without a record in between, throws another exception outside of spans, unwound_path() still returns
// the path of the first exception.
#pragma once

#include <exception>
#include <string_view>

#include "tracing_core/collect/span_ref.h"

namespace testlog { inline namespace v1 {

/// Returns the path of the innermost span that the last exception on this thread left, such as `launch{count=4}:check`;
/// empty if it left no span. Valid until the thread's next record.
std::string_view unwound_path() noexcept;
/// Forgets the path.
void forget_unwound() noexcept;

/// Returns true while an exception unwinds the stack of this thread.
inline bool is_unwinding() noexcept { return std::uncaught_exceptions() != 0; }

// True if there is a path, or if destructors have entered spans during the unwinding.
extern constinit thread_local bool follows_exception;

// Called for each record of the thread. Destructors that run during the unwinding may make records and spans of their
// own.
inline void observe_record() noexcept {
  if (follows_exception && !is_unwinding()) [[unlikely]]
    forget_unwound();
}
void observe_enter() noexcept;

/// Called if is_unwinding() when a span is left. Returns false if a destructor leaves a span that it has entered.
bool leaves_by_exception(tracing::SpanRef span) noexcept;

}}  // namespace testlog::v1
