// SpanTrace: the spans that a thread was in at one moment, and exceptions that carry one.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tracing_core/model/stored_values.h"

namespace tracing { inline namespace v1 {

/// The spans that a thread was in at one moment, with their values at that moment. Immutable and cheap to copy. It does
/// not keep spans open, so it may outlive them and be passed between threads.
class SpanTrace {
 public:
  enum class Status : std::uint8_t {
    unsupported,  ///< the thread's subscriber is not a Registry
    empty,        ///< the thread was in no span, or nothing was captured
    captured,
  };

  /// Makes an empty trace, for which nothing was captured.
  SpanTrace() noexcept = default;
  /// Captures the spans that the calling thread is in. Allocates; captures nothing if memory runs out.
  static SpanTrace capture() noexcept;

  Status status() const noexcept { return status_; }
  std::size_t size() const noexcept;

  /// Calls `f(Metadata const&, StoredValues const&)` for each span, innermost first.
  template <class F>
  void for_each(F&& f) const {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, Metadata const& metadata,
             StoredValues const& values) { (*static_cast<Function*>(context))(metadata, values); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

  /// Returns three lines for each span, innermost first, as Rust's tracing-error prints them, without a final newline:
  ///
  ///        0: mylib::launch
  ///                with kernel="identity" grid=4
  ///                  at src/launch.cc:12
  std::string to_string() const;

 private:
  struct Content;
  void visit(void (*each)(void* context, Metadata const& metadata, StoredValues const& values), void* context) const;

  std::shared_ptr<Content const> content_;
  Status status_ = Status::empty;
};

/// A base of exceptions that carries the spans in which it was created: see throw_with_span_trace().
class WithSpanTrace {
 public:
  WithSpanTrace() noexcept : trace_(SpanTrace::capture()) {}
  WithSpanTrace(WithSpanTrace const&) noexcept = default;
  WithSpanTrace& operator=(WithSpanTrace const&) noexcept = default;
  virtual ~WithSpanTrace();

  SpanTrace const& span_trace() const noexcept { return trace_; }

 private:
  SpanTrace trace_;
};

/// An exception that is an E and carries the spans in which it was created. Handlers of E catch it.
template <class E>
class TracedError : public E, public WithSpanTrace {
 public:
  explicit TracedError(E error) : E(std::move(error)) {}
};

/// Returns the span trace that the exception carries; without one, the trace of the first nested exception that carries
/// one; otherwise an empty trace.
SpanTrace span_trace_of(std::exception const& error) noexcept;
SpanTrace span_trace_of(std::exception_ptr const& error) noexcept;

#ifdef __cpp_exceptions
/// Throws `error` with the spans that the thread is in. Throws an error unchanged if its type is final or already
/// carries a trace.
template <class E>
[[noreturn]] void throw_with_span_trace(E error) {
  if constexpr (!std::is_class_v<E>) {
    throw error;
  } else if constexpr (std::is_final_v<E> || std::is_base_of_v<WithSpanTrace, E>) {
    throw std::move(error);
  } else {
    throw TracedError<E>(std::move(error));
  }
}
#endif

}}  // namespace tracing::v1
