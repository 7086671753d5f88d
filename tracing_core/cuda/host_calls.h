// Declares HostCalls, the host functions that streams have been given and have not called yet.
#pragma once

#include <cuda.h>

#include "tracing_core/emit/span.h"

namespace tracing::inline v1::cuda {

/// A host function, to be called in the span in which it was given to a stream.
struct HostCall {
  CUhostFn function = nullptr;
  void* data = nullptr;
  Span span;
  void const* owner = nullptr;  ///< of its span: who closes it where the function is never called
};

/// Streams hold numbers, not pointers. A driver whose context is lost calls no host function any more and does not say so;
/// one that had just begun to call may still come. So a call stays known until it is made or taken back, which costs some
/// bytes for each that was pending when the context was lost, and only its span is closed early. Thread-safe.
class HostCalls {
 public:
  /// What call() is to be given.
  static void* add(HostCall call);
  /// What the stream calls in the function's place.
  static void CUDA_CB call(void* number);
  /// The stream did not take it.
  static void remove(void* number);
  /// No stream of `owner` calls what it was given: closes their spans. What is called nevertheless is called in none.
  static void close_spans(void const* owner);
};

}  // namespace tracing::inline v1::cuda
